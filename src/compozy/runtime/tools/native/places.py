"""Which workspace a call means, and whether its caller may look there (contract §6.3, cross-workspace input)."""

from collections.abc import Awaitable, Callable

from compozy.model.workspace import Workspace
from compozy.runtime.tools.native.kit import Actor
from compozy.runtime.workspaces import Workspaces
from compozy.tools.source import ToolFailed

AskPlace = Callable[[Actor, Workspace], Awaitable[str]]
"""Asks a person; returns an answer of contract §5.5, or what else became of the question."""


class Places:
    """Answers which workspace is meant. Answers "for this session" are remembered in memory."""

    def __init__(self, workspaces: Workspaces, ask: AskPlace) -> None:
        self._workspaces = workspaces
        self._ask = ask
        self._answers: dict[tuple[str, str], bool] = {}

    async def find(self, actor: Actor, reference: str) -> Workspace | None:
        """Return the workspace of a reference, the caller's own for ""; None is "global", for operators only.

        Raises:
            ToolFailed: the caller may not look there.
            NotFound: there is no such workspace.
        """
        if not reference.strip():
            return actor.workspace
        workspace = await self._workspaces.get(reference)
        if actor.is_operator or (actor.workspace is not None and workspace.id == actor.workspace.id):
            return workspace
        await self._require(actor, workspace)
        return workspace

    async def _require(self, actor: Actor, workspace: Workspace) -> None:
        if actor.permission_mode == "approve-all":
            return
        key = (actor.scope.session_id, workspace.id)
        allowed = self._answers.get(key, False)
        if key not in self._answers and actor.permission_mode == "approve-reads":
            answer = await self._ask(actor, workspace)
            allowed = answer.startswith("allow")
            if answer.endswith("always"):
                self._answers[key] = allowed
        if not allowed:
            raise ToolFailed(
                f"workspace_access_denied: workspace {workspace.name!r} is not this session's, and nobody allowed it",
                code="tool_denied",
                reason="policy_denied",
            )
