"""What a fleet of sessions looks like, row by row: name, agent, state, since, last event, tokens, who waits.

Pure: records in, text out. How it is drawn is `fleet_screen.py`, or a plain table.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from compozy.cli.output import safe_line
from compozy.cli.wording import count, seconds_until, write_duration

if TYPE_CHECKING:
    from compozy.model.session import Interaction, Session

TITLES = ("SESSION", "AGENT", "STATE", "SINCE", "LAST EVENT", "TOKENS", "WAITS FOR")
# The order of rows: what wants a person, what runs, what has something to show, the rest.
_RANK = {
    "waiting-for-auth": 0,
    "waiting-for-input": 0,
    "hung": 1,
    "unhealthy": 1,
    "running": 2,
    "done": 3,
    "idle": 4,
    "failed": 5,
    "stopped": 6,
}


class Row(NamedTuple):
    """One session as text, with what colours it."""

    session_id: str
    badge: str
    cells: tuple[str, ...]


def rows_of(sessions: "Sequence[Session]", now: datetime) -> list[Row]:
    """Return the rows in the order they are shown."""
    ordered = sorted(sessions, key=lambda session: session.updated_at, reverse=True)
    ordered.sort(key=lambda session: _RANK.get(session.badge, 4))
    return [row_of(session, now) for session in ordered]


def row_of(session: "Session", now: datetime) -> Row:
    """Return the row of a session."""
    cells = (
        session.name or session.id,
        session.agent_name,
        session.badge,
        _ago(_since(session), now),
        last_event(session, now),
        short_number(session.usage.total_tokens) if session.usage else "",
        waits_for(session, now),
    )
    return Row(session.id, session.badge, tuple(safe_line(cell) for cell in cells))


def summary_of(sessions: "Sequence[Session]", total: int) -> str:
    """Return the counts below the table."""
    waiting = sum(_RANK.get(session.badge, 4) == 0 for session in sessions)
    running = sum(session.badge == "running" for session in sessions)
    parts = [count(total, "session"), f"{running} running", f"{waiting} waiting for you"]
    if total > len(sessions):
        parts.insert(1, f"{len(sessions)} shown")
    return " · ".join(parts)


def _since(session: "Session") -> str:
    if session.badge == "running" and session.activity is not None:
        return session.activity.turn_started_at or session.updated_at
    if session.badge in ("waiting-for-auth", "waiting-for-input", "done", "failed"):
        return session.attention_changed_at or session.updated_at
    return session.updated_at


def last_event(session: "Session", now: datetime) -> str:
    """Return what happened last, and how long ago."""
    activity, health = session.activity, session.health
    if activity is not None and activity.current_tool:
        return f"uses {activity.current_tool}"
    if activity is not None and activity.last_activity_at:
        what = activity.last_activity_detail or activity.last_activity_kind.replace("_", " ")
        return f"{what} {_ago(activity.last_activity_at, now)} ago".strip()
    at = health.last_activity_at if health is not None else None
    return f"{_ago(at, now)} ago" if at else ""


def waits_for(session: "Session", now: datetime) -> str:
    """Return who or what a session waits for."""
    pending = [question for question in session.pending_interactions if question.status == "pending"]
    if pending:
        return _question(pending[0], now) + (f" (+{len(pending) - 1})" if len(pending) > 1 else "")
    if session.badge == "waiting-for-auth":
        return "you: trust" if session.runtime.failure_code == "trust_required" else "you: a login"
    if session.badge == "failed" and session.failure is not None:
        return session.failure.summary or session.failure.kind
    return ""


def _question(question: "Interaction", now: datetime) -> str:
    left = seconds_until(question.expires_at, now=now)
    until = f" ({write_duration(left)} left)" if left is not None else ""
    return f"you: {question.title}{until}"


def _ago(text: str | None, now: datetime) -> str:
    ahead = seconds_until(text or "", now=now)
    return "" if ahead is None else write_duration(max(0.0, -ahead))


def short_number(number: int | None) -> str:
    """Write a count of tokens in a few characters: `950`, `12.3k`, `4.5M`."""
    if number is None:
        return ""
    if number < 1000:
        return str(number)
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)
