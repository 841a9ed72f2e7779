"""The present view of each place: looked at again on every read while that is cheap, at most a second old otherwise.

There is no watcher that could lose a file (reports P27). A small fleet is compared with the disk on every read. For
a large one each read compares the roots and the rows it is about to show, and a complete look follows the last one
closely for as long as somebody reads; nobody gets a view whose look began more than `_OLD_SECONDS` ago.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from compozy.catalog import kept_reports
from compozy.catalog.discovery import Discovery, ExtensionAgents, discover, is_unchanged
from compozy.catalog.fleet_index import FleetIndex
from compozy.catalog.reading import AgentReader
from compozy.documents.files import stamp
from compozy.model.workspace import Workspace

_log = logging.getLogger("compozy.fleet")
# So many definitions are looked at for every read: it takes two or three milliseconds.
_SMALL_FLEET = 250
_OLD_SECONDS = 0.9
# Looks follow each other at this distance at least, for this long after the last read.
_PAUSE_SECONDS = 0.2
_WARM_SECONDS = 10.0
_KEPT_PLACES = 64
_Stamp = tuple[int, int, int, int, int]
Place = tuple[str, tuple[str, ...]]


class _Shelf:
    """What is known of one place. `looked_at` is when the look behind `index` began."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.index: FleetIndex | None = None
        self.roots: tuple[_Stamp | None, ...] = ()
        self.looked_at = float("-inf")
        self.versions: tuple[int, ...] = ()
        self.extensions: tuple[ExtensionAgents, ...] = ()
        self.used_at = 0.0
        self.cost = 0.0
        self.warming: asyncio.Task[None] | None = None

    @property
    def is_small(self) -> bool:
        """Whether the place is looked at for every read."""
        if self.index is None:
            return True
        found = self.index.discovery
        return len(found.agents) + len(found.shadowed) + len(found.diagnostics) <= _SMALL_FLEET


