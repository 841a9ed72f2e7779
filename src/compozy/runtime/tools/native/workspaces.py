"""workspace_list, workspace_info, workspace_describe (contract §6.2)."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from compozy.catalog.skill_list import list_skills
from compozy.config.home import Home
from compozy.model.errors import InvalidRequest
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Sessions
from compozy.runtime.tools.native.kit import WORKSPACE, Actor, Arguments, NativeTool, Nothing, native
from compozy.runtime.tools.native.places import Places
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import SessionQuery

_PLACE = Annotated[str, Meta(description="A workspace by id, name or path; the session's own when left out.")]
_ACTIVE = 20


class WorkspaceInfo(Arguments, frozen=True, kw_only=True):
    workspace: _PLACE = ""


class WorkspaceTools:
    """The tools about workspaces."""

    def __init__(self, home: Home, workspaces: Workspaces, fleet: Fleet, sessions: Sessions, places: Places) -> None:
        self._home = home
        self._workspaces = workspaces
        self._fleet = fleet
        self._sessions = sessions
        self._places = places

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        group = (WORKSPACE,)
        return (
            native(
                "workspace_list",
                Nothing,
                self._list,
                "List the registered workspaces.",
                title="List workspaces",
                toolsets=group,
            ),
            native(
                "workspace_info",
                WorkspaceInfo,
                self._info,
                "Show a workspace's root, additional folders and default agent.",
                title="Show a workspace",
                toolsets=group,
            ),
            native(
                "workspace_describe",
                WorkspaceInfo,
                self._describe,
                "Show a workspace with its agents, skills and active sessions.",
                title="Describe a workspace",
                toolsets=group,
                hints=("overview", "context"),
            ),
        )

    async def _list(self, actor: Actor, given: Nothing) -> object:
        rows = await self._workspaces.all()
        return {"workspaces": [{"id": row.id, "name": row.name, "root_dir": row.root_dir} for row in rows]}

    async def _info(self, actor: Actor, given: WorkspaceInfo) -> object:
        return {"workspace": await self._place(actor, given.workspace)}

    async def _describe(self, actor: Actor, given: WorkspaceInfo) -> object:
        workspace = await self._place(actor, given.workspace)
        agents = await self._fleet.visible(workspace)
        query = SessionQuery(workspace_id=workspace.id, state="active", limit=_ACTIVE)
        sessions = await self._sessions.page(query)
        return {
            "workspace": workspace,
            "agents": [row.name for row in agents.agents if row.definition_digest],
            "skills": [skill.name for skill in list_skills(Path(workspace.root_dir), self._home.root)],
            "sessions": [
                {"id": row.id, "name": row.name, "agent_name": row.agent_name, "badge": row.badge}
                for row in sessions.sessions
            ],
        }

    async def _place(self, actor: Actor, reference: str) -> Workspace:
        found = await self._places.find(actor, reference)
        if found is None:
            raise InvalidRequest("workspace is required: name one")
        return found
