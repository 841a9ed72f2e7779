"""Selectors are kept by place and never outlive what they were made of."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.model.agent import Agent
from compozy.model.workspace import Workspace
from compozy.runtime import fleet as fleet_module
from compozy.runtime import selection_kept
from compozy.runtime.fleet import Fleet
from compozy.runtime.selection import AgentSelector, Wishes
from compozy.runtime.selection_kept import KeptSelectors
from tests.kit.agent_files import write_agent
from tests.kit.store_records import workspace_in

pytestmark = pytest.mark.anyio
CAPABILITY = '[[capabilities]]\nid = "{0}"\nsummary = "{1}"\noutcome = "It is done"\n'


def workspace(root: Path, summary: str) -> Workspace:
    path = write_agent(root / ".compozy" / "agents", f"of-{root.name}", extra="provider: offline\n")
    path.with_name("capabilities.toml").write_text(CAPABILITY.format("work", summary))
    return workspace_in(root)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of the agents of every selector that was built."""
    built: list[list[str]] = []

    class Counted(AgentSelector):
        def __init__(self, agents: list[Agent], **more: object) -> None:
            built.append([agent.name for agent in agents])
            super().__init__(agents)

    monkeypatch.setattr(fleet_module, "AgentSelector", Counted)
    return built


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    home = Home(tmp_path / "home")
    home.create()
    opened = Fleet(home, Config())
    yield opened
    await opened.close()


async def test_workspaces_that_are_asked_in_turns_are_indexed_once_each(
    fleet: Fleet, made: list[list[str]], tmp_path: Path
) -> None:
    ports, mills = (workspace(tmp_path / name, name) for name in ("harbours", "windmills"))
    for _ in range(3):
        assert (await fleet.select("harbours", ports)).agent == "of-harbours"
        assert (await fleet.select("windmills", mills)).agent == "of-windmills"
        assert not (await fleet.select("windmills", ports)).fits
    assert made == [["of-harbours"], ["of-windmills"]]


async def test_a_changed_capability_is_seen_at_once_and_costs_the_other_places_nothing(
    fleet: Fleet, made: list[list[str]], tmp_path: Path
) -> None:
    ports, mills = (workspace(tmp_path / name, name) for name in ("harbours", "windmills"))
    for place in (ports, mills):
        await fleet.select("harbours", place)
    workspace(tmp_path / "harbours", "Bakes bread with sourdough")
    assert (await fleet.select("bake sourdough bread", ports)).fits
    assert not (await fleet.select("harbours", mills)).fits
    assert made == [["of-harbours"], ["of-windmills"], ["of-harbours"]]


async def test_wishes_see_the_skills_of_the_moment_without_another_index(
    fleet: Fleet, made: list[list[str]], tmp_path: Path
) -> None:
    ports = workspace(tmp_path / "harbours", "harbours")
    wishes = Wishes(required=("pilot",))
    assert not (await fleet.select("harbours", ports, wishes)).fits
    skill = tmp_path / "harbours/.compozy/skills/pilot/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: pilot\ndescription: Brings ships in\n---\nGo.\n")
    assert (await fleet.select("harbours", ports, wishes)).fits
    assert (await fleet.select("harbours", ports)).fits
    assert made == [["of-harbours"]]


def test_the_places_asked_longest_ago_go_when_there_are_many_or_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, view = KeptSelectors(), object()
    made: list[str] = []
    two = [
        Agent(name=name, prompt="", provider="", origin="global", definition_digest="d", capabilities=())
        for name in "ab"
    ]

    def make(place: str) -> AgentSelector:
        made.append(place)
        return AgentSelector(two)

    def ask(place: str) -> None:
        kept.get(place, view, lambda: make(place))

    for place in "abcdefghaibc":
        ask(place)
    assert "".join(made) == "abcdefghib" + "c"
    monkeypatch.setattr(selection_kept, "_MOST_DOCUMENTS", 5)
    made.clear()
    for place in "xyxzxy":
        ask(place)
    assert "".join(made) == "xyzy"
