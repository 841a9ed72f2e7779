"""The fleet catalog: paging over names, filters before the cut, facets over everything (contract §3.2–3.3)."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.model.errors import InvalidRequest
from compozy.model.fleet import CatalogPage
from compozy.runtime import agent_catalog
from compozy.runtime.agent_catalog import AgentCatalog, CatalogQuery
from compozy.runtime.fleet import Fleet
from compozy.store.interface import StoreUnavailable
from compozy.store.memory import MemoryStore
from tests.kit import fuzzing
from tests.kit.agent_files import write_agent
from tests.kit.store_records import make_session, moment, workspace_in

pytestmark = pytest.mark.anyio


class Place:
    """A workspace on disk with its catalog."""

    def __init__(self, folder: Path) -> None:
        self.agents = folder / "shop" / ".compozy" / "agents"
        self.agents.mkdir(parents=True)
        self.home = Home(folder / "home")
        self.home.create()
        self.store = MemoryStore()
        self.fleet = Fleet(self.home, Config())
        self.catalog = AgentCatalog(self.fleet, self.store)
        self.workspace = workspace_in(folder / "shop")

    def write(self, name: str, *, category: str = "", prompt: str = "You help.\n") -> None:
        write_agent(self.agents, name, prompt=prompt, extra=f"category_path: [{category}]\n" if category else "")

    async def page(self, **query: object) -> CatalogPage:
        return await self.catalog.page(self.workspace, CatalogQuery(**query))  # type: ignore[arg-type]

    async def names(self, *, between: Callable[[], None] = lambda: None, **query: object) -> list[str]:
        """Every name of every page."""
        found: list[str] = []
        cursor = ""
        while True:
            page = await self.page(cursor=cursor, **query)
            found.extend(row.agent.name for row in page.agents)
            assert page.page.has_more is (page.page.next_cursor is not None)
            if page.page.next_cursor is None:
                return found
            cursor = page.page.next_cursor
            between()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    await made.fleet.close()


async def session(place: Place, name: str, number: int, **fields: object) -> None:
    values = {"agent_name": name, "workspace_id": "ws_shop", **fields}
    await place.store.put_session(make_session(f"sess-{number}", **values))  # type: ignore[arg-type]


async def test_rows_come_in_name_order_with_what_their_sessions_did(place: Place) -> None:
    place.write("beta")
    place.write("alpha", category="quality, review")
    await session(place, "beta", 1, state="stopped", updated=60)
    await session(place, "beta", 2, state="active", last_activity_at=moment(90))
    page = await place.page()
    assert [row.agent.name for row in page.agents] == ["alpha", "beta"]
    assert page.sessions_available
    idle, busy = (row.sessions for row in page.agents)
    assert idle is not None and (idle.total, idle.active, idle.last_activity_at) == (0, 0, None)
    assert busy is not None and (busy.total, busy.active, busy.failed) == (2, 1, 0)
    assert busy.last_activity_at == moment(90) and busy.runtime_seconds > 60
    assert (page.facets.total, page.facets.active, page.facets.idle) == (2, 1, 1)
    assert page.facets.categories == ("quality / review",)


async def test_filters_apply_before_the_page_is_cut_and_facets_ignore_them(place: Place) -> None:
    for number in range(10):
        place.write(f"agent-{number}", category="team, even" if number % 2 == 0 else "team, odd")
    await session(place, "agent-3", 1, state="active")
    everything = (await place.page()).facets
    for query, expected in (
        ({"name": "agent-3"}, ["agent-3"]),
        ({"name": "agent"}, []),
        ({"q": "AGENT-4"}, ["agent-4"]),
        ({"q": "M / ODD"}, [f"agent-{n}" for n in (1, 3, 5, 7, 9)]),
        ({"category": "team / even"}, [f"agent-{n}" for n in (0, 2, 4, 6, 8)]),
        ({"category": "team"}, []),
        ({"status": "active"}, ["agent-3"]),
        ({"status": "idle", "category": "team / odd"}, [f"agent-{n}" for n in (1, 5, 7, 9)]),
    ):
        assert await place.names(**query, limit=2) == expected, query
        page = await place.page(**query, limit=2)
        assert page.page.total == len(expected) and page.facets == everything


async def test_a_broken_definition_is_one_row_even_where_a_lower_one_takes_over(place: Place) -> None:
    (place.agents / "ann").mkdir()
    (place.agents / "ann" / "AGENT.md").write_text("no header\n")
    write_agent(place.home.agents, "ann")
    (place.agents / "broken").mkdir()
    (place.agents / "broken" / "AGENT.md").write_text("no header\n")
    assert await place.names(limit=1) == ["ann", "broken"]
    ann, broken = (row.agent for row in (await place.page()).agents)
    assert ann.origin == "global" and ann.definition_digest
    assert [item.path for item in ann.diagnostics] == [str(place.agents / "ann" / "AGENT.md")]
    assert broken.definition_digest == "" and broken.diagnostics


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(0, fuzzing.times(100), 10))
async def test_every_name_comes_once_whatever_changes_while_paging(place: Place, start: int) -> None:
    """Reports P59, with files that come, go and change besides: 100 seeds in ten parts."""
    names = [f"agent-{number:02}" for number in range(40)]
    for name in names:
        place.write(name)
        write_agent(place.home.agents, name, prompt="The global one.\n")
    number = 0
    for seed in range(start, start + 10):
        chance = fuzzing.draws(seed)

        async def shake(chance: random.Random = chance) -> None:
            nonlocal number
            for _ in range(3):
                name = chance.choice(names)
                number += 1
                file = place.agents / name / "AGENT.md"
                match chance.randrange(6):
                    case 0:
                        await session(place, name, number, last_activity_at=moment(number))
                    case 1:
                        place.write(name, prompt=f"Edited {number}.\n")
                    case 2:
                        file.write_text("broken for now\n")
                    case 3:
                        file.unlink(missing_ok=True)
                    case 4:
                        place.write(name, category=chance.choice(("one", "two")))
                    case 5:
                        place.write(f"extra-{chance.randrange(9)}")

        found: list[str] = []
        cursor = ""
        while True:
            page = await place.page(cursor=cursor, limit=chance.randint(1, 15))
            found.extend(row.agent.name for row in page.agents)
            if page.page.next_cursor is None:
                break
            cursor = page.page.next_cursor
            await shake()
        kept = [name for name in found if not name.startswith("extra-")]
        assert kept == names, seed
        assert len(found) == len(set(found)), seed


async def test_sessions_of_one_moment_are_neither_repeated_nor_skipped(place: Place) -> None:
    """Reports P60: the order rests on names, so that equal times cannot matter."""
    for number in range(120):
        place.write(f"agent-{number:03}")
        await session(place, f"agent-{number:03}", number, last_activity_at=moment(1))
    sizes = []
    cursor = ""
    while True:
        page = await place.page(cursor=cursor)
        sizes.append(len(page.agents))
        if page.page.next_cursor is None:
            break
        cursor = page.page.next_cursor
    assert sizes == [50, 50, 20]
    assert len(set(await place.names())) == 120


async def test_a_cursor_continues_its_own_list_only(place: Place) -> None:
    for number in range(4):
        place.write(f"agent-{number}")
    cursor = (await place.page(limit=2)).page.next_cursor
    assert cursor is not None and set(cursor) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )
    for query in (
        {"cursor": cursor, "q": "agent"},
        {"cursor": cursor, "status": "idle"},
        {"cursor": cursor, "category": "x"},
        {"cursor": cursor, "name": "agent-1"},
        {"cursor": cursor[: len(cursor) // 2]},
        {"cursor": cursor + "A" * 5000},
        {"cursor": "abc"},
        {"cursor": "é"},
        {"cursor": "eyJ2IjoxfQ"},
        {"cursor": "bnVsbA"},
        {"cursor": "W1tbW1tbW10"},
    ):
        with pytest.raises(InvalidRequest) as caught:
            await place.page(**query)
        assert caught.value.code == "invalid_cursor" and caught.value.details == {"parameter": "cursor"}
    page = await place.page(limit=1, cursor=cursor)
    assert [row.agent.name for row in page.agents] == ["agent-2"], "the size of a page is no filter"


async def test_a_store_that_fails_or_hangs_takes_the_metrics_only(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place.write("ann")
    monkeypatch.setattr(agent_catalog, "_STORE_SECONDS", 0.01)
    release = asyncio.Event()

    async def hang(workspace_id: str) -> frozenset[str]:
        await release.wait()
        return frozenset()

    async def fail(workspace_id: str) -> frozenset[str]:
        raise StoreUnavailable("the store is damaged; put a backup in its place")

    for broken in (fail, hang, fail):
        monkeypatch.setattr(place.store, "active_agents", broken)
        page = await place.page(status="active")
        assert not page.sessions_available
        assert [(row.agent.name, row.sessions) for row in page.agents] == [("ann", None)]
    assert len(caplog.records) == 1, "one line until the sessions are back (reports P29)"
    monkeypatch.undo()
    assert not (await place.page()).sessions_available, "an earlier read still waits: no other joins it"
    release.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (await place.page()).sessions_available
