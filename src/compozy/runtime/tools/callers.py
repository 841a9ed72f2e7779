"""Who asks for tools, and what the policy knows of them (contract §6.3).

A caller is a session, or an operator: somebody at the command line or the API, who may look through the eyes of an
agent. Everything about a session was frozen when it was created; settings are those of its workspace now.
"""

from dataclasses import dataclass
from typing import Protocol

from compozy.config.config import Config
from compozy.documents.agents import LoadedAgent
from compozy.model.tool import ToolAccess
from compozy.model.workspace import Workspace
from compozy.store.interface import SessionRecord
from compozy.tools.ids import Patterns
from compozy.tools.policy import PolicyContext
from compozy.tools.registry import Snapshot
from compozy.tools.source import ToolScope

# Sessions that have only what their parent gave them (contract §6.3 layer 5).
_CHILDREN = frozenset({"spawned", "coordinator"})


class CanAsk(Protocol):
    """Says whether a person can be asked in a session now."""

    def __call__(self, session_id: str) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks. `session` is None for an operator; `agent` then is the one whose view is wanted, if any."""

    config: Config
    workspace: Workspace | None = None
    session: SessionRecord | None = None
    agent: LoadedAgent | None = None
    agent_permissions: str = ""
    agent_servers: tuple[str, ...] = ()
    can_ask: bool = False

    @property
    def agent_name(self) -> str:
        """The agent's name, "" for an operator without one."""
        if self.session is not None:
            return self.session.session.agent_name
        return self.agent.definition.name if self.agent else ""

    @property
    def session_id(self) -> str:
        """The session's id, "" for an operator."""
        return self.session.session.id if self.session is not None else ""

    @property
    def workspace_id(self) -> str:
        """The workspace's id, "" for none."""
        return self.workspace.id if self.workspace is not None else ""

    @property
    def scope(self) -> ToolScope:
        """For whom sources list."""
        return ToolScope(workspace_id=self.workspace_id, agent_name=self.agent_name, session_id=self.session_id)

    @property
    def access(self) -> ToolAccess:
        """What the agent's definition says about tools."""
        if self.session is not None:
            return self.session.tool_access
        if self.agent is None:
            return ToolAccess()
        definition = self.agent.definition
        return ToolAccess(tools=definition.tools, toolsets=definition.toolsets, deny_tools=definition.deny_tools)

    @property
    def permission_mode(self) -> str:
        """The ceiling: the session's mode, else the agent's, else the settings'."""
        if self.session is not None:
            return self.session.permission_mode
        return self.agent_permissions or self.config.permissions.mode

    def policy(self, snapshot: Snapshot) -> PolicyContext:
        """Return what the policy needs, compiled once for many tools."""
        rules, access = self.config.tools, self.access
        return PolicyContext(
            tools_enabled=rules.enabled,
            is_operator=self.session is None and self.agent is None,
            agent_deny=Patterns.of(access.deny_tools),
            lineage=self._lineage(),
            allow=Patterns.of(access.tools),
            allow_toolsets=access.toolsets,
            allowed_members=snapshot.toolsets.expand(access.toolsets) if access.toolsets else frozenset(),
            source_grants=self._source_grants(),
            trusted_sources=frozenset(rules.policy.trusted_sources),
            external_default=rules.policy.external_default,
            permission_mode=self.permission_mode,
            can_ask=self.can_ask,
        )

    def _lineage(self) -> Patterns | None:
        session = self.session.session if self.session is not None else None
        if session is None or session.type not in _CHILDREN or session.lineage is None:
            return None
        return Patterns.of(session.lineage.permission_policy.tools)

    def _source_grants(self) -> frozenset[str]:
        """Servers that somebody configured for the agent, by the merge of all places, are granted by that."""
        names = self.agent_servers
        if self.session is not None:
            lineage = self.session.session.lineage
            names = lineage.permission_policy.mcp_servers if lineage is not None else ()
        return frozenset(f"mcp:{name}" for name in names)
