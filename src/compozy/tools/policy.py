"""Who may call which tool: one pure function over eleven layers, the first denial wins (contract §6.3).

Each layer is a function from what is known to what it says; the order of `LAYERS` is the contract's and the only
place that knows it. Nothing is looked up here: the caller compiles lists once per session (`PolicyContext`) and gives
the facts of the moment (`Moment`). A decision carries what every layer said, so that it can be explained.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from compozy.model.tool import (
    LayerResult,
    PolicyLayer,
    ReasonCode,
    ToolDecision,
    ToolDescriptor,
)
from compozy.tools.ids import Patterns

_STOPS: frozenset[str] = frozenset({"denied", "disabled", "unavailable", "conflicted"})
_NO_PATTERNS = Patterns()
_CONFLICTS: frozenset[str] = frozenset({"conflicted_id", "conflicted_sanitized_name"})


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyContext:
    """What holds for one caller. `lineage` is None where that layer does not apply (only children have it).

    `allow` and `allow_toolsets` are the agent's lists, `allowed_members` the tools its toolsets come to.
    `source_grants` and `trusted_sources` hold `mcp:<server>` and `extension:<name>`.
    """

    tools_enabled: bool = True
    is_operator: bool = False
    registry_deny: Patterns = _NO_PATTERNS
    agent_deny: Patterns = _NO_PATTERNS
    lineage: Patterns | None = None
    allow: Patterns = _NO_PATTERNS
    allow_toolsets: tuple[str, ...] = ()
    allowed_members: frozenset[str] = frozenset()
    source_grants: frozenset[str] = frozenset()
    trusted_sources: frozenset[str] = frozenset()
    external_default: Literal["disabled", "ask", "enabled"] = "disabled"
    permission_mode: str = "approve-all"
    can_ask: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What is known of one tool now: why it cannot run, what hooks and remembered answers say of this call."""

    problems: tuple[ReasonCode, ...] = ()
    hook: Literal["", "allowed", "denied"] = ""
    grant: Literal["", "allow", "reject"] = ""
    has_token: bool = False
    """A single-use approval for exactly this call was checked and used up."""


NOTHING_KNOWN = Moment()
_Layer = Callable[[PolicyContext, ToolDescriptor, Moment, bool], PolicyLayer]
"""The last argument: whether an earlier layer wants an approval."""


def is_plain_read(descriptor: ToolDescriptor) -> bool:
    """Whether a call can harm nothing and reaches nobody: what is approved without asking under `approve-reads`."""
    return (
        descriptor.read_only
        and descriptor.risk == "read"
        and not descriptor.destructive
        and not descriptor.open_world
        and not descriptor.requires_interaction
    )


def source_key(descriptor: ToolDescriptor) -> str:
    """Return how settings name the source of a tool."""
    return f"{descriptor.source.kind}:{descriptor.source.owner}"


def _say(layer: str, result: LayerResult, reason: ReasonCode | None = None, detail: str = "") -> PolicyLayer:
    return PolicyLayer(layer=layer, result=result, reason_code=reason, detail=detail)


