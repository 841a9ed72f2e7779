"""The embedded agent through a real daemon: what it is told around a task does not change what it looks for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sessions import World
from tests.unit.offline_agent.trees import Needle, plant


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path).start()
    world.write_agent(world.daemon.home.agents, "scout", provider="offline")
    yield world
    world.end()


@pytest.fixture
def needle(world: World) -> Needle:
    return plant(world.workspace, 11)


def looked_for(text: str) -> str:
    """Return the sentence that names the words."""
    return next(line for line in text.splitlines() if line.startswith("I look for"))


def test_a_needle_is_found_in_the_first_turn_in_a_later_one_and_after_a_restart(world: World, needle: Needle) -> None:
    first, second = needle.words.split()
    wanted = f"I look for `{first}`, `{second}`."
    session = world.create("scout", permissions="approve-reads")
    for _ in range(2):
        text = world.prompt(session, f"Where is {needle.words}?").text
        assert looked_for(text) == wanted and f"**1. {needle.path}:{needle.line}**" in text
    world.post(session, "/stop")
    text = world.prompt(session, f"Where is {needle.words}?").text
    assert looked_for(text) == wanted, "a replayed conversation is no part of the task"
    assert f"**1. {needle.path}:{needle.line}**" in text


def test_with_everything_approved_it_uses_the_terminal_and_writes_without_a_person(
    world: World, needle: Needle
) -> None:
    session = world.create("scout", permissions="approve-all")
    stream = world.prompt(session, f"Find {needle.words} and write the findings to out/found.md")
    kinds = [frame["data"]["raw"].get("kind") for frame in stream.of("data-compozy-event")]
    assert "execute" in kinds and "edit" in kinds and "search" not in kinds
    assert f"{needle.path}:{needle.line}" in (world.workspace / "out/found.md").read_text()


def test_with_everything_denied_it_says_that_it_may_not_read(world: World, needle: Needle) -> None:
    session = world.create("scout", permissions="deny-all")
    stream = world.prompt(session, f"Find {needle.words} and write the findings to found.md")
    assert "let me read none" in stream.text and needle.path not in stream.text
    assert stream.finish == "stop" and not (world.workspace / "found.md").exists()
