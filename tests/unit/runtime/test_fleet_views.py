"""Views of a fleet: changes are seen however expensive a look is, also when other places looked before (P27)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from compozy.model.workspace import Workspace
from compozy.runtime import fleet_views
from compozy.runtime.fleet_views import FleetViews
from tests.kit.agent_files import write_agent
from tests.kit.store_records import workspace_in

pytestmark = pytest.mark.anyio


def workspace(root: Path) -> Workspace:
    root.mkdir(exist_ok=True)
    return workspace_in(root)


@pytest.fixture
async def views(tmp_path: Path) -> AsyncIterator[FleetViews]:
    made = FleetViews(tmp_path / "home")
    yield made
    await made.close()


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fleet counts as large."""
    monkeypatch.setattr(fleet_views, "_SMALL_FLEET", -1)


async def confirmed(views: FleetViews, place: Workspace, name: str) -> str:
    index = await views.confirm(place, await views.get(place), (name,))
    entry = index.get(name)
    return entry.agent.loaded.definition.prompt if entry and entry.agent else ""


@pytest.mark.usefixtures("large")
async def test_a_row_about_to_be_shown_is_compared_with_its_file(views: FleetViews, tmp_path: Path) -> None:
    place = workspace(tmp_path / "shop")
    agents = tmp_path / "shop" / ".compozy" / "agents"
    write_agent(agents, "ann", prompt="One.\n")
    assert await confirmed(views, place, "ann") == "One."
    for number in range(20):
        write_agent(agents, "ann", prompt=f"Edit {number:04}.\n")
        assert await confirmed(views, place, "ann") == f"Edit {number:04}."
    write_agent(agents, "bob", prompt="New.\n")
    assert await confirmed(views, place, "bob") == "New.", "the root changed"
    (agents / "bob").rename(agents / "rob")
    assert await confirmed(views, place, "bob") == "New.", "a renamed folder still declares its name"
    assert (await views.get(place)).get("bob") is not None


@pytest.mark.usefixtures("large")
async def test_what_another_place_read_first_does_not_hide_a_change(views: FleetViews, tmp_path: Path) -> None:
    one, two = workspace(tmp_path / "one"), workspace(tmp_path / "two")
    write_agent(tmp_path / "home", "ann", prompt="One.\n")
    for place in (one, two):
        assert await confirmed(views, place, "ann") == "One."
    write_agent(tmp_path / "home", "ann", prompt="Two.\n")
    assert await confirmed(views, one, "ann") == "Two."
    assert await confirmed(views, two, "ann") == "Two."
    views.forget()
    index = (await views.get(two)).get("ann")
    assert index is not None and index.agent is not None and index.agent.loaded.definition.prompt == "Two."


@pytest.mark.usefixtures("large")
async def test_an_unchanged_fleet_keeps_its_view(views: FleetViews, tmp_path: Path) -> None:
    place = workspace(tmp_path / "shop")
    write_agent(tmp_path / "shop" / ".compozy" / "agents", "ann")
    first = await views.get(place)
    views.forget()
    assert await views.get(place) is first


async def test_a_small_fleet_is_looked_at_for_every_read(views: FleetViews, tmp_path: Path) -> None:
    place = workspace(tmp_path / "shop")
    agents = tmp_path / "shop" / ".compozy" / "agents"
    for number in range(10):
        write_agent(agents, f"agent-{number}")
        assert len((await views.get(place)).entries) == number + 1