def _enabled(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if context.tools_enabled:
        return _say("tools_enabled", "allowed")
    return _say("tools_enabled", "disabled", "source_disabled", "[tools] enabled = false")


def _visibility(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if tool.visibility in ("session", "model") or (context.is_operator and tool.visibility == "operator"):
        return _say("visibility", "allowed", None, tool.visibility)
    return _say("visibility", "denied", "visibility_denied", tool.visibility)


def _registry(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if context.registry_deny.matches(tool.tool_id):
        return _say("registry", "denied", "policy_denied", context.registry_deny.entry_for(tool.tool_id))
    return _say("registry", "allowed")


def _agent_deny(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if context.agent_deny.matches(tool.tool_id):
        return _say("agent_deny", "denied", "policy_denied", context.agent_deny.entry_for(tool.tool_id))
    return _say("agent_deny", "allowed" if context.agent_deny else "unrestricted")


def _lineage(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if context.lineage is None:
        return _say("session", "unrestricted")
    if context.lineage.matches(tool.tool_id):
        return _say("session", "allowed", None, context.lineage.entry_for(tool.tool_id))
    return _say("session", "denied", "session_denied", "not among the tools its parent gave")


def _agent_allow(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if not context.allow and not context.allow_toolsets:
        return _say("agent_allow", "unrestricted")
    if context.allow.matches(tool.tool_id):
        return _say("agent_allow", "allowed", None, context.allow.entry_for(tool.tool_id))
    if tool.tool_id in context.allowed_members:
        return _say("agent_allow", "allowed", None, ", ".join(context.allow_toolsets))
    return _say("agent_allow", "denied", "policy_denied", "neither tools nor toolsets name it")


def _source(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    kind = tool.source.kind
    if kind == "builtin":
        return _say("source", "allowed", None, "builtin")
    key = source_key(tool)
    if kind == "dynamic":
        return _say("source", "denied", "source_disabled", key)
    if key in context.source_grants:
        return _say("source", "allowed", None, f"granted: {key}")
    if context.allow.matches(tool.tool_id):
        return _say("source", "allowed", None, f"tools: {context.allow.entry_for(tool.tool_id)}")
    if key in context.trusted_sources and is_plain_read(tool):
        return _say("source", "trusted", None, f"trusted_sources: {key}")
    setting = f"tools.policy.external_default = {context.external_default!r}"
    if context.external_default == "enabled":
        return _say("source", "allowed", None, setting)
    if context.external_default == "ask":
        return _say("source", "approval_required", "approval_required", setting)
    return _say("source", "disabled", "source_disabled", setting)


def _permissions(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    mode = context.permission_mode
    if mode == "approve-all":
        return _say("permissions", "unrestricted", None, mode)
    if mode == "approve-reads" and is_plain_read(tool):
        return _say("permissions", "allowed", None, mode)
    return _say("permissions", "approval_required", "approval_required", mode)


def _availability(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if not moment.problems:
        return _say("availability", "allowed")
    result: LayerResult = "conflicted" if _CONFLICTS.intersection(moment.problems) else "unavailable"
    return _say("availability", result, moment.problems[0], ", ".join(moment.problems))


def _hooks(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if moment.hook == "denied":
        return _say("hooks", "denied", "hook_denied", "tool.pre_call")
    return _say("hooks", "allowed" if moment.hook else "unrestricted")


def _approval(context: PolicyContext, tool: ToolDescriptor, moment: Moment, asks: bool) -> PolicyLayer:
    if moment.grant == "reject":
        # A remembered no is worth more than a mode that would not have asked.
        return _say("approval", "denied", "policy_denied", "a remembered answer rejects it")
    if not asks:
        return _say("approval", "unrestricted")
    if moment.has_token:
        return _say("approval", "allowed", None, "approval token")
    if moment.grant == "allow":
        return _say("approval", "allowed", None, "a remembered answer allows it")
    if not context.can_ask:
        return _say(
            "approval", "denied", "approval_unreachable", "there is no session in which a person can be asked"
        )
    return _say("approval", "approval_required", "approval_required", "a person is asked in the session")


LAYERS: tuple[_Layer, ...] = (
    _enabled,
    _visibility,
    _registry,
    _agent_deny,
    _lineage,
    _agent_allow,
    _source,
    _permissions,
    _availability,
    _hooks,
    _approval,
)
LAYER_NAMES: tuple[str, ...] = (
    "tools_enabled",
    "visibility",
    "registry",
    "agent_deny",
    "session",
    "agent_allow",
    "source",
    "permissions",
    "availability",
    "hooks",
    "approval",
)
# A tool that only cannot run now, or that a hook stopped, is still one the session may know of.
_STILL_VISIBLE = frozenset({"availability", "hooks"})


def decide(context: PolicyContext, tool: ToolDescriptor, moment: Moment = NOTHING_KNOWN) -> ToolDecision:
    """Return whether the caller may call the tool now, and what each layer said up to the first denial."""
    said: list[PolicyLayer] = []
    asks = False
    for layer in LAYERS:
        answer = layer(context, tool, moment, asks)
        said.append(answer)
        if answer.result in _STOPS:
            break
        asks = asks or answer.result == "approval_required"
    return _conclude(context, tool, said)


def _conclude(context: PolicyContext, tool: ToolDescriptor, said: list[PolicyLayer]) -> ToolDecision:
    last = said[-1]
    denied = last.result in _STOPS
    approval = not denied and last.result == "approval_required"
    by_name = {answer.layer: answer.result for answer in said}
    agent = by_name.get("agent_allow", by_name.get("agent_deny"))
    reasons: tuple[ReasonCode, ...] = (last.reason_code,) if last.reason_code is not None else ()
    return ToolDecision(
        visible_to_operator=tool.visibility != "internal",
        visible_to_session=not denied or last.layer in _STILL_VISIBLE,
        callable=not denied,
        approval_required=approval,
        reason_codes=reasons,
        registry_policy_result=by_name.get("registry"),
        agent_policy_result=agent,
        session_policy_result=by_name.get("session"),
        source_policy_result=by_name.get("source"),
        system_permission_mode=context.permission_mode,
        availability_result=by_name.get("availability"),
        hook_result=by_name.get("hooks"),
        layers=tuple(said),
    )
