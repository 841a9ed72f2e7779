"""Rows of the fleet: what comes first, since when, what happened last, who waits, in plain safe text."""

from datetime import UTC, datetime

import msgspec
import pytest

from compozy.cli.fleet_rows import row_of, rows_of, short_number, summary_of
from compozy.model.session import Failure, Interaction, Session, SessionUsage
from tests.kit.store_records import make_session

NOW = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
QUESTION = Interaction(
    interaction_id="int-1",
    kind="permission",
    provider_request_id="r",
    status="pending",
    created_at="2026-01-01T00:08:00.000000Z",
    title="Write\x1b[2J notes",
    expires_at="2026-01-01T00:13:00.000000Z",
)


def _session(number: int, **fields: object) -> Session:
    return msgspec.structs.replace(make_session(f"sess-{number}", updated=number).session, **fields)


def test_who_waits_comes_first_then_who_runs_and_the_newest_of_each() -> None:
    badges = ("idle", "stopped", "running", "waiting-for-auth", "running", "done")
    rows = rows_of([_session(number, badge=badge) for number, badge in enumerate(badges)], NOW)
    assert [row.session_id for row in rows] == ["sess-3", "sess-4", "sess-2", "sess-5", "sess-0", "sess-1"]


def test_a_question_shows_its_time_and_drives_no_terminal() -> None:
    asking = _session(1, badge="waiting-for-auth", pending_interactions=(QUESTION, QUESTION), name="a\nb")
    row = row_of(asking, NOW)
    assert row.cells[0] == "a b" and row.cells[-1] == "you: Write[2J notes (3m 00s left) (+1)"
    assert summary_of([asking], 7) == "7 sessions · 1 shown · 0 running · 1 waiting for you"


def test_what_failed_and_what_was_used_is_said() -> None:
    failed = _session(1, badge="failed", failure=Failure(kind="process_exit", summary="exit code 3"))
    assert row_of(failed, NOW).cells[-1] == "exit code 3"
    used = _session(1, usage=SessionUsage(turn_count=1, total_tokens=12_345))
    assert row_of(used, NOW).cells[-2] == "12.3k"


@pytest.mark.parametrize(
    ("number", "text"), [(None, ""), (0, "0"), (999, "999"), (1000, "1.0k"), (4_500_000, "4.5M"), (2 * 10**9, "2.0G")]
)
def test_counts_are_short(number: int | None, text: str) -> None:
    assert short_number(number) == text
