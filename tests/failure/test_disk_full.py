"""A full disk under a real daemon: the turn fails in words, nothing stored is lost, and service resumes (issue 6).

The limit on the size of the daemon's files stands for a full disk; it is put on the running process from outside and
needs no rights (Linux `prlimit`).
"""

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError
from tests.kit.daemons import clean_environment, make_home, wait_until
from tests.kit.sessions import World

if not hasattr(resource, "prlimit"):
    pytest.skip("needs prlimit (Linux)", allow_module_level=True)


# Room for some updates of a turn, and for nothing at all.
SOME, NOTHING = 4_000_000, 4_096


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    limit(made, -1)
    made.end()


def limit(world: World, size: int) -> None:
    """Let no file of the daemon grow beyond a size, -1: without end."""
    resource.prlimit(world.daemon.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_turn_on_a_full_disk_fails_clearly_nothing_is_lost_and_service_resumes(world: World) -> None:
    text = "x" * 400
    world.agent("flood", {"prompts": [[{"text": "one"}], [{"flood": 20_000, "text": text}], [{"text": "three"}]]})
    session = world.create("flood")
    world.prompt(session)
    before = world.events(session)

    limit(world, SOME)
    broken = world.prompt(session)
    assert broken.done and broken.of("error"), "the stream ends and says so"
    shown = [frame["delta"] for frame in broken.of("text-delta")]
    assert 0 < len(shown) < 20_000
    kept = world.events(session, after_sequence=0)
    assert kept[: len(before)] == before, "what was stored is all there"
    limit(world, NOTHING)
    with pytest.raises(ApiError) as refused:
        for _ in range(50):
            world.create("flood")
    assert refused.value.status == 503 and refused.value.code == "store_unavailable"
    assert "disk" in str(refused.value)
    assert world.client.request("GET", "/api/status").status == 200

    limit(world, -1)
    wait_until(lambda: world.refresh(session)["badge"] != "running", "the session is at rest")
    again = world.prompt(session)
    assert again.finish == "stop"
    assert world.create("flood")["state"] == "active"
    every, after = [], 0
    while page := world.events(session, after_sequence=after):
        every += page
        after = page[-1]["sequence"]
    assert [event["sequence"] for event in every] == list(range(1, len(every) + 1)), "no gap"
    told = [event["content"]["text"] for event in every if event["type"] == "agent_message"]
    assert told[1 : len(shown) + 1] == shown, "all that was shown is stored, in order"
    ends = [event["type"] for event in every if event["type"] in ("done", "error")]
    assert ends == ["done", "error", "done"], "each turn ended once"


def test_what_was_shown_on_a_full_disk_survives_a_killed_daemon(world: World) -> None:
    world.agent("flood", {"prompts": [[{"text": "one"}], [{"flood": 20_000, "text": "y" * 400}]]})
    session = world.create("flood")
    world.prompt(session)
    limit(world, SOME)
    shown = [frame["delta"] for frame in world.prompt(session).of("text-delta")]
    world.daemon.kill()
    world.client.close()
    world._client = None
    world.daemon.start()
    events, after = [], 0
    while page := world.events(session, after_sequence=after):
        events += page
        after = page[-1]["sequence"]
    told = [event["content"]["text"] for event in events if event["type"] == "agent_message"]
    assert told[1 : len(shown) + 1] == shown
    assert json.loads(json.dumps(world.refresh(session)))["state"] == "stopped"
    assert world.prompt(session).finish == "stop"


@pytest.mark.parametrize("room", [0, 1, 100])
@pytest.mark.parametrize("foreground", [False, True])
def test_a_start_without_room_ends_in_a_sentence_with_a_next_step(
    tmp_path: Path, room: int, foreground: bool
) -> None:
    home = make_home(tmp_path / "home", http=False)
    limited = (
        f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}));"
        "os.execv(sys.executable, [sys.executable, '-m', 'compozy', 'daemon', 'start', *sys.argv[1:]])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", limited, *(["--foreground"] if foreground else [])],
        env=clean_environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "Error:" not in ended.stderr and "Traceback" not in ended.stderr
    assert "free some space" in ended.stderr and "start it again" in ended.stderr
