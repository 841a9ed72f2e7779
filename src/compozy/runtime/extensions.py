"""Which extensions are known and enabled: a small file in the home, old or new, never half (decisions D13).

An extension stays where it is; adding it again reads it anew. Agents of enabled extensions are global candidates
that come after the home's own. They are trusted no more than a workspace's (decisions D15).
"""

import asyncio
import os
from pathlib import Path

import msgspec

from compozy.catalog.discovery import ExtensionAgents
from compozy.catalog.extensions import ExtensionFolder, read_extension
from compozy.config.home import Home
from compozy.documents.atomic import write_atomically
from compozy.model import times
from compozy.model.errors import CompozyError, Conflict, InvalidRequest, NotFound
from compozy.model.extension import ExtensionView
from compozy.model.record import Record

_FOLDER, _FILE = "extensions", "registry.json"


class KnownExtension(Record, frozen=True, kw_only=True):
    """One registered extension as it was when it was last read."""

    name: str
    version: str
    root: str
    folders: tuple[str, ...]
    enabled: bool
    added_at: str


class Extensions:
    """The registry of extensions of one home."""

    def __init__(self, home: Home) -> None:
        self._path = home.root / _FOLDER / _FILE
        self._lock = asyncio.Lock()
        self._problem = ""
        self._rows: dict[str, KnownExtension] = self._load()

    def brought(self) -> tuple[ExtensionAgents, ...]:
        """Return the folders of enabled extensions in their order of precedence; safe in any thread."""
        rows = sorted(self._rows.values(), key=lambda row: row.name, reverse=True)
        return tuple(
            ExtensionAgents(extension=row.name, folder=Path(folder))
            for row in rows
            if row.enabled
            for folder in row.folders
        )

    async def all(self) -> tuple[ExtensionView, ...]:
        """Return every extension by name, read anew."""
        rows = sorted(self._rows.values(), key=lambda row: row.name)
        return tuple([await asyncio.to_thread(_view, row) for row in rows])

    async def add(self, path: str) -> ExtensionView:
        """Register the extension in a folder, enabled; read it anew when it is known already.

        Raises:
            InvalidRequest: not an absolute path, or the extension is not as it must be.
            Unprocessable: it brings an agent with a reserved name.
            Conflict: another folder's extension has that name.
        """
        text = path.strip()
        if not text.startswith("/") or "\0" in text:
            raise InvalidRequest(f"path {path!r} must be absolute", code="extension_invalid")
        found = await asyncio.to_thread(_read, text)
        async with self._lock:
            known = self._rows.get(found.name)
            if known is not None and known.root != found.root:
                raise Conflict(
                    f"extension {found.name!r} is registered from {known.root!r}; remove that one first",
                    code="extension_exists",
                )
            added = known.added_at if known else times.now()
            await self._keep({**self._rows, found.name: _known(found, enabled=True, added_at=added)})
        return _shown(found, enabled=True)

    async def switch(self, name: str, *, enabled: bool) -> ExtensionView:
        """Enable an extension, which reads it anew, or disable it.

        Raises:
            NotFound: no such extension.
            InvalidRequest, Unprocessable: it cannot be enabled as it is.
        """
        async with self._lock:
            row = self._get(name)
            if not enabled:
                await self._keep({**self._rows, name: msgspec.structs.replace(row, enabled=False)})
                return await asyncio.to_thread(_view, self._rows[name])
            found = await asyncio.to_thread(_read, row.root)
            if found.name != name:
                raise InvalidRequest(
                    f"the extension in {row.root!r} is called {found.name!r} now; remove {name!r} and add it again",
                    code="extension_invalid",
                )
            await self._keep({**self._rows, name: _known(found, enabled=True, added_at=row.added_at)})
        return _shown(found, enabled=True)

    async def remove(self, name: str) -> None:
        """Forget an extension; its folder stays.

        Raises:
            NotFound: no such extension.
        """
        async with self._lock:
            self._get(name)
            await self._keep({key: row for key, row in self._rows.items() if key != name})

    def _get(self, name: str) -> KnownExtension:
        row = self._rows.get(name)
        if row is None:
            raise NotFound(
                f"extension {name!r} is not registered: see `compozy extension list`", code="extension_not_found"
            )
        return row

    async def _keep(self, rows: dict[str, KnownExtension]) -> None:
        if self._problem:
            raise Conflict(self._problem, code="extension_registry_unreadable")
        data = msgspec.json.format(msgspec.json.encode(list(rows.values())))
        await asyncio.to_thread(self._write, data)
        self._rows = rows

    def _write(self, data: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(self._path, data)

    def _load(self) -> dict[str, KnownExtension]:
        try:
            rows = msgspec.json.decode(self._path.read_bytes(), type=list[KnownExtension])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            self._problem = f"{str(self._path)!r} cannot be read ({error}); mend or remove it and restart the daemon"
            return {}
        return {row.name: row for row in rows}


def _read(path: str) -> ExtensionFolder:
    return read_extension(Path(os.path.realpath(path)))


def _view(row: KnownExtension) -> ExtensionView:
    try:
        return _shown(_read(row.root), enabled=row.enabled)
    except CompozyError as error:
        return ExtensionView(
            name=row.name,
            version=row.version,
            root=row.root,
            enabled=row.enabled,
            agents=(),
            problem=error.message,
        )


def _known(found: ExtensionFolder, *, enabled: bool, added_at: str) -> KnownExtension:
    return KnownExtension(
        name=found.name,
        version=found.version,
        root=found.root,
        folders=found.folders,
        enabled=enabled,
        added_at=added_at,
    )


def _shown(found: ExtensionFolder, *, enabled: bool) -> ExtensionView:
    return ExtensionView(
        name=found.name, version=found.version, root=found.root, enabled=enabled, agents=found.agents
    )
