"""One call, from the question to the bounded result (contract §6.3).

The policy decides, a person is asked where it says so, the source runs the call, what comes back is redacted and
bounded. Arguments are checked before anybody is asked.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Literal

import msgspec

from compozy.config.redaction import Redactor
from compozy.model.tool import ReasonCode, ToolCallEvent, ToolDecision, ToolDescriptor, ToolInvocation, ToolResult
from compozy.runtime.tools.callers import Caller
from compozy.runtime.tools.faults import ToolFault, denied, fault
from compozy.runtime.tools.grants import Approvals, Grants
from compozy.store.interface import Store
from compozy.tools.artifacts import ArtifactProblem, ArtifactStore
from compozy.tools.descriptors import input_digest
from compozy.tools.policy import Moment, decide
from compozy.tools.registry import RegisteredTool, Registry, Snapshot
from compozy.tools.results import Bounds, bound_result
from compozy.tools.source import ToolCall, ToolFailed, ToolOutput

# No call of any source lasts longer; a source may set less.
CALL_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class ToolQuestion:
    """What a person is asked."""

    session_id: str
    tool: ToolDescriptor
    arguments: Mapping[str, object]
    tool_call_id: str = ""
    seconds: float = 120.0


Ask = Callable[[ToolQuestion], Awaitable[str]]
"""Asks a person; returns an answer of contract §5.5, `cancelled`, `timed-out`, or "" when nobody can be asked."""
HookVerdict = Literal["", "allowed", "denied"]
PreCall = Callable[[Caller, ToolDescriptor, Mapping[str, object]], Awaitable[HookVerdict]]
"""The tool.pre_call hooks; "" when none is declared."""


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One call as it is asked for."""

    tool_id: str
    arguments: object = field(default_factory=dict)
    approval_token: str = ""
    turn_id: str = ""
    tool_call_id: str = ""
    correlation_id: str = ""
    may_ask: bool = False
    """Whether a person is asked in the session when the policy wants it; otherwise the call answers that it must."""


async def _nobody(question: ToolQuestion) -> str:
    return ""


