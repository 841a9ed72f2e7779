"""Workspaces: register, resolve by id, name or path, and the roots of each (contract §3.4).

The registry is small and read on every request: it is kept in memory, written through to the store. A path belongs
to the nearest enclosing registered root; additional directories never own a path, and the user's own home folder
owns itself only. Each workspace also carries an id of its own in its `workspace.toml`.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from compozy.catalog.workspace_file import find_root, is_ulid, touch
from compozy.model import ids, times
from compozy.model.errors import CompozyError, Conflict, Gone, InvalidRequest, NotFound
from compozy.model.workspace import Workspace
from compozy.store.interface import Store

_log = logging.getLogger("compozy.workspaces")
_LONGEST_NAME = 200


class Workspaces:
    """The registry of workspaces, kept in the store.

    `check` is called with a root before it is registered and raises where the workspace cannot be resolved.
    """

    def __init__(
        self,
        store: Store,
        *,
        user_home: Path | None = None,
        check: Callable[[Path], object] | None = None,
    ) -> None:
        self._store = store
        self._user_home = os.path.realpath(user_home) if user_home else ""
        self._check = check
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
        if found is None and is_ulid(text):
            roots = [row.root_dir for row in rows.values()]
            root = await asyncio.to_thread(find_root, text, roots)
            found = next((row for row in rows.values() if row.root_dir == root), None)
        if found is None:
            raise NotFound(
                f"workspace {reference!r} is not registered: give an id, a name or an absolute path below a "
                "root; see `compozy workspace list`",
                code="workspace_not_found",
            )
        return found

    def _by_name(self, rows: dict[str, Workspace], name: str) -> Workspace | None:
        return next((row for row in rows.values() if row.name == name), None)

    def _owns(self, row: Workspace, real: str) -> bool:
        # The user's own home folder would swallow every project below it: it counts for itself only.
        return real == row.root_dir if row.root_dir == self._user_home else _is_below(real, row.root_dir)

    def _owner(self, rows: dict[str, Workspace], path: str) -> Workspace | None:
        if "\0" in path:
            return None
        try:
            real = os.path.realpath(path)
        except (ValueError, OSError):
            # No path of this system (a NUL, a loop of links): it lies below no root.
            return None
        enclosing = [row for row in rows.values() if self._owns(row, real)]
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
            InvalidRequest: a path is not absolute or not a directory, or the workspace cannot be resolved.
            Conflict: the root, or the name that was asked for, is taken.
        """
        root = _directory(root_dir, "root_dir")
        wanted = _checked_name(name) if name.strip() else ""
        if self._check is not None:
            try:
                await asyncio.to_thread(self._check, Path(root))
            except CompozyError as error:
                raise InvalidRequest(
                    f"workspace {root!r} cannot be resolved and was not registered: {error.message}",
                    code="workspace_unresolvable",
                ) from error
        async with self._lock:
            rows = await self._load()
            if any(row.root_dir == root for row in rows.values()):
                raise Conflict(f"workspace root {root!r} is registered already", code="workspace_exists")
            if wanted and self._by_name(rows, wanted) is not None:
                raise Conflict(f"workspace name {wanted!r} is taken: choose another", code="workspace_exists")
            stamp = times.now()
            row = Workspace(
                id=ids.new_workspace_id(),
                name=wanted or _free_name(rows, Path(root).name or "root"),
                root_dir=root,
                add_dirs=_directories(add_dirs, root),
                created_at=stamp,
                updated_at=stamp,
                default_agent=default_agent.strip(),
                sandbox_ref=sandbox_ref.strip(),
            )
            await self._keep(row)
        if root != self._user_home:
            await asyncio.to_thread(touch, Path(root), stamp)
        return row

    async def register_user_home(self) -> None:
        """Register the user's home folder, as a fresh install does (contract §1.4)."""
        if self._user_home in ("", "/"):
            return
        try:
            await self.register(self._user_home)
        except CompozyError as error:
            _log.warning("the user's home folder was not registered as a workspace: %s", error)

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
        other = self._by_name(rows, _checked_name(name))
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
    try:
        found = Path(path).is_dir()
    except (OSError, UnicodeEncodeError) as error:
        # Too long for the system, or text that is no file name.
        reason = (error.strerror or "").lower() if isinstance(error, OSError) else "no valid text"
        raise InvalidRequest(f"{field} {path[:200]!r} cannot be a directory: {reason}; name another") from error
    if not found:
        raise InvalidRequest(f"{field} {path!r} does not exist or is not a directory", code="workspace_path_missing")
    return os.path.realpath(path)


def _checked_name(text: str) -> str:
    """Refuse names that could be taken for a path or an id, or that a person could not read."""
    name = text.strip()
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidRequest(f"workspace name {name[:40]!r} must be at most {_LONGEST_NAME} printable characters")
    if "/" in name or name in (".", "..") or name.startswith(("ws_", "~")):
        raise InvalidRequest(
            f"workspace name {name!r} would be taken for a path or an id: leave out '/', and 'ws_' or '~' in front"
        )
    return name


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
