"""The errors of the tool endpoints, with their own envelope and statuses (contract §3.1)."""

from collections.abc import Mapping, Sequence
from typing import cast

from compozy.model.errors import CompozyError
from compozy.model.tool import ErrorCode, ReasonCode, ToolDecision, ToolError, ToolResult

STATUS: Mapping[ErrorCode, int] = {
    "tool_approval_required": 202,
    "tool_invalid_input": 400,
    "tool_denied": 403,
    "tool_not_found": 404,
    "tool_conflict": 409,
    "tool_unavailable": 422,
    "tool_canceled": 499,
    "tool_backend_failed": 502,
    "tool_timed_out": 502,
    "tool_result_too_large": 507,
    "tool_result_persistence_failed": 507,
}
_REMEDY = {
    "tools_enabled": "set [tools] enabled = true",
    "visibility": "it is not meant for this caller",
    "registry": "the daemon denies it to everybody",
    "agent_deny": "the agent's deny_tools names it",
    "session": "a child session has only what its parent gave it",
    "agent_allow": "add it to the agent's tools or toolsets",
    "source": "name it in the agent's tools, or change [tools.policy] external_default",
    "hooks": "a tool.pre_call hook denied it",
    "approval": "a person has to allow it",
}


class ToolFault(CompozyError):
    """A call that gave no result. `tool_error` is what the tool endpoints answer."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(error.message, code=error.code, category="tools")
        self.tool_error = error

    @property
    def status(self) -> int:  # type: ignore[override]
        """The HTTP status of the answer."""
        return STATUS[self.tool_error.code]


def fault(
    code: ErrorCode,
    message: str,
    *,
    tool_id: str = "",
    layer: str = "",
    reasons: Sequence[ReasonCode] = (),
    details: Mapping[str, object] | None = None,
    partial: ToolResult | None = None,
) -> ToolFault:
    """Return the error of a call."""
    return ToolFault(
        ToolError(
            code=code,
            message=message,
            tool_id=tool_id,
            layer=layer,
            reason_codes=tuple(reasons),
            details=dict(details or {}),
            partial_result=partial,
        )
    )


def denied(tool_id: str, decision: ToolDecision) -> ToolFault:
    """Return the error of a call that the policy does not allow, naming the layer that decided."""
    last = decision.layers[-1]
    code: ErrorCode = "tool_denied"
    if last.result == "conflicted":
        code = "tool_conflict"
    elif last.result == "unavailable":
        code = "tool_unavailable"
    reason = cast(str, last.reason_code)
    detail = f" ({last.detail})" if last.detail else ""
    remedy = _REMEDY.get(last.layer, "`compozy tool list --all` shows why")
    return fault(
        code,
        f"tool {tool_id!r} cannot be called: {reason} at {last.layer}{detail}; {remedy}",
        tool_id=tool_id,
        layer=last.layer,
        reasons=decision.reason_codes,
    )
