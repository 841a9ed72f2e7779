"""The tools service: what a caller may see, what groups there are, and who allowed what (contract §6).

One door for the routes, the command line and the hosted server alike. The policy decides (`tools/policy.py`); calls
are in `calls.py`.
"""

import asyncio
from collections.abc import Iterable
from typing import Literal

import msgspec

from compozy.model.errors import NotFound
from compozy.model.tool import (
    ApprovalGrant,
    ArtifactPage,
    ErrorCode,
    ToolApproval,
    ToolAvailability,
    ToolDecision,
    ToolInvocation,
    Toolset,
    ToolView,
)
from compozy.runtime.tools.callers import Caller
from compozy.runtime.tools.calls import Calls, Invocation, require_tool
from compozy.runtime.tools.faults import denied, fault
from compozy.tools.artifacts import ArtifactProblem, ArtifactStore
from compozy.tools.descriptors import input_digest
from compozy.tools.policy import Moment, decide
from compozy.tools.registry import RegisteredTool, Registry, Snapshot

SEARCH_LIMIT, MOST_FOUND = 20, 100


class Tools:
    """All tools of this daemon."""

    def __init__(self, registry: Registry, artifacts: ArtifactStore, calls: Calls) -> None:
        self.registry = registry
        self.calls = calls
        self.grants = calls.grants
        self._artifacts = artifacts

    # --- looking

    async def views(self, caller: Caller, *, settle: bool = False) -> tuple[ToolView, ...]:
        """Return every tool with what the policy says about it, by id."""
        snapshot = await self.registry.snapshot(caller.scope, settle=settle)
        return await self._views(caller, snapshot, snapshot.tools)

    async def callable_views(self, caller: Caller, *, settle: bool = False) -> tuple[ToolView, ...]:
        """Return the tools that may be called now, after asking a person or without."""
        return tuple(view for view in await self.views(caller, settle=settle) if view.decision.callable)

    async def search(self, caller: Caller, query: str, limit: int = SEARCH_LIMIT) -> tuple[ToolView, ...]:
        """Return the tools that fit a query best, denied ones with their reasons; never what nobody may see."""
        snapshot = await self.registry.snapshot(caller.scope)
        # In a thread: the index of thousands of tools takes a fifth of a second to build, once.
        ids = await asyncio.to_thread(lambda: snapshot.index.search(query, MOST_FOUND))
        # More than wanted, because some may be invisible to the caller.
        found = await self._views(caller, snapshot, ids)
        return tuple(view for view in found if view.decision.visible_to_operator)[: max(1, min(limit, MOST_FOUND))]

    async def view(self, caller: Caller, tool_id: str) -> ToolView:
        """Return one tool.

        Raises:
            ToolFault: there is none of that id.
        """
        snapshot = await self.registry.snapshot(caller.scope, settle=tool_id.startswith("mcp__"))
        require_tool(snapshot, tool_id)
        return (await self._views(caller, snapshot, (tool_id,), with_layers=True))[0]

    async def toolsets(self, caller: Caller) -> tuple[Toolset, ...]:
        """Return every group."""
        groups = (await self.registry.snapshot(caller.scope)).toolsets
        return tuple(groups.get(name) for name in groups.names)

    async def toolset(self, caller: Caller, name: str) -> Toolset:
        """Return one group.

        Raises:
            ToolFault: there is none of that id.
        """
        groups = (await self.registry.snapshot(caller.scope)).toolsets
        if name not in groups.names:
            known = ", ".join(groups.names)
            raise fault(
                "tool_not_found",
                f"toolset {name!r} does not exist; there are {known}",
                tool_id=name,
                reasons=("toolset_unknown",),
            )
        return groups.get(name)

    async def _views(
        self, caller: Caller, snapshot: Snapshot, ids: Iterable[str], *, with_layers: bool = False
    ) -> tuple[ToolView, ...]:
        """Return tools with their decisions; the derivation of thousands would be most of a list."""
        policy = caller.policy(snapshot)
        # Answers for one input say nothing here; what holds for the agent goes over what holds for all.
        general = [grant for grant in await self.grants.of(caller.workspace_id) if not grant.input_digest]
        grants = {grant.tool_id: grant.decision for grant in general if not grant.agent_name}
        grants |= {grant.tool_id: grant.decision for grant in general if grant.agent_name == caller.agent_name}
        views = []
        for tool_id in ids:
            tool = snapshot.tools[tool_id]
            moment = Moment(problems=tool.problems, grant=grants.get(tool_id, ""))
            decision = decide(policy, tool.descriptor, moment)
            views.append(_view(tool, decision, with_layers=with_layers))
        return tuple(views)

    async def invoke(self, caller: Caller, wanted: Invocation) -> ToolInvocation:
        """Run one call.

        Raises:
            ToolFault: it was not allowed, or gave no result.
        """
        return await self.calls.invoke(caller, wanted)

    # --- approvals, grants, artifacts

    async def approve(self, caller: Caller, tool_id: str, arguments: object, digest: str) -> ToolApproval:
        """Return a single-use token for one call of a session.

        Raises:
            ToolFault: no such tool, or nothing a person says could allow it.
        """
        snapshot = await self.registry.snapshot(caller.scope, settle=tool_id.startswith("mcp__"))
        tool = require_tool(snapshot, tool_id)
        given = digest or input_digest(arguments if arguments is not None else {})
        if digest and arguments is not None and digest != input_digest(arguments):
            raise fault("tool_invalid_input", "input and input_digest are not of the same call", tool_id=tool_id)
        decision = decide(caller.policy(snapshot), tool.descriptor, Moment(problems=tool.problems, has_token=True))
        if not decision.callable:
            raise denied(tool_id, decision)
        return self.calls.approvals.issue(tool_id, caller.session_id, given)

    async def put_grant(
        self, caller: Caller, tool_id: str, decision: Literal["allow", "reject"], agent: str
    ) -> ApprovalGrant:
        """Remember an answer for an agent, or for everybody in the workspace ("").

        Raises:
            NotFound: no such tool there.
        """
        snapshot = await self.registry.snapshot(caller.scope, settle=tool_id.startswith("mcp__"))
        if tool_id not in snapshot.tools:
            raise NotFound(f"tool {tool_id!r} does not exist: see `compozy tool list`", code="tool_not_found")
        return await self.grants.put(caller.workspace_id, tool_id, decision, agent=agent)

    async def read_artifact(self, workspace_id: str, artifact_id: str, offset: int, limit: int) -> ArtifactPage:
        """Return a page of a kept result.

        Raises:
            ToolFault: it is not there, or was changed.
        """
        try:
            return await asyncio.to_thread(
                self._artifacts.read, workspace_id, artifact_id, offset=offset, limit=limit
            )
        except ArtifactProblem as problem:
            code: ErrorCode = (
                "tool_not_found" if problem.reason == "tool_artifact_not_found" else "tool_backend_failed"
            )
            raise fault(code, problem.message, reasons=(problem.reason,)) from problem


def _view(tool: RegisteredTool, decision: ToolDecision, *, with_layers: bool) -> ToolView:
    conflicted = any(problem.startswith("conflicted") for problem in tool.problems)
    return ToolView(
        descriptor=tool.descriptor,
        availability=ToolAvailability(
            registered=True,
            enabled=decision.layers[0].result == "allowed",
            available=not tool.problems,
            authorized=not any(problem.startswith("mcp_auth") for problem in tool.problems),
            conflicted=conflicted,
            executable=not tool.problems,
            reason_codes=tool.problems,
        ),
        decision=decision if with_layers else msgspec.structs.replace(decision, layers=()),
    )
