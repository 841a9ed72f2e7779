"""`compozy session list|events|status|interactions`: what sessions there are and what happened in them.

Implements contract §3.5 (reads) and §4.1. `events --follow` shows each event once, also over a lost connection.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import JsonObject, as_json, as_rows, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import (
    Column,
    note,
    one_line,
    plain,
    print_object,
    print_rows,
    write,
    write_json,
    write_json_line,
)
from compozy.cli.sessions import (
    SESSION_COLUMNS,
    SESSION_FIELDS,
    SESSION_TOON,
)
from compozy.cli.wording import age, clock, parse_duration, seconds_until, write_duration
from compozy.cli.workspace_context import find
from compozy.model.session import BADGES
from compozy.model.times import format_time

if TYPE_CHECKING:
    from compozy.model.attention import AttentionSummary

STATES = ("starting", "active", "stopping", "stopped")
TYPES = ("user", "system", "coordinator", "spawned")


@command(
    "list",
    examples=("compozy session list", "compozy session list --all --agent general", "compozy session list -o json"),
)
@click.option("--all", "every_state", is_flag=True, help="Sessions in every state (default: active ones).")
@click.option("--state", type=click.Choice(STATES), help="Only sessions in this state.")
@click.option("--agent", shell_complete=completions.agents, help="Only sessions of this agent.")
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@click.option("--all-workspaces", is_flag=True, help="Sessions of every workspace.")
@click.option("--type", "kind", type=click.Choice(TYPES), help="Only sessions of this type.")
@click.option("--parent", help="Only children of this session.")
@click.option("--root", help="Only descendants of this session.")
@click.option("--query", "-q", help="Only sessions whose id, name, agent or provider contains this text.")
@click.option("--archived", is_flag=True, help="Only archived sessions.")
@click.option("--include-archived", is_flag=True, help="Archived sessions too.")
@click.option("--badge", "badges", type=click.Choice(BADGES), multiple=True, help="Only this badge; repeat it.")
@click.option("--attention", is_flag=True, help="Only those that want a person or have something finished to show.")
@click.option("--resumable", is_flag=True, help="Only stopped ones that a prompt starts again.")
@click.option("--worktree", help="Only those in this working tree.")
@click.option("--include-health", is_flag=True, help="With the health of each.")
@click.option("--summary", is_flag=True, help="Only how many want a person or have finished, by workspace.")
@click.option("--sort", type=click.Choice(("recent", "last_activity", "attention")), help="Order of the rows.")
@click.option("--limit", type=click.IntRange(1, 100), help="Rows a page (default 50).")
@click.option("--cursor", help="Continue behind a page: the next_cursor it ended with.")
@pass_invocation
def session_list(
    invocation: Invocation,
    /,
    every_state: bool,
    state: str | None,
    workspace: str | None,
    all_workspaces: bool,
    archived: bool,
    include_archived: bool,
    kind: str | None,
    query: str | None,
    agent: str | None,
    parent: str | None,
    root: str | None,
    sort: str | None,
    cursor: str | None,
    limit: int | None,
    badges: tuple[str, ...],
    attention: bool,
    resumable: bool,
    worktree: str | None,
    include_health: bool,
    summary: bool,
) -> None:
    """List sessions, newest first: the active ones of this workspace unless told otherwise."""
    every_state = every_state or bool(badges) or attention or resumable
    with connected(invocation) as client:
        if summary:
            _print_summary(invocation, client.attention.summary())
            return
        context = None if all_workspaces else find(client, flag=workspace)
        page = client.sessions.list(
            context.id if context else "",
            state=state or ("" if every_state or archived else "active"),
            type=kind or "",
            agent=agent or "",
            parent=parent or "",
            root=root or "",
            q=query or "",
            archive="only" if archived else "include" if include_archived else "",
            sort=sort or "",
            cursor=cursor or "",
            limit=limit,
            badges=badges,
            attention=attention,
            resumable=True if resumable else None,
            worktree=worktree or "",
            include_health=include_health,
        )
    empty = 'no sessions match; start one with: compozy run "your task"'
    if not every_state and state is None:
        empty = "no active session here; see all with: compozy session list --all --all-workspaces"
    print_rows(
        invocation,
        as_rows(page.sessions),
        SESSION_COLUMNS,
        name="sessions",
        toon_columns=SESSION_TOON,
        envelope=with_source(page, context),
        empty=empty,
    )
    if page.page.next_cursor:
        note(invocation, f"\nmore of {page.page.total}; continue with: --cursor {page.page.next_cursor}")


_SUMMARY_COLUMNS = (
    Column("WORKSPACE", "workspace_id"),
    Column("NEEDS YOU", "needs_you"),
    Column("FINISHED", "finished"),
)


def _print_summary(invocation: Invocation, summary: "AttentionSummary") -> None:
    print_rows(
        invocation,
        as_rows(summary.by_workspace),
        _SUMMARY_COLUMNS,
        name="summary",
        envelope=as_json(summary),
        empty="no session wants you, and none has anything to show",
    )


def event_text(event: Mapping[str, object]) -> str:
    """Return what an event says, in one line."""
    content = event.get("content")
    facts: Mapping[str, object] = content if isinstance(content, Mapping) else {}
    parts = [text_of(facts, key) for key in ("title", "text", "error", "decision", "stop_reason")]
    parts += [text_of(facts, "failure", "summary"), text_of(event, "stop_reason")]
    if event.get("type") == "plan":
        parts.append(_plan_text(facts))
    return " ".join(dict.fromkeys(part for part in parts if part)).strip()


def _plan_text(facts: Mapping[str, object]) -> str:
    """Return how far a plan is and what is done now."""
    raw = facts.get("raw")
    entries = objects(raw.get("entries")) if isinstance(raw, Mapping) else []
    done = sum(text_of(entry, "status") == "completed" for entry in entries)
    now = [text_of(entry, "content") for entry in entries if text_of(entry, "status") == "in_progress"]
    told = "; ".join(now)
    return f"{done} of {len(entries)} done" + (f"; now: {told}" if told else "") if entries else ""


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


_WIDEST = 160
EVENT_COLUMNS = (
    Column("SEQ", "sequence"),
    Column("TIME", "timestamp", lambda row: clock(row.get("timestamp"))),
    Column("TYPE", "type"),
    Column("WHAT", "text", lambda row: _shortened(one_line(event_text(row)))),
)


@command(
    "events",
    examples=(
        "compozy session events sess-0123456789abcdef --last 20",
        "compozy session events sess-0123456789abcdef --follow",
        "compozy session events sess-0123456789abcdef --type tool_call -o jsonl",
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--last", type=click.IntRange(1, 1000), help="The newest N events (default 200).")
@click.option("--since", help="Events since a time (2026-01-31T12:00:00Z) or of the last 30s, 5m, 2h.")
@click.option("--after", type=click.IntRange(0), help="Events behind this sequence number.")
@click.option("--type", "kind", help="Only events of this type.")
@click.option("--archive", type=click.Choice(("active", "only", "include")), help="Which of rewound events to show.")
@click.option("--follow", "-f", is_flag=True, help="Stay, and print each event as it is stored.")
@pass_invocation
def session_events(
    invocation: Invocation,
    session_id: str,
    last: int | None,
    since: str | None,
    after: int | None,
    kind: str | None,
    archive: str | None,
    follow: bool,
) -> None:
    """Print the stored events of session SESSION_ID, oldest first."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        events = client.sessions.events(
            session, after=after, limit=last, since=moment(since) or "", type=kind or "", archive=archive or ""
        )
        if not follow:
            empty = 'no events yet; send a prompt with: compozy session prompt ID "your task"'
            print_rows(invocation, as_rows(events), EVENT_COLUMNS, name="events", empty=empty)
            return
        for event in events:
            _print_event(invocation, as_json(event))
        seen = max((event.sequence for event in events), default=after or 0)
        for event in client.sessions.follow(session, after=seen):
            if event.sequence > seen and kind in (None, event.type):
                _print_event(invocation, as_json(event))
            seen = max(seen, event.sequence)
            if event.type == "session_stopped":
                return