class FleetViews:
    """Views of workspaces, and of the home alone.

    `extensions` says what enabled extensions bring; `reports` is the file that lets the next daemon start warm.
    """

    def __init__(
        self,
        home_agents: Path,
        extensions: Callable[[], Sequence[ExtensionAgents]] = tuple,
        reports: Path | None = None,
    ) -> None:
        self._home_agents = home_agents
        self._extensions = extensions
        self._reports = reports
        self._reader = AgentReader()
        self._is_restored = reports is None
        self._saved = 0
        # The reader is used by one look at a time.
        self._looking = asyncio.Lock()
        self._shelves: dict[Place, _Shelf] = {}

    async def get(self, workspace: Workspace | None) -> FleetIndex:
        """Return the view of a workspace, or of what is global."""
        shelf = self._shelf(workspace)
        now = time.monotonic()
        if shelf.index is None or shelf.is_small or now - shelf.looked_at > _OLD_SECONDS:
            await self._look(shelf, since=now)
        return self._used(shelf)

    async def confirm(self, workspace: Workspace | None, index: FleetIndex, names: Iterable[str]) -> FleetIndex:
        """Return `index` if the roots and the rows of `names` are still as it says, else a view looked at anew."""
        shelf = self._shelf(workspace)
        now = time.monotonic()
        if shelf.index is not index:
            return await self.get(workspace)
        if shelf.is_small:
            return index
        if not await asyncio.to_thread(self._is_unchanged, shelf, index, tuple(names)):
            await self._look(shelf, since=now)
        return self._used(shelf)

    def forget(self) -> None:
        """Make the next read of every place look at the disk: something was written through the product."""
        for shelf in self._shelves.values():
            shelf.looked_at = float("-inf")

    async def close(self) -> None:
        """End the looks that follow reads."""
        tasks = [shelf.warming for shelf in self._shelves.values() if shelf.warming is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _shelf(self, workspace: Workspace | None) -> _Shelf:
        place: Place = (workspace.root_dir, workspace.add_dirs) if workspace else ("", ())
        shelf = self._shelves.get(place)
        if shelf is None:
            if len(self._shelves) >= _KEPT_PLACES:
                oldest = min(self._shelves.values(), key=lambda other: other.used_at)
                del self._shelves[oldest.place]
            shelf = self._shelves[place] = _Shelf(place)
        shelf.used_at = time.monotonic()
        return shelf

    def _used(self, shelf: _Shelf) -> FleetIndex:
        assert shelf.index is not None, "a look leaves a view"
        if not shelf.is_small and (shelf.warming is None or shelf.warming.done()):
            shelf.warming = asyncio.create_task(self._keep_warm(shelf))
        return shelf.index

    async def _keep_warm(self, shelf: _Shelf) -> None:
        while time.monotonic() - shelf.used_at < _WARM_SECONDS:
            await asyncio.sleep(max(_PAUSE_SECONDS, shelf.cost / 2))
            try:
                await self._look(shelf, since=time.monotonic())
                await self._save_reports()
            except Exception:  # noqa: BLE001 - supervises looks nobody waits for; the next read looks itself
                _log.exception("looking at the agents failed; the next read tries again")
                return

    async def _save_reports(self) -> None:
        """Keep what was parsed for the next daemon, when it is much."""
        parsed = self._reader.parsed
        if self._reports is None or parsed - self._saved < kept_reports.FEWEST:
            return
        self._saved = parsed
        async with self._looking:
            await asyncio.to_thread(kept_reports.save, self._reader, self._reports)

    async def _look(self, shelf: _Shelf, *, since: float) -> None:
        # Shielded: a caller that goes away must not leave the reader to two threads.
        await asyncio.shield(asyncio.ensure_future(self._look_once(shelf, since)))

    async def _look_once(self, shelf: _Shelf, since: float) -> None:
        async with self._looking:
            if shelf.looked_at >= since:
                return
            began = time.monotonic()
            shelf.index, shelf.roots = await asyncio.to_thread(self._read, shelf)
            shelf.cost = time.monotonic() - began
            shelf.looked_at = began

    def _read(self, shelf: _Shelf) -> tuple[FleetIndex, tuple[_Stamp | None, ...]]:
        root, more = shelf.place
        if not self._is_restored and self._reports is not None:
            self._is_restored = True
            kept_reports.restore(self._reader, self._reports)
        extensions = tuple(self._extensions())
        before = () if shelf.index is None else _root_stamps(shelf.index.discovery)
        if (
            shelf.index is not None
            and extensions == shelf.extensions
            and shelf.versions == self._versions(shelf.index.discovery)
            and is_unchanged(shelf.index.discovery, self._reader)
        ):
            return shelf.index, before
        shelf.extensions = extensions
        found = discover(
            workspace=Path(root) if root else None,
            additional=[Path(path) for path in more],
            home_agents=self._home_agents,
            extensions=extensions,
            reader=self._reader,
        )
        shelf.versions = self._versions(found)
        if shelf.index is not None and _is_same(shelf.index.discovery, found):
            return shelf.index, before
        # The first look has no roots to compare with before it; a change meanwhile is found by the next.
        return FleetIndex(found), before if len(before) == len(found.sources) else _root_stamps(found)

    def _versions(self, discovery: Discovery) -> tuple[int, ...]:
        return tuple(self._reader.version(source.path) for source in discovery.sources)

    def _is_unchanged(self, shelf: _Shelf, index: FleetIndex, names: Sequence[str]) -> bool:
        # Looks for other places share the reader: what it keeps now may be newer than this view.
        if shelf.versions != self._versions(index.discovery) or _root_stamps(index.discovery) != shelf.roots:
            return False
        entries = (index.get(name) for name in names)
        return all(self._reader.is_current(folder) for entry in entries if entry for folder in entry.folders())


def _root_stamps(discovery: Discovery) -> tuple[_Stamp | None, ...]:
    return tuple(_stamp_of(source.path) for source in discovery.sources)


def _stamp_of(path: str) -> _Stamp | None:
    try:
        return stamp(Path(path).lstat())
    except OSError:
        return None


def _is_same(one: Discovery, other: Discovery) -> bool:
    """Whether two looks found the same; the reader gives back the same object for a folder that did not change."""
    return (
        len(one.agents) == len(other.agents)
        and len(one.shadowed) == len(other.shadowed)
        and all(a.loaded is b.loaded and a.root == b.root for a, b in zip(one.agents, other.agents, strict=True))
        and all(a.loaded is b.loaded for a, b in zip(one.shadowed, other.shadowed, strict=True))
        and one.diagnostics == other.diagnostics
        and one.sources == other.sources
    )
