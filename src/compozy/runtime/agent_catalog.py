"""The fleet catalog: pages of agents with what their sessions did, filters before the page is cut (contract §3.3).

A position in the list is a name, which no activity moves (reports P59, P60). Where the session store cannot be read
in time the definitions come all the same, without metrics and with `sessions_available: false`. Implements the
cursor of contract §3.2 and the metrics of decisions D26.
"""

import asyncio
import base64
import binascii
import hashlib
import json
import logging
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from compozy.catalog.fleet_index import FleetIndex
from compozy.model import times
from compozy.model.errors import InvalidRequest
from compozy.model.fleet import AgentSessions, CatalogFacets, CatalogPage, CatalogRow
from compozy.model.page import Page
from compozy.model.record import Record
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import Fleet
from compozy.store.interface import AgentMetrics, Store, StoreUnavailable

T = TypeVar("T")
_log = logging.getLogger("compozy.fleet")
_VERSION, _KIND = 1, "agent_catalog"
_LONGEST_CURSOR = 4096
# A locked store keeps its reader for five seconds; a list of definitions must not wait that long.
_STORE_SECONDS = 1.0


class CatalogQuery(Record, frozen=True, kw_only=True):
    """What a person asks of the fleet; empty means any. `q` matches names and categories, ignoring case."""

    name: str = ""
    q: str = ""
    category: str = ""
    status: str = ""
    cursor: str = ""
    limit: int = 50


class AgentCatalog:
    """Joins the fleet with the rollup of its sessions."""

    def __init__(self, fleet: Fleet, store: Store) -> None:
        self._fleet = fleet
        self._store = store
        self._is_answered: Callable[[], bool] = _always
        self._was_told = ""

    async def page(self, workspace: Workspace, query: CatalogQuery) -> CatalogPage:
        """Return the page that the query asks for.

        Raises:
            InvalidRequest: the cursor is damaged or belongs to another list.
        """
        after = read_cursor(query.cursor, workspace.id, query) if query.cursor else None
        index = await self._fleet.views.get(workspace)
        active = await self._ask(self._store.active_agents(workspace.id))
        matches, shown = _cut(index, query, active, after)
        confirmed = await self._fleet.views.confirm(workspace, index, [index.entries[place].name for place in shown])
        if confirmed is not index:
            index = confirmed
            matches, shown = _cut(index, query, active, after)
        names = [index.entries[place].name for place in shown]
        metrics = None if active is None else await self._metrics(workspace.id, names)
        agents = [self._fleet.payload(index, name, workspace) for name in names]
        more = bool(shown) and shown[-1] != matches[-1]
        return CatalogPage(
            agents=tuple(CatalogRow(agent=agent, sessions=_sessions(metrics, agent.name)) for agent in agents),
            facets=_facets(index, active if metrics is not None else None),
            page=Page(
                limit=query.limit,
                total=len(matches),
                has_more=more,
                next_cursor=write_cursor(names[-1], workspace.id, query) if more else None,
            ),
            sessions_available=metrics is not None,
            sources=index.discovery.sources,
        )

    async def _metrics(self, workspace_id: str, names: Sequence[str]) -> dict[str, AgentMetrics] | None:
        if not names:
            return {}
        return await self._ask(self._store.agent_metrics(workspace_id, names, now=times.now()))

    async def _ask(self, reading: Awaitable[T]) -> T | None:
        """Await a read of the store, briefly; None when it fails or takes too long."""
        if not self._is_answered():
            # The store still has not answered an earlier read: do not put more behind it.
            reading = _dropped(reading)
        task = asyncio.ensure_future(reading)
        try:
            answer = await asyncio.wait_for(asyncio.shield(task), _STORE_SECONDS)
        except StoreUnavailable as error:
            self._tell(error.message)
        except TimeoutError:
            self._is_answered = task.done
            task.add_done_callback(_collect)
            self._tell("the store does not answer; is its file locked?")
        else:
            self._was_told = ""
            return answer
        return None

    def _tell(self, reason: str) -> None:
        """Log why there are no sessions, once until they are back (reports P29)."""
        if not self._was_told:
            _log.warning("the fleet is listed without sessions: %s", reason)
        self._was_told = reason


def _cut(
    index: FleetIndex, query: CatalogQuery, active: frozenset[str] | None, after: str | None
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the places of all matches, and of those on the page."""
    places = index.select(name=query.name, q=query.q.casefold(), category=query.category)
    if query.status and active is not None:
        wants_active = query.status == "active"
        places = [place for place in places if (index.entries[place].name in active) is wants_active]
    start = 0 if after is None else bisect_left(places, index.place_after(after))
    return places, places[start : start + query.limit]


def _facets(index: FleetIndex, active: frozenset[str] | None) -> CatalogFacets:
    total = len(index.entries)
    at_work = 0 if active is None else sum(index.get(name) is not None for name in active)
    return CatalogFacets(
        total=total, active=at_work, idle=0 if active is None else total - at_work, categories=index.categories
    )


def _sessions(metrics: dict[str, AgentMetrics] | None, name: str) -> AgentSessions | None:
    if metrics is None:
        return None
    found = metrics[name]
    return AgentSessions(
        total=found.total,
        active=found.active,
        failed=found.failed,
        runtime_seconds=found.runtime_seconds,
        last_activity_at=found.last_activity_at or None,
    )


def _fingerprint(workspace_id: str, query: CatalogQuery) -> str:
    wanted = {
        "workspace_id": workspace_id,
        "name": query.name,
        "q": query.q.casefold(),
        "category": query.category,
        "status": query.status,
    }
    digest = hashlib.sha256(json.dumps(wanted).encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def write_cursor(name: str, workspace_id: str, query: CatalogQuery) -> str:
    """Return the cursor of the page behind a name."""
    cursor = {"v": _VERSION, "k": _KIND, "f": _fingerprint(workspace_id, query), "p": {"name": name}}
    # The standard encoder escapes what is no UTF-8: a folder's name may be any bytes.
    return base64.urlsafe_b64encode(json.dumps(cursor, separators=(",", ":")).encode()).rstrip(b"=").decode()


def read_cursor(text: str, workspace_id: str, query: CatalogQuery) -> str:
    """Return the name behind which the page begins.

    Raises:
        InvalidRequest: the cursor is damaged, or belongs to a list of another kind or with other filters.
    """
    details = {"parameter": "cursor"}
    try:
        if len(text) > _LONGEST_CURSOR:
            raise ValueError("too long")
        cursor = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        version, kind, fingerprint, name = cursor["v"], cursor["k"], cursor["f"], cursor["p"]["name"]
        if not isinstance(name, str) or type(version) is not int:
            raise ValueError("not a position")
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error) as error:
        raise InvalidRequest(
            "query parameter 'cursor' cannot be read: take next_cursor of the page before, unchanged",
            code="invalid_cursor",
            details=details,
        ) from error
    if (version, kind, fingerprint) != (_VERSION, _KIND, _fingerprint(workspace_id, query)):
        raise InvalidRequest(
            "query parameter 'cursor' belongs to a list with other filters: start again without it",
            code="invalid_cursor",
            details=details,
        )
    return name


async def _dropped(reading: Awaitable[T]) -> T:
    close = getattr(reading, "close", None)
    if close is not None:
        close()
    raise StoreUnavailable("the store has not answered an earlier read yet; end the process that locks its file")


def _always() -> bool:
    return True


def _collect(task: "asyncio.Future[T]") -> None:
    """Take the result of a read nobody waits for any more."""
    if not task.cancelled():
        task.exception()
