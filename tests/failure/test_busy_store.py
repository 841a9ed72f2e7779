"""The store under everything at once: streams, lists, backups, retention, sessions that come and go (P62, P63)."""

import json
import threading
from pathlib import Path
from typing import Any

from compozy.daemon.backups import make_backup
from compozy.model.backup import BackupReport
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

STREAMS, EVENTS = 8, 100
CYCLES = 250
MIB = 1024 * 1024


def test_eight_streams_lists_backups_and_retention_at_once_lose_nothing_and_nobody_hears_of_locks(
    world: World, tmp_path: Path
) -> None:
    beat = {"repeat": EVENTS, "steps": [{"text": "tick "}, {"sleep": 0.02}]}
    world.agent("clock", {"prompts": [[beat]]})
    sessions: list[dict[str, Any]] = [world.create("clock") for _ in range(STREAMS)]
    for session in sessions:
        frames = world.frames(session)
        next(frames)
        frames.close()
    backups: list[BackupReport] = []
    copying = threading.Thread(
        target=lambda: backups.extend(make_backup(world.daemon.home, tmp_path / f"b{n}") for n in range(3))
    )
    copying.start()

    def are_done() -> bool:
        page = world.client.request("GET", "/api/sessions", query={"limit": "100"}).json()
        report = world.client.request("POST", "/api/retention", body={"dry_run": True, "max_age": "1h"}).json()
        assert report["report"]["sessions"] == 0
        return all(row["badge"] not in ("running",) for row in page["sessions"])

    wait_until(are_done, "all turns end", seconds=60)
    copying.join(60)
    assert len(backups) == 3 and backups[-1].sessions == STREAMS
    for session in sessions:
        events = world.events(session)
        assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
        types = [event["type"] for event in events]
        assert types.count("agent_message") == EVENTS and types[-1] == "done"
    log = world.daemon.home.log_file.read_text()
    assert "locked" not in log and not [line for line in log.splitlines() if json.loads(line)["level"] == "ERROR"]


def test_hundreds_of_sessions_that_come_and_go_leave_no_descriptor_and_a_short_log(world: World) -> None:
    world.agent("ann")
    kept = world.create("ann")
    world.prompt(kept)
    for _ in range(50):
        world.client.request("DELETE", world.path(world.create("ann")))
    before = world.daemon.descriptors()
    for _ in range(CYCLES):
        world.client.request("DELETE", world.path(world.create("ann")))
    wait_until(lambda: world.daemon.descriptors() <= before + 5, "the descriptors are back where they were")
    log = world.daemon.home.database.with_name("compozy.db-wal")
    assert log.stat().st_size <= 64 * MIB
    wait_until(lambda: world.daemon.home.database.stat().st_size <= 4 * MIB, "the store is small again")
    assert world.types(kept)[-1] == "done"
