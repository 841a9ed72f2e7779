"""From a request to a new session's record: workspace, agent, settings, trust and servers are found and checked here.

Implements contract §5.2 step 1. What the record then says is decided in `create.py`; storing it is the caller's.
"""

import asyncio

from compozy.config.config import Config
from compozy.config.redaction import Redactor
from compozy.model.definition import McpServer
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import Fleet, VisibleAgent
from compozy.runtime.mcp_servers import McpAsk, given, resolve_mcp_servers
from compozy.runtime.sessions.choosing import read_choice, with_choice
from compozy.runtime.sessions.create import CreateRequest, block_context, check_request, new_record
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.spawning.plan import ChildPlan
from compozy.runtime.sessions.startup.slots import ask_slots
from compozy.runtime.trust import TrustedUse
from compozy.runtime.workspaces import Workspaces, require_root
from compozy.store.interface import SessionRecord


class Creator:
    """Makes the records of new sessions."""

    def __init__(self, deps: Deps, workspaces: Workspaces, fleet: Fleet) -> None:
        self._deps = deps
        self._workspaces = workspaces
        self._fleet = fleet

    async def record(
        self, request: CreateRequest, child: ChildPlan | None = None, runtime: dict[str, object] | None = None
    ) -> SessionRecord:
        """Return the record of a new session: active, unbound, no process.

        Args:
            child: what makes it the child of another session.
            runtime: a choice of provider and model in place of the agent's own.

        Raises:
            InvalidRequest, NotFound, Gone, Conflict, Unprocessable: what is wrong and what to do.
        """
        check_request(request)
        deps = self._deps
        workspace = await self._workspace(request, child)
        require_root(workspace)
        agent = await self._fleet.find(request.agent_name, workspace)
        config = await deps.configs.of(workspace.root_dir)
        # In a thread: it reads what the workspace brings.
        allowed, servers = await asyncio.to_thread(self._allowed, agent, workspace, config)
        blocks = await ask_slots(deps.slots, block_context(agent, workspace, config))
        record = new_record(
            request, agent, workspace, config, deps.secrets, deps.redactor, allowed, blocks, servers, child
        )
        record = _chosen(record, runtime, config, deps.redactor)
        effective = record.session.runtime.effective
        assert effective is not None, "a new session has its provider"
        await deps.surface.require(record, config.providers[effective.provider], config)
        return record

    async def _workspace(self, request: CreateRequest, child: ChildPlan | None) -> Workspace:
        if child is not None:
            return await self._workspaces.get(child.parent.session.workspace_id)
        if request.workspace:
            return await self._workspaces.get(request.workspace)
        return await self._workspaces.resolve_or_register(request.workspace_path)

    def _allowed(
        self, agent: VisibleAgent, workspace: Workspace, config: Config
    ) -> tuple[TrustedUse, tuple[McpServer, ...]]:
        deps = self._deps
        ask = McpAsk(workspace=workspace, agent=agent.loaded, origin=agent.origin)
        servers = resolve_mcp_servers(deps.home, deps.trust, config, ask)
        return deps.trust.require(agent.loaded, agent.origin, workspace, config, servers), given(servers)


def _chosen(
    record: SessionRecord, runtime: dict[str, object] | None, config: Config, redactor: Redactor
) -> SessionRecord:
    if not runtime:
        return record
    effective = record.session.runtime.effective
    choice = read_choice({"provider": effective.provider if effective else "", **runtime}, config)
    return record if choice is None else with_choice(record, choice, config, redactor)
