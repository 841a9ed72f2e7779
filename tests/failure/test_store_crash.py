"""The store when its process is killed or its disk is full: what was acknowledged is there, nothing is half there."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.store.interface import EventQuery
from compozy.store.sqlite import SqliteStore
from tests.kit import fuzzing
from tests.kit.store_writer import BATCH

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]
SESSIONS = 5


def write_until_killed(path: Path, acknowledgements: int) -> dict[str, int]:
    """Return the last acknowledged batch of each session of a writer that was killed after so many lines."""
    acknowledged: dict[str, int] = {}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.kit.store_writer", str(path), str(SESSIONS)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for count, line in enumerate(process.stdout, start=1):
            if count == acknowledgements:
                process.send_signal(signal.SIGKILL)
            session_id, number = line.split()
            acknowledged[session_id] = int(number)
    assert process.returncode == -signal.SIGKILL
    return acknowledged


@pytest.mark.fuzz
async def test_a_killed_writer_leaves_every_acknowledged_event_whole_batches_and_no_gap(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    points = fuzzing.draws(2)
    for _ in range(fuzzing.times(8)):
        acknowledged = write_until_killed(path, points.randint(1, 150))
        store = SqliteStore(path)
        await store.open()
        for session_id, number in acknowledged.items():
            events = await store.read_events(session_id, EventQuery(after_sequence=0, limit=100_000))
            assert [event.sequence for event in events] == list(range(1, len(events) + 1))
            batches = len(events) // BATCH
            assert batches >= number, "an acknowledged batch is missing"
            assert [event.turn_id for event in events] == [f"turn-{n // BATCH + 1}" for n in range(batches * BATCH)]
            record = await store.get_session(session_id)
            assert record is not None and record.turn_id == f"turn-{batches}", "the row changes with its events"
        await store.close()


def test_a_full_disk_fails_the_append_keeps_what_was_stored_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.kit.store_full_disk", str(tmp_path / "compozy.db")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["unavailable"]
    assert "compozy.db" in told["message"] and "free space" in told["message"]
    assert told["acknowledged"] > 10
    assert told["kept"] == list(range(1, told["acknowledged"] + 1))
    assert told["after"] == told["acknowledged"] + 1
