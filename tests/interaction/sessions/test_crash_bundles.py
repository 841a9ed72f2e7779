"""An agent that dies leaves a bundle of what was known: private, without secrets, bounded (contract §1.1)."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from compozy.runtime.sessions.supervision.crash_bundle import KEPT, MOST_BYTES
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

TOKEN = "tok_" + "7f3a9" * 4


def bundle_of(world: World, session: dict[str, Any]) -> dict[str, Any]:
    path = Path(world.refresh(session)["failure"]["crash_bundle_path"])
    assert path.parent == world.daemon.home.root / "logs" / "crash-bundles"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.stat().st_size <= 2 * MOST_BYTES
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_death_in_a_turn_leaves_exit_code_last_words_and_last_events(world: World) -> None:
    steps = [{"text": "half"}, {"stderr": f"boom, api_key={TOKEN}\\n"}, {"exit": 9}]
    world.agent("mortal", {"prompts": [steps]})
    session = world.create("mortal")
    stream = world.prompt(session)
    found = bundle_of(world, session)
    assert found["schema"] == "compozy.session_crash_bundle.v2"
    assert found["session"]["id"] == session["id"] and found["turn_id"] == stream.turn_id
    assert found["process"]["exit_code"] == 9 and "boom" in found["process"]["stderr_tail"]
    assert found["failure"]["kind"] == "process_exit"
    assert {"user_message", "agent_message", "runtime_recovery_started"} <= {e["type"] for e in found["events"]}
    assert TOKEN not in json.dumps(found) and "[REDACTED]" in json.dumps(found)


def test_a_death_while_idle_leaves_one_too(world: World) -> None:
    world.agent("mortal", {"prompts": [[{"text": "bye"}]], "late": [{"stderr": "out of memory\\n"}, {"exit": 5}]})
    session = world.create("mortal")
    world.prompt(session)
    wait_until(lambda: world.refresh(session)["state"] == "stopped", "the death is noticed")
    found = bundle_of(world, session)
    assert found["process"]["exit_code"] == 5 and "out of memory" in found["process"]["stderr_tail"]


def test_an_agent_that_cannot_start_leaves_one_named_in_the_answer(world: World) -> None:
    world.agent("brief", {"start": [{"stderr": "no licence\\n"}, {"exit": 3}]})
    session = world.create("brief")
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go"))
    path = Path(refused.value.envelope["details"]["crash_bundle_path"])
    found = json.loads(path.read_text())
    assert found["failure"]["kind"] == "startup_failure" and "no licence" in found["process"]["stderr_tail"]


def test_a_program_that_is_missing_or_a_clean_exit_leaves_none(own_world: World) -> None:
    world = own_world
    world.write_agent(world.daemon.home.agents, "ghost", command="no-such-program-anywhere --acp")
    with pytest.raises(ApiError):
        world.post(session := world.create("ghost"), "/prompt", world.prompt_body("go"))
    world.agent("polite", {"late": [{"exit": 0}]})
    session = world.create("polite")
    world.prompt(session)
    wait_until(lambda: world.refresh(session)["state"] == "stopped", "the exit is noticed")
    assert not (world.daemon.home.root / "logs" / "crash-bundles").exists()


def test_only_the_newest_bundles_are_kept_and_huge_events_are_cut(own_world: World) -> None:
    world = own_world
    folder = world.daemon.home.root / "logs" / "crash-bundles"
    folder.mkdir(mode=0o700, parents=True)
    for number in range(KEPT + 5):
        (folder / f"20000101T0000{number:02}000000Z-sess-old.json").write_text("{}")
    steps = [{"repeat": 60, "steps": [{"huge": 20000}]}, {"stderr_flood": 300000}, {"exit": 9}]
    world.agent("mortal", {"prompts": [steps]})
    session = world.create("mortal")
    world.prompt(session)
    found = bundle_of(world, session)
    assert any("cut" in event["content"] for event in found["events"])
    assert len(list(folder.glob("*.json"))) == KEPT
