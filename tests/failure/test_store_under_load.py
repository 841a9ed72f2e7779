"""Eight sessions stream while lists are read and a backup is taken: nothing is lost, nobody is locked out (P62)."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sessions import World

SESSIONS = 8
UPDATES = 60


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    made.end()


def test_eight_streams_lists_and_a_backup_lose_no_event_and_meet_no_lock(world: World, tmp_path: Path) -> None:
    steps = [{"repeat": UPDATES, "steps": [{"text": "x"}, {"sleep": 0.02}]}, {"text": "END"}]
    world.agent("steady", {"prompts": [steps]})
    sessions = [world.create("steady") for _ in range(SESSIONS)]
    done = threading.Event()
    problems: list[str] = []

    def drive(session: dict[str, object]) -> None:
        with world.daemon.client() as client:
            body = {"message": "go", "message_id": "m", "idempotency_key": "k"}
            with client.stream("POST", world.path(session, "/prompt"), body=body, timeout=60) as stream:
                problems.extend(event.data for event in stream if event is not None and '"error"' in event.data)

    def read() -> None:
        with world.daemon.client() as client:
            while not done.is_set():
                for path in ("/api/sessions", "/api/status"):
                    if client.request("GET", path).status != 200:
                        problems.append(path)

    drivers = [threading.Thread(target=drive, args=(session,)) for session in sessions]
    reader = threading.Thread(target=read)
    for thread in (*drivers, reader):
        thread.start()
    copy = world.client.request("POST", "/api/backups", body={"path": str(tmp_path / "copy")}, timeout=60)
    assert copy.status == 201
    for thread in drivers:
        thread.join(120)
    done.set()
    reader.join(60)
    assert problems == []
    for session in sessions:
        texts = [event["content"]["text"] for event in world.events(session, type="agent_message")]
        assert texts == ["x"] * UPDATES + ["END"]
    assert "locked" not in world.daemon.home.log_file.read_text()
