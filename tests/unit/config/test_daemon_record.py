"""daemon.json and process identity: a claim that is checked before it is believed (P64)."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from compozy.config.daemon_record import MAX_BYTES, DaemonRecord, read_record, remove_record, write_record
from compozy.config.process_identity import is_same_process, own_start_time, start_time

RECORD = DaemonRecord(pid=4711, port=1, started_at="2026-01-01T00:00:00Z", process_start="x", socket="/s")


def test_a_record_reads_back_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    write_record(path, RECORD)
    assert read_record(path) == RECORD
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "{}", '{"pid": "1", "port": 1, "started_at": ""}',
        '{"pid": true, "port": 1, "started_at": ""}',
        '{"pid": 1, "port": 1}', '{"pid": 1, "port": 1, "started_at": 3}', '{"pid": 1', "\x00" * 10,
        json.dumps({"pid": 1, "port": 1, "started_at": "x" * MAX_BYTES}),
    ],
)  # fmt: skip
def test_a_record_that_makes_no_sense_counts_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "daemon.json"
    path.write_text(text)
    assert read_record(path) is None


def test_a_record_of_another_implementation_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"pid": 1, "port": 2, "started_at": "t", "network": {"enabled": true, "status": "ready"}}')
    record = read_record(path)
    assert record is not None and (record.pid, record.port) == (1, 2)
    assert not record.is_alive


def test_a_record_is_removed_only_by_its_own_process(tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    write_record(path, RECORD)
    remove_record(path, 1)
    assert path.exists()
    remove_record(path, RECORD.pid)
    assert not path.exists()


def test_a_process_is_known_by_pid_and_start_time() -> None:
    assert is_same_process(os.getpid(), own_start_time())
    assert not is_same_process(os.getpid(), "another time")
    assert not is_same_process(os.getpid(), "")
    assert start_time(0) == "" and start_time(2**22 + 1) == ""


def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen(["true"]) as child:
        started = start_time(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert start_time(child.pid) == ""
        assert not is_same_process(child.pid, started)