class Calls:
    """Runs calls."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        artifacts: ArtifactStore,
        redactor: Redactor,
        *,
        approval_seconds: float,
        ask: Ask = _nobody,
    ) -> None:
        self.grants = Grants(store)
        self.approvals = Approvals(approval_seconds)
        self.pre_call: PreCall | None = None
        """Set by the hooks service where there is one."""
        self._registry = registry
        self._artifacts = artifacts
        self._redactor = redactor
        self._ask = ask

    async def invoke(self, caller: Caller, wanted: Invocation) -> ToolInvocation:
        """Run one call.

        Raises:
            ToolFault: it was not allowed, or gave no result; the error says which layer and why.
        """
        started = time.monotonic()
        snapshot = await self._registry.snapshot(caller.scope, settle=wanted.tool_id.startswith("mcp__"))
        tool = require_tool(snapshot, wanted.tool_id)
        if not isinstance(wanted.arguments, dict):
            raise fault("tool_invalid_input", "input must be a JSON object", tool_id=wanted.tool_id)
        arguments: dict[str, object] = wanted.arguments
        digest = input_digest(arguments)
        decision = await self._decide(caller, snapshot, tool, wanted, arguments, digest)
        problem = tool.source.check(tool.entry, arguments)
        if problem:
            raise fault(
                "tool_invalid_input",
                self._redactor.text(f"{wanted.tool_id}: {problem}; see its input schema with compozy__tool_info"),
                tool_id=wanted.tool_id,
                reasons=("schema_invalid",),
            )
        if decision.approval_required:
            await self._require_person(caller, tool.descriptor, wanted, arguments, digest)
        output = await self._run(tool, caller, wanted, arguments)
        milliseconds = round((time.monotonic() - started) * 1000)
        result = await self._bounded(caller, tool.descriptor, output, milliseconds)
        return ToolInvocation(
            tool_id=wanted.tool_id,
            status="failed" if output.is_error else "completed",
            duration_ms=milliseconds,
            truncated=result.truncated,
            events=_events(caller, tool.descriptor, wanted, digest, decision, result, is_error=output.is_error),
            result=result,
        )

    async def _decide(
        self,
        caller: Caller,
        snapshot: Snapshot,
        tool: RegisteredTool,
        wanted: Invocation,
        arguments: Mapping[str, object],
        digest: str,
    ) -> ToolDecision:
        policy, descriptor = caller.policy(snapshot), tool.descriptor
        grant = await self.grants.find(caller.workspace_id, wanted.tool_id, caller.agent_name, digest)
        moment = Moment(problems=tool.problems, grant=grant.decision if grant else "")
        decision = decide(policy, descriptor, moment)
        if wanted.approval_token and (decision.callable or decision.layers[-1].layer == "approval"):
            # Looked at before the remembered answers, and used up even where it was not needed.
            self.approvals.use(wanted.approval_token, wanted.tool_id, caller.session_id, digest)
            moment = replace(moment, has_token=True)
            decision = decide(policy, descriptor, moment)
        if decision.callable and self.pre_call is not None:
            moment = replace(moment, hook=await self.pre_call(caller, descriptor, arguments))
            decision = decide(policy, descriptor, moment)
        if not decision.callable:
            raise denied(wanted.tool_id, decision)
        if grant is not None:
            await self.grants.used(grant)
        return decision

    async def _require_person(
        self,
        caller: Caller,
        tool: ToolDescriptor,
        wanted: Invocation,
        arguments: Mapping[str, object],
        digest: str,
    ) -> None:
        if not wanted.may_ask:
            raise fault(
                "tool_approval_required",
                f"tool {tool.tool_id!r} needs an approval: `compozy tool approve {tool.tool_id}` gives a "
                "token for one call",
                tool_id=tool.tool_id,
                layer="approval",
                reasons=("approval_required",),
                details={"input_digest": digest},
            )
        question = ToolQuestion(
            session_id=caller.session_id,
            tool=tool,
            arguments=arguments,
            tool_call_id=wanted.tool_call_id,
            seconds=float(caller.config.tools.policy.approval_timeout_seconds),
        )
        answer = await self._ask(question)
        if answer in ("allow-always", "reject-always"):
            decision: Literal["allow", "reject"] = "allow" if answer == "allow-always" else "reject"
            await self.grants.put(caller.workspace_id, tool.tool_id, decision, agent=caller.agent_name, digest=digest)
        if not answer.startswith("allow"):
            raise _not_allowed(tool.tool_id, answer)

    async def _run(
        self, tool: RegisteredTool, caller: Caller, wanted: Invocation, arguments: Mapping[str, object]
    ) -> ToolOutput:
        call = ToolCall(
            tool_id=wanted.tool_id,
            arguments=arguments,
            scope=caller.scope,
            turn_id=wanted.turn_id,
            tool_call_id=wanted.tool_call_id,
            correlation_id=wanted.correlation_id,
            timeout=CALL_SECONDS,
        )
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await tool.source.call(tool.entry, call)
        except ToolFailed as failed:
            raise fault(
                failed.code,
                self._redactor.text(failed.message),
                tool_id=wanted.tool_id,
                reasons=(failed.reason,) if failed.reason else (),
            ) from failed
        except TimeoutError as late:
            raise fault(
                "tool_timed_out",
                f"tool {wanted.tool_id!r} did not answer within {CALL_SECONDS:g} s",
                tool_id=wanted.tool_id,
                reasons=("call_timed_out",),
            ) from late

    async def _bounded(
        self, caller: Caller, tool: ToolDescriptor, output: ToolOutput, milliseconds: int
    ) -> ToolResult:
        clean = self._redacted(output)
        limit = caller.config.tools.default_max_result_bytes
        bounds = Bounds(max_bytes=min(limit, tool.max_result_bytes) if tool.max_result_bytes else limit)
        try:
            return await asyncio.to_thread(
                bound_result,
                clean,
                bounds,
                lambda *parts: self._artifacts.keep(caller.workspace_id, *parts),
                tool_id=tool.tool_id,
                duration_ms=milliseconds,
            )
        except ArtifactProblem as problem:
            raise fault(
                "tool_result_persistence_failed",
                problem.message,
                tool_id=tool.tool_id,
                reasons=(problem.reason,),
            ) from problem

    def _redacted(self, output: ToolOutput) -> ToolOutput:
        content = tuple(
            msgspec.structs.replace(block, text=self._redactor.text(block.text)) if block.text else block
            for block in output.content
        )
        return ToolOutput(
            content=content,
            structured=self._redactor.value(output.structured) if output.structured is not None else None,
            is_error=output.is_error,
            artifacts=output.artifacts,
            metadata=output.metadata,
        )


def require_tool(snapshot: Snapshot, tool_id: str) -> RegisteredTool:
    """Return a tool.

    Raises:
        ToolFault: there is none of that id.
    """
    tool = snapshot.tools.get(tool_id)
    if tool is None:
        near = get_close_matches(tool_id[:200], snapshot.tools, 3)
        advice = f"near it: {', '.join(near)}" if near else "search for another"
        raise fault(
            "tool_not_found",
            f"tool {tool_id[:200]!r} does not exist; {advice}",
            tool_id=tool_id[:200],
            reasons=("tool_unknown",),
            details={"near": near},
        )
    return tool


_NOT_ALLOWED: Mapping[str, tuple[str, ReasonCode]] = {
    "timed-out": ("nobody answered in time", "approval_timed_out"),
    "cancelled": ("the question was withdrawn with its turn", "approval_canceled"),
    "": ("nobody can be asked now: the session runs no turn", "approval_unreachable"),
}


def _not_allowed(tool_id: str, answer: str) -> ToolFault:
    text, reason = _NOT_ALLOWED.get(answer, ("a person rejected it", "policy_denied"))
    return fault(
        "tool_denied",
        f"tool {tool_id!r} was not called: {text}",
        tool_id=tool_id,
        layer="approval",
        reasons=(reason,),
    )


def _events(
    caller: Caller,
    tool: ToolDescriptor,
    wanted: Invocation,
    digest: str,
    decision: ToolDecision,
    result: ToolResult,
    *,
    is_error: bool,
) -> tuple[ToolCallEvent, ...]:
    started = ToolCallEvent(
        kind="tool.call_started",
        tool_id=tool.tool_id,
        read_only=tool.read_only,
        destructive=tool.destructive,
        open_world=tool.open_world,
        truncated=False,
        agent_name=caller.agent_name,
        approval_mode=decision.system_permission_mode,
        correlation_id=wanted.correlation_id,
        decision="approved" if decision.approval_required else "allowed",
        display_title=tool.display_title,
        input_digest=digest,
        risk=tool.risk,
        session_id=caller.session_id,
        source_kind=tool.source.kind,
        source_owner=tool.source.owner,
        workspace_id=caller.workspace_id,
    )
    ended = msgspec.structs.replace(
        started,
        kind="tool.call_failed" if is_error else "tool.call_completed",
        duration_ms=result.duration_ms,
        result_bytes=result.bytes,
        truncated=result.truncated,
    )
    if not result.truncated:
        return started, ended
    return started, msgspec.structs.replace(ended, kind="tool.result_truncated"), ended
