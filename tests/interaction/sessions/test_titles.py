"""The role `auto_title` over a real daemon: who names a session, when, and what it leaves behind (contract §9)."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.agents import fake_agent_command, received
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

MakeWorld = Callable[..., World]
ANSWER = {"prompts": [[{"text": '"Harbour dues explained."\nand more'}]]}


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[MakeWorld]:
    made: list[World] = []

    def make(role: str, script: dict[str, object]) -> World:
        scripts = tmp_path / "titles"
        scripts.mkdir()
        script = {"record": str(tmp_path / "record"), **script}
        command = json.dumps(fake_agent_command(scripts, script, name="titler"))
        config = f"[providers.titler]\ncommand = {command}\n[roles.auto_title]\n{role}\n"
        made.append(World(tmp_path, config=config).start())
        return made[0]

    yield make
    for world in made:
        world.end()


def _sessions(world: World) -> list[dict[str, object]]:
    found: list[dict[str, object]] = world.client.request("GET", "/api/sessions").json()["sessions"]
    return found


def test_an_unnamed_session_is_named_after_its_first_answer_and_nothing_is_left(make_world: MakeWorld) -> None:
    world = make_world('provider = "titler"', ANSWER)
    world.agent("worker", {"prompts": [[{"text": "Dues are paid monthly."}]]})
    session = world.create("worker")
    world.prompt(session, "how are harbour dues paid?")
    wait_until(lambda: world.refresh(session).get("name"), "the session has a name")
    assert world.refresh(session)["name"] == "Harbour dues explained"
    assert [row["id"] for row in _sessions(world)] == [session["id"]]
    sent = received(world.folder / "record")
    prompts = [message for message in sent if message.get("method") == "session/prompt"]
    assert len(prompts) == 1
    text = json.dumps(prompts)
    assert "how are harbour dues paid?" in text and "Dues are paid monthly." in text
    assert "compozy-runtime-context" not in text and "does what your script" not in text
    opened = [message["params"] for message in sent if message.get("method") == "session/new"]
    assert [params["mcpServers"] for params in opened if isinstance(params, dict)] == [[]]


def test_a_named_session_and_a_second_turn_are_left_alone(make_world: MakeWorld) -> None:
    world = make_world('provider = "titler"', ANSWER)
    world.agent("worker")
    named = world.create("worker", name="mine")
    world.prompt(named)
    other = world.create("worker")
    world.prompt(other)
    # Titles are made in order: when the later session has one, the earlier one was passed over.
    wait_until(lambda: world.refresh(other).get("name"), "the other session has a name")
    assert world.refresh(named)["name"] == "mine"
    world.prompt(other)
    assert len([m for m in received(world.folder / "record") if m.get("method") == "session/prompt"]) == 1


def test_the_next_of_the_chain_is_asked_when_the_first_cannot_start(make_world: MakeWorld) -> None:
    role = 'provider = "gemini"\nfallback_chain = [{ provider = "titler", model = "" }]'
    world = make_world(role, ANSWER)
    world.agent("worker")
    session = world.create("worker")
    world.prompt(session)
    wait_until(lambda: world.refresh(session).get("name"), "the session has a name")


def test_a_title_agent_that_asks_for_anything_gets_nothing(make_world: MakeWorld) -> None:
    target = "{cwd}/made.txt"
    steps = [{"write": target, "content": "x"}, {"text": "Title: A quiet morning"}]
    world = make_world('provider = "titler"', {"prompts": [steps]})
    world.agent("worker")
    session = world.create("worker")
    world.prompt(session)
    wait_until(lambda: world.refresh(session).get("name"), "the session has a name")
    assert world.refresh(session)["name"] == "A quiet morning"
    assert not (world.workspace / "made.txt").exists()


def test_the_embedded_agent_names_nothing_by_itself(make_world: MakeWorld) -> None:
    world = make_world("enabled = true", ANSWER)
    session = world.create("general")
    world.prompt(session, "where is the needle?")
    world.post(session, "/stop")
    assert world.refresh(session).get("name", "") == "" and not (world.folder / "record").exists()
