"""Workspaces: register, resolve by id, name or path, and the roots of each (contract §3.4).

The registry is small and read on every request: it is kept in memory, written through to the store. A path belongs
to the nearest enclosing registered root; additional directories never own a path. The workspace's own
`workspace.toml` waits for a later issue.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from compozy.model import ids, times
from compozy.model.errors import Conflict, Gone, InvalidRequest, NotFound
from compozy.model.workspace import Workspace
from compozy.store.interface import Store


class Workspaces:
    """The registry of workspaces, kept in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[str, Workspace] | None = None
        # Keeps "look whether it exists" and "register" one step.
        self._lock = asyncio.Lock()

    async def _load(self) -> dict[str, Workspace]:
        if self._rows is None:
            self._rows = {row.id: row for row in await self._store.list_workspaces()}
        return self._rows

    async def all(self) -> tuple[Workspace, ...]:
        """Return every workspace by name."""
        rows = await self._load()
        return tuple(sorted(rows.values(), key=lambda row: (row.name, row.id)))

    async def get(self, reference: str) -> Workspace:
        """Return the workspace of an id, a name or an absolute path.

        Raises:
            NotFound: none fits.
        """
        rows = await self._load()
        text = reference.strip()
        if text in rows:
            return rows[text]
        found = self._owner(rows, text) if text.startswith("/") else self._by_name(rows, text)
        if found is None:
            raise NotFound(
                f"workspace {reference!r} is not registered: give an id, a name or an absolute path below a root",
                code="workspace_not_found",
            )
        return found

    def _by_name(self, rows: dict[str, Workspace], name: str) -> Workspace | None:
        return next((row for row in rows.values() if row.name == name), None)

    def _owner(self, rows: dict[str, Workspace], path: str) -> Workspace | None:
        real = os.path.realpath(path)
        enclosing = [row for row in rows.values() if _is_below(real, row.root_dir)]
        return max(enclosing, key=lambda row: len(row.root_dir), default=None)

    async def register(
        self,
        root_dir: str,
        *,
        name: str = "",
        add_dirs: Sequence[str] = (),
        default_agent: str = "",
        sandbox_ref: str = "",
    ) -> Workspace:
        """Register a root.

        Raises:
            InvalidRequest: a path is not absolute or not a directory.
            Conflict: the root, or the name that was asked for, is taken.
        """
        root = _directory(root_dir, "root_dir")
        async with self._lock:
            rows = await self._load()
            if any(row.root_dir == root for row in rows.values()):
                raise Conflict(f"workspace root {root!r} is registered already", code="workspace_exists")
            if name.strip() and self._by_name(rows, name.strip()) is not None:
                raise Conflict(f"workspace name {name.strip()!r} is taken: choose another", code="workspace_exists")
            stamp = times.now()
            row = Workspace(
                id=ids.new_workspace_id(),
                name=name.strip() or _free_name(rows, Path(root).name or "root"),
                root_dir=root,
                add_dirs=_directories(add_dirs, root),
                created_at=stamp,
                updated_at=stamp,
                default_agent=default_agent.strip(),
                sandbox_ref=sandbox_ref.strip(),
            )
            await self._keep(row)
            return row

    async def resolve_or_register(self, path: str) -> Workspace:
        """Return the workspace that owns the path; register the path itself when none does.

        Raises:
            InvalidRequest: not an absolute path of a directory.
        """
        real = _directory(path, "path")
        rows = await self._load()
        found = self._owner(rows, real)
        if found is not None:
            return found
        try:
            return await self.register(real)
        except Conflict:
            # Somebody registered it between the look and the lock.
            return await self.get(real)

    async def update(
        self,
        reference: str,
        *,
        name: str | None,
        add_dirs: Sequence[str] | None,
        default_agent: str | None,
        sandbox_ref: str | None,
    ) -> Workspace:
        """Change what is not None.

        Raises:
            NotFound, InvalidRequest, Conflict: as for `get` and `register`.
        """
        async with self._lock:
            row = await self.get(reference)
            rows = await self._load()
            changes: dict[str, object] = {"updated_at": times.now()}
            if name is not None:
                changes["name"] = self._new_name(rows, row, name.strip())
            if add_dirs is not None:
                changes["add_dirs"] = _directories(add_dirs, row.root_dir)
            if default_agent is not None:
                changes["default_agent"] = default_agent.strip()
            if sandbox_ref is not None:
                changes["sandbox_ref"] = sandbox_ref.strip()
            row = msgspec.structs.replace(row, **changes)
            await self._keep(row)
            return row

    def _new_name(self, rows: dict[str, Workspace], row: Workspace, name: str) -> str:
        if not name:
            raise InvalidRequest("name must not be empty: leave it out to keep the present one")
        other = self._by_name(rows, name)
        if other is not None and other.id != row.id:
            raise Conflict(f"workspace name {name!r} is taken: choose another", code="workspace_exists")
        return name

    async def delete(self, workspace_id: str) -> None:
        """Forget a workspace; its files are not touched."""
        async with self._lock:
            rows = await self._load()
            await self._store.delete_workspace(workspace_id)
            rows.pop(workspace_id, None)

    async def _keep(self, row: Workspace) -> None:
        await self._store.put_workspace(row)
        (await self._load())[row.id] = row


def require_root(workspace: Workspace) -> None:
    """Refuse a workspace whose folder is gone (contract §3.1).

    Raises:
        Gone: the root directory is missing.
    """
    if not Path(workspace.root_dir).is_dir():
        raise Gone(
            f"the root of workspace {workspace.name!r} is missing: {workspace.root_dir!r}; restore it or delete the "
            "workspace",
            code="workspace_root_missing",
        )


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _directory(text: str, field: str) -> str:
    path = text.strip()
    if not Path(path).is_absolute() or "\0" in path:
        raise InvalidRequest(f"{field} {text!r} must be an absolute path")
    if not Path(path).is_dir():
        raise InvalidRequest(f"{field} {path!r} does not exist or is not a directory", code="workspace_path_missing")
    return os.path.realpath(path)


def _directories(paths: Sequence[str], root: str) -> tuple[str, ...]:
    found = dict.fromkeys(_directory(path, "add_dirs") for path in paths)
    found.pop(root, None)
    return tuple(found)


def _free_name(rows: dict[str, Workspace], base: str) -> str:
    taken = {row.name for row in rows.values()}
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name
