"""Calls about workspaces (contract §3.4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compozy.client.calls.caller import Calls, given, segment
from compozy.model.workspace import Workspace

if TYPE_CHECKING:
    from compozy.model.workspace_detail import WorkspaceDetail

_ALL = "/api/workspaces"


class WorkspaceCalls(Calls):
    """`workspace` is an id, a name or an absolute path."""

    def list(self) -> tuple[Workspace, ...]:
        """Return every registered workspace."""
        return self._get(_ALL, tuple[Workspace, ...], "workspaces")

    def get(self, workspace: str) -> Workspace:
        """Return one workspace."""
        return self._get(f"{_ALL}/{segment(workspace)}", Workspace, "workspace")

    def detail(self, workspace: str) -> "WorkspaceDetail":
        """Return one workspace with its agents, sessions, skills and providers."""
        from compozy.model.workspace_detail import WorkspaceDetail  # noqa: PLC0415 - start-up cost

        return self._get(f"{_ALL}/{segment(workspace)}", WorkspaceDetail)

    def resolve(self, path: str) -> Workspace:
        """Return the workspace a folder belongs to; it is registered when none encloses it."""
        return self._send("POST", f"{_ALL}/resolve", Workspace, "workspace", body={"path": path})

    def create(
        self,
        root_dir: str,
        *,
        name: str | None = None,
        add_dirs: Sequence[str] | None = None,
        default_agent: str | None = None,
        sandbox_ref: str | None = None,
    ) -> Workspace:
        """Register a folder."""
        more = given(name=name, add_dirs=add_dirs, default_agent=default_agent, sandbox_ref=sandbox_ref)
        return self._send("POST", _ALL, Workspace, "workspace", body={"root_dir": root_dir, **more})

    def update(
        self,
        workspace: str,
        *,
        name: str | None = None,
        add_dirs: Sequence[str] | None = None,
        default_agent: str | None = None,
        sandbox_ref: str | None = None,
    ) -> Workspace:
        """Change a workspace; None leaves a value as it is."""
        body = given(name=name, add_dirs=add_dirs, default_agent=default_agent, sandbox_ref=sandbox_ref)
        return self._send("PATCH", f"{_ALL}/{segment(workspace)}", Workspace, "workspace", body=body)

    def delete(self, workspace: str) -> None:
        """Forget a workspace; its files stay."""
        self._do("DELETE", f"{_ALL}/{segment(workspace)}")
