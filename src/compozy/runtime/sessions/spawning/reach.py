"""What a parent session can reach beyond what its record says: its enabled skills, and what its toolsets come to.

Reads files and the settings of its workspace; decides nothing (`limits.py` does).
"""

import asyncio
from pathlib import Path

from compozy.model.errors import CompozyError
from compozy.runtime.fleet import Fleet
from compozy.runtime.selection_skills import enabled_skills
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.spawning.limits import is_child
from compozy.runtime.sessions.surface import ToolReach
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import SessionRecord


class ParentReach:
    """Looks up the skills and toolset members of parents."""

    def __init__(self, deps: Deps, workspaces: Workspaces, fleet: Fleet) -> None:
        self._deps = deps
        self._workspaces = workspaces
        self._fleet = fleet

    async def skills(self, parent: SessionRecord) -> frozenset[str]:
        """Return the names of the skills the parent can use."""
        session = parent.session
        if is_child(parent) and session.lineage is not None:
            return frozenset(session.lineage.permission_policy.skills)
        try:
            workspace = await self._workspaces.get(session.workspace_id)
            agent = await self._fleet.get(session.agent_name, workspace)
        except CompozyError:
            # Its definition is gone: nothing is known to be the parent's, so nothing can be handed on.
            return frozenset()
        places = (workspace.root_dir, *workspace.add_dirs)
        roots = [self._deps.home.root / "skills", *(Path(place) / ".compozy" / "skills" for place in places)]
        return (await asyncio.to_thread(enabled_skills, [agent], roots))[agent.name]

    async def tools(self, parent: SessionRecord) -> ToolReach:
        """Return what the parent's toolsets come to, and which tools exist."""
        return await self._deps.surface.reach(parent)
