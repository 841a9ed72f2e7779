"""Which definition wins, over every combination of sources, whatever order a folder lists its names in (P25)."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compozy.catalog import discovery
from compozy.catalog.discovery import ExtensionAgents, discover
from tests.kit import fuzzing
from tests.kit.agent_files import write_agent

ORDER = ("workspace", "additional one", "additional two", "home", "extension b", "extension a")


def folders(tmp_path: Path) -> dict[str, Path]:
    return {
        "workspace": tmp_path / "w" / ".compozy" / "agents",
        "additional one": tmp_path / "one" / ".compozy" / "agents",
        "additional two": tmp_path / "two" / ".compozy" / "agents",
        "home": tmp_path / "home",
        "extension b": tmp_path / "b",
        "extension a": tmp_path / "a",
    }


@pytest.mark.fuzz
def test_the_first_source_wins_in_every_combination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = folders(tmp_path)
    chance = fuzzing.draws(25)
    for choice in itertools.product((False, True), repeat=len(ORDER)):
        name = "agent-" + "".join(map(str, map(int, choice)))
        for place, is_there in zip(ORDER, choice, strict=True):
            if is_there:
                write_agent(places[place], name, prompt=f"From {place}.\n")
    real: Callable[[int], list[str]] = os.listdir

    def shuffled(handle: int) -> list[str]:
        names = real(handle)
        chance.shuffle(names)
        return names

    monkeypatch.setattr(discovery.os, "listdir", shuffled)
    found = discover(
        workspace=tmp_path / "w",
        additional=(tmp_path / "one", tmp_path / "two"),
        home_agents=places["home"],
        extensions=[ExtensionAgents(extension=letter, folder=tmp_path / letter) for letter in "ba"],
    )
    assert len(found.agents) == 2 ** len(ORDER) - 1
    for choice in itertools.product((False, True), repeat=len(ORDER)):
        name = "agent-" + "".join(map(str, map(int, choice)))
        sources = [place for place, is_there in zip(ORDER, choice, strict=True) if is_there]
        winner = found.agent(name)
        prompts = [winner.loaded.definition.prompt] if winner else []
        prompts += [loser.loaded.definition.prompt for loser in found.shadowed if loser.name == name]
        assert prompts == [f"From {place}." for place in sources], name
        if winner is not None:
            assert winner.origin == ("workspace" if sources[0] in ORDER[:3] else "global")
            assert winner.extension == (sources[0][-1] if sources[0].startswith("extension") else "")
