"""Durations, ages and versions as people write and read them."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from compozy.cli.connection import is_newer, warn_when_older
from compozy.cli.invocation import Invocation
from compozy.cli.wording import age, clock, count, parse_duration, write_duration

NOW = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("30s", 30), ("5m", 300), ("1h30m", 5400), ("500ms", 0.5), ("1.5h", 5400)]
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5s", "5 minutes", "s", "1h30"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 30s"):
        parse_duration(text)


@pytest.mark.parametrize(("seconds", "text"), [(4.4, "4s"), (299, "4m 59s"), (5400, "1h 30m"), (-1, "0s")])
def test_a_duration_is_written(seconds: float, text: str) -> None:
    assert write_duration(seconds) == text


@pytest.mark.parametrize(("ago", "text"), [(0, "just now"), (1, "1 second ago"), (7200, "2 hours ago")])
def test_an_age_is_written(ago: int, text: str) -> None:
    moment = (NOW - timedelta(seconds=ago)).isoformat()
    assert age(moment, now=NOW) == text


def test_a_text_that_is_no_time_stays() -> None:
    assert age("soon") == "soon" and age(None) == ""


def test_counts_agree_with_their_noun() -> None:
    assert (count(1, "file"), count(2, "file"), count(2, "entry", "entries")) == ("1 file", "2 files", "2 entries")


@pytest.mark.parametrize(
    ("version", "other", "newer"),
    [("0.2.0", "0.1.9", True), ("0.1.0", "0.1.0", False), ("0.10.0", "0.9.0", True), ("0.2.0", "", False)],
)
def test_a_newer_program_is_recognised(version: str, other: str, newer: bool) -> None:
    assert is_newer(version, other) is newer


def test_an_older_daemon_is_named_with_the_way_to_restart_it(capsys: pytest.CaptureFixture[str]) -> None:
    warn_when_older(Invocation(), "0.0.1")
    assert "the running daemon is 0.0.1; restart it with: compozy daemon stop" in capsys.readouterr().err
    warn_when_older(Invocation(), "99.0.0")
    warn_when_older(Invocation(format="json"), "0.0.1")
    assert capsys.readouterr().err == ""


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_clock_shows_the_time_of_here_and_the_date_of_another_day() -> None:
    assert clock("2026-01-02T03:04:05.678901Z", now=NOW) == "12:04:05"
    assert clock("2026-01-01T23:30:00Z", now=NOW) == "08:30:00"
    assert clock("2025-12-31T03:04:05Z", now=NOW) == "2025-12-31 12:04:05"
    assert clock("soon", now=NOW) == "soon"