def moment(since: str | None) -> str | None:
    """Return RFC 3339 text for a time or for a length of time before now."""
    if since is None or "T" in since:
        return since
    try:
        return format_time(datetime.now(UTC) - timedelta(seconds=parse_duration(since)))
    except ValueError:
        raise click.UsageError(
            f"--since {since!r} is neither a time like 2026-01-31T12:00:00Z nor 30s, 5m, 2h"
        ) from None


def _print_event(invocation: Invocation, event: JsonObject) -> None:
    if invocation.format == "human":
        cells = [column.render(event) for column in EVENT_COLUMNS]
        write(f"{cells[0]:>5}  {cells[1]}  {cells[2]:<15}  {cells[3]}".rstrip() + "\n")
    elif invocation.format == "json":
        write_json(event)
    else:
        write_json_line(event)


@command("status", examples=("compozy session status sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_status(invocation: Invocation, session_id: str) -> None:
    """Show session SESSION_ID: its state, its runtime, and who or what it waits for."""
    with connected(invocation) as client:
        session = as_json(client.sessions.get(session_id))
    fields = (
        *SESSION_FIELDS,
        Column("Definition", "definition_state", _definition_text),
        Column("Waits for", "pending_interactions", _pending_text),
    )
    print_object(invocation, session, fields, name="session")


_DEFINITION_STATES = {
    "changed": "changed since start",
    "capabilities_changed": "capabilities changed since start",
    "deleted": "deleted since start",
    "invalid": "no longer loads",
}


def _definition_text(session: Mapping[str, object]) -> str:
    """Say when the agent's definition is not the one the session began with and goes on with (reports P34)."""
    return _DEFINITION_STATES.get(text_of(session, "definition_state"), "")


def _pending_text(session: Mapping[str, object]) -> str:
    waiting = [text_of(i, "title") or text_of(i, "kind") for i in objects(session.get("pending_interactions"))]
    remedy = f" (answer with: compozy session approve {text_of(session, 'id')} --decision allow-once)"
    return ", ".join(waiting) + remedy if waiting else ""


def _until(question: Mapping[str, object]) -> str:
    """Say until when a question waits and what is answered then."""
    if question.get("status") != "pending" or not question.get("expires_at"):
        return ""
    left = seconds_until(text_of(question, "expires_at"))
    then = text_of(question, "default_decision") or "no answer"
    return f"{write_duration(left)}, then {then}" if left is not None else ""


INTERACTION_COLUMNS = (
    Column("REQUEST", "provider_request_id"),
    Column("KIND", "kind"),
    Column("STATUS", "status"),
    Column("QUESTION", "title"),
    Column("ANSWERS", "decisions", lambda row: plain(row.get("decisions") or row.get("choices"))),
    Column("UNTIL", "expires_at", _until),
    Column("ASKED", "created_at", lambda row: age(row.get("created_at"))),
    Column("RESOLUTION", "resolution"),
)


@command("interactions", examples=("compozy session interactions sess-0123456789abcdef --status pending",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.option(
    "--status",
    type=click.Choice(("pending", "orphaned", "resolved", "timed_out", "canceled")),
    help="Only questions in this state.",
)
@click.option("--children", is_flag=True, help="With what its children ask now.")
@pass_invocation
def session_interactions(invocation: Invocation, session_id: str, status: str | None, children: bool) -> None:
    """List what session SESSION_ID has asked a person."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        rows = as_rows(client.sessions.interactions(session, status or "", with_children=children))
    envelope = {"interactions": rows}
    print_rows(invocation, rows, INTERACTION_COLUMNS, name="interactions", envelope=envelope, empty="no questions")
