"""The daemon's log: JSON lines, redacted, private, rotated by size and age."""

import gzip
import json
import logging
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.config.redaction import Redactor
from compozy.config.sections import LogSection
from compozy.daemon.log import RotatingLog, start_log, stop_log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "compozy.log"


@pytest.fixture(autouse=True)
def root_level() -> Iterator[None]:
    before = logging.getLogger().level
    yield
    logging.getLogger().setLevel(before)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, settings: LogSection, *messages: str, level: str = "") -> None:
    handler = start_log(path, settings, Redactor().text, level=level)
    try:
        for message in messages:
            logging.getLogger("compozy.test").info(message, extra={"turn": 7})
    finally:
        stop_log(handler)


def test_a_line_is_one_json_object_with_the_callers_facts(path: Path) -> None:
    write(path, LogSection(), "two\nlines")
    (line,) = lines(path)
    assert line["message"] == "two\nlines"
    assert (line["level"], line["logger"], line["turn"]) == ("info", "compozy.test", 7)
    assert str(line["time"]).endswith("Z")


def test_secrets_never_reach_the_log_not_even_in_an_exception(path: Path) -> None:
    redactor = Redactor(secrets=["tok_7f3a9"])
    handler = start_log(path, LogSection(), redactor.text)
    try:
        try:
            raise ValueError("password=hunter2 and tok_7f3a9")
        except ValueError:
            facts = {"argv": ["--api-key abcdef"], "env": {"x": Path("k=v api_key=abcdef")}}
            logging.getLogger("compozy.test").exception("it failed", extra=facts)
    finally:
        stop_log(handler)
    text = path.read_text()
    assert "it failed" in text and "[REDACTED]" in text
    assert not any(secret in text for secret in ("hunter2", "tok_7f3a9", "abcdef"))


def test_the_log_is_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        write(path, LogSection(), "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_level_of_the_call_wins_over_the_configured_one(path: Path) -> None:
    write(path, LogSection(level="info"), "hidden", level="error")
    assert path.read_text() == ""


@pytest.mark.parametrize(("compress", "name"), [(False, "compozy.log.1"), (True, "compozy.log.1.gz")])
def test_a_full_log_moves_aside_and_only_so_many_backups_stay(path: Path, compress: bool, name: str) -> None:
    settings = LogSection(max_size_mb=1, max_backups=2, compress_backups=compress)
    write(path, settings, *(f"{number} " + "x" * 300_000 for number in range(14)))
    backups = sorted(p.name for p in path.parent.iterdir() if p != path)
    assert len(backups) == 2 and name in backups
    newest = path.with_name(name)
    text = gzip.decompress(newest.read_bytes()).decode() if compress else newest.read_text()
    assert all(json.loads(line) for line in text.splitlines())
    assert stat.S_IMODE(newest.stat().st_mode) == 0o600
    assert path.stat().st_size <= 1 << 20


def test_without_backups_the_log_still_stays_small(path: Path) -> None:
    write(path, LogSection(max_size_mb=1, max_backups=0), *("x" * 300_000 for _ in range(10)))
    assert [p.name for p in path.parent.iterdir()] == ["compozy.log"]
    assert path.stat().st_size <= 1 << 20


def test_backups_expire_by_age(path: Path) -> None:
    old = path.with_name("compozy.log.5")
    old.write_text("{}")
    past = time.time() - 40 * 86400
    os.utime(old, (past, past))
    handler = RotatingLog(path, LogSection(max_age_days=30))
    handler.doRollover()
    handler.close()
    assert not old.exists()
