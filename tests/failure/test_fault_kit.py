"""Every fault of the kit through a real daemon: final state, stored events, answer, no process, bounded memory."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import Daemon, make_home, wait_until
from tests.kit.faults import FAULTS, TOKEN, Fault
from tests.kit.leftovers import left_after
from tests.kit.sessions import Stream, World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

LIMITS = {
    "": "",
    "silence": 'inactivity_warning_after = "200ms"\ninactivity_timeout = "800ms"\ntimeout_cancel_grace = "300ms"\n',
    "grace": 'timeout_cancel_grace = "300ms"\n',
}
# What a scenario may add to the daemon at its highest point.
MEMORY = 128 * 1024 * 1024
ALIVE = '!steps [{"text": "alive"}]'


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Daemon]]:
    """A patient daemon and the impatient ones."""
    folder = tmp_path_factory.mktemp("faults")
    made = {
        limit: Daemon(
            make_home(folder / f"home{limit}", config=f"[session.supervision]\n{rules}", http=False)
        ).start()
        for limit, rules in LIMITS.items()
    }
    yield made
    for daemon in made.values():
        daemon.end()


def _filled(script: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put the test's folder into a script."""
    filled: dict[str, Any] = json.loads(json.dumps(script).replace("{folder}", str(folder)))
    return filled


def _memory(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise AssertionError(name)


def _prompt(world: World, session: dict[str, Any], fault: Fault) -> Stream:
    frames: list[dict[str, Any]] = []
    done = cancelled = False
    for frame in world.frames(session):
        if frame is None:
            done = True
            continue
        frames.append(frame)
        if fault.cancel_at and frame["type"] == fault.cancel_at and not cancelled:
            cancelled = True
            world.post(session, "/prompt/cancel")
    return Stream(frames, done)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.group:02}-{fault.name}")
def test_a_fault_ends_as_it_must(fault: Fault, daemons: dict[str, Daemon], tmp_path: Path) -> None:
    world = World(tmp_path, daemon=daemons[fault.limit])
    (world.workspace / "lines").write_text("one\ntwo\nthree\n")
    (world.workspace / "binary").write_bytes(b"\x00\xff\xfe")
    (world.workspace / "link").symlink_to("/etc/hostname")
    try:
        name = f"f{fault.group}-{fault.name}".lower().replace("_", "-")
        world.agent(name, _filled(fault.script, tmp_path), **fault.fields)
        session = world.create(name)
        if fault.stop_first:
            world.prompt(session, ALIVE)
            world.post(session, "/stop")
        pid = world.daemon.pid
        Path(f"/proc/{pid}/clear_refs").write_text("5")
        before = _memory(pid, "VmRSS")
        stream = _answer(world, session, fault)
        assert _memory(pid, "VmHWM") - before < MEMORY, "memory stays bounded"
        _check(world, session, fault, stream)
        if fault.goes_on:
            again = world.prompt_until(session, "alive", ALIVE) if fault.limit else world.prompt(session, ALIVE)
            assert "alive" in again.text and again.done, "the session goes on"
        world.post(session, "/stop")
        assert left_after(f"COMPOZY_SESSION_ID={session['id']}") == [], "no process is left"
        assert world.refresh(session)["state"] == "stopped"
        stored = json.dumps([world.refresh(session), world.events(session, limit=200)])
        assert TOKEN not in stored and TOKEN not in world.daemon.home.log_file.read_text()
    finally:
        world.end()


def _answer(world: World, session: dict[str, Any], fault: Fault) -> Stream | None:
    """Return what the client was told: a stream that ends, or nothing when the prompt was refused as it must be."""
    if not fault.refused:
        stream = _prompt(world, session, fault)
        assert stream.done and len(stream.of("finish")) == 1, "the client's stream ends"
        assert fault.text in stream.text
        return stream
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go"))
    assert refused.value.code == fault.refused and str(refused.value)
    return None


def _check(world: World, session: dict[str, Any], fault: Fault, stream: Stream | None) -> None:
    def state() -> tuple[str, str]:
        found = world.refresh(session)
        return found["state"], found.get("stop_reason") or ""

    wait_until(lambda: state() == fault.state, f"the state becomes {fault.state}, it is {state()}")
    events = world.events(session)
    numbers = [event["sequence"] for event in events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else stream is None
    if stream is None:
        assert [e["type"] for e in events if e["type"] in ("user_message", "done", "error")] == []
        return
    mine = [event for event in events if event["turn_id"] == stream.turn_id]
    ends = [event for event in mine if event["type"] in ("done", "error")]
    assert [(end["type"], end["content"]["stop_reason"]) for end in ends] == [fault.end]
    assert set(fault.kinds) <= {event["type"] for event in events}
    opened = {e["content"]["tool_call_id"] for e in events if e["type"] == "tool_call"}
    closed = {e["content"]["tool_call_id"] for e in events if e["type"] == "tool_result"}
    unfinished = opened - closed
    # What an agent does by itself after a turn is closed with the next one.
    assert not unfinished or fault.name == "agent-goes-on-by-itself"
    assert world.refresh(session)["pending_interactions"] == []
    if fault.group == 12:
        texts = [e["content"]["text"] for e in events if e["type"] == "agent_message"]
        assert not [text for text in texts if text.startswith("old")], "what was replayed is not stored"


def test_a_write_after_the_turn_wrote_nothing(tmp_path: Path, daemons: dict[str, Daemon]) -> None:
    world = World(tmp_path, daemon=daemons[""])
    try:
        late = [{"write": "{cwd}/late", "content": "no"}, {"touch": str(tmp_path / "tried")}]
        world.agent("late-writer", {"prompts": [[{"text": "x"}]], "late": late}, permissions="approve-reads")
        world.prompt(world.create("late-writer"))
        wait_until((tmp_path / "tried").exists, "the agent has tried")
        assert not (world.workspace / "late").exists()
    finally:
        world.end()
