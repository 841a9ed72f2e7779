"""`compozy fleet`: all sessions at a glance, once or live (issue 6).

Live on a terminal it fills the screen; elsewhere it prints a line for each session that changes. Fed by the daemon's
catalog stream: nothing is asked while nothing happens.
"""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import as_json, as_rows, connected
from compozy.cli.fleet_rows import TITLES, Row, row_of, rows_of, summary_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import note, print_rows, write, write_json_line, write_table
from compozy.cli.sessions import SESSION_TOON
from compozy.cli.watching import changes
from compozy.cli.workspace_context import find
from compozy.model.errors import EXIT_OK

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.session import Session

# Ages move and keys are looked at this often.
_TICK_SECONDS = 0.2
_PAGE = 100
# More than a screen can use; the totals count the rest.
_MOST_SESSIONS = 500


class _Fleet:
    """The sessions that are shown, as they were read last."""

    def __init__(self, client: "Client", workspace: str, *, every_state: bool) -> None:
        self._client = client
        self._workspace = workspace
        self._every_state = every_state
        self.sessions: list[Session] = []
        self.total = 0

    def read(self) -> None:
        """Read the list again."""
        found: dict[str, Session] = {}
        total = self._add(found, state="" if self._every_state else "active")
        if not self._every_state:
            # A session that stopped and wants a person, a login for example, belongs to the picture.
            before = len(found)
            self._add(found, badges=("waiting-for-auth", "waiting-for-input"))
            total += len(found) - before
        self.sessions, self.total = list(found.values()), total

    def _add(self, found: "dict[str, Session]", *, state: str = "", badges: tuple[str, ...] = ()) -> int:
        cursor = ""
        while True:
            page = self._client.sessions.list(
                self._workspace,
                state=state,
                badges=badges,
                sort="attention",
                limit=_PAGE,
                cursor=cursor,
                include_health=True,
            )
            found.update((session.id, session) for session in page.sessions)
            cursor = page.page.next_cursor or ""
            if not cursor or len(found) >= _MOST_SESSIONS:
                return page.page.total


@command(
    "fleet",
    examples=("compozy fleet", "compozy fleet --watch", "compozy fleet --all --workspace project -o json"),
)
@click.option("--watch", "-w", is_flag=True, help="Stay, and keep it current: q quits, j and k scroll.")
@click.option("--all", "every_state", is_flag=True, help="Stopped sessions too.")
@click.option(
    "--workspace", shell_complete=completions.workspaces, help="Only this workspace (default: all of them)."
)
@pass_invocation
def fleet(invocation: Invocation, watch: bool, every_state: bool, workspace: str | None) -> int:
    """Show every session: its state and since when, the last that happened, its tokens, and who it waits for."""
    with connected(invocation) as client:
        context = find(client, flag=workspace) if workspace is not None else None
        sessions = _Fleet(client, context.id if context else "", every_state=every_state)
        if watch and invocation.is_terminal and sys.stdin.isatty():
            return _live(invocation, client, sessions)
        if watch:
            return _lines(invocation, client, sessions)
        sessions.read()
    _print(invocation, sessions)
    return EXIT_OK


def _print(invocation: Invocation, fleet: _Fleet) -> None:
    if invocation.is_human and fleet.sessions:
        write_table(invocation, TITLES, [row.cells for row in rows_of(fleet.sessions, datetime.now(UTC))])
        note(invocation, f"\n{summary_of(fleet.sessions, fleet.total)}")
        return
    rows = as_rows(fleet.sessions)
    empty = 'no session is active; start one with: compozy run "your task"'
    print_rows(
        invocation,
        rows,
        SESSION_TOON,
        name="sessions",
        envelope={"sessions": rows, "total": fleet.total},
        empty=empty,
    )


def _live(invocation: Invocation, client: "Client", fleet: _Fleet) -> int:
    from compozy.cli.fleet_screen import screen  # noqa: PLC0415 - start-up cost

    footer = ""
    with screen(colour=invocation.has_colour) as live:
        for change in changes(client, fleet.read, tick=_TICK_SECONDS):
            if "quit" in live.typed():
                break
            footer = (
                summary_of(fleet.sessions, fleet.total) if change != "lost" else "no daemon answers; looking for it"
            )
            live.draw(rows_of(fleet.sessions, datetime.now(UTC)), footer)
    return EXIT_OK


def _lines(invocation: Invocation, client: "Client", fleet: _Fleet) -> int:
    """Print a line for each session that is new or whose state, question or tokens changed."""
    shown: dict[str, tuple[str, ...]] = {}
    for change in changes(client, fleet.read, tick=1.0):
        if change != "changed":
            continue
        now = datetime.now(UTC)
        for session in fleet.sessions:
            row = row_of(session, now)
            facts = (row.badge, row.cells[0], *(question.interaction_id for question in session.pending_interactions))
            if shown.get(session.id) != facts:
                _print_line(invocation, session, row)
            shown[session.id] = facts
        shown = {known: facts for known, facts in shown.items() if any(s.id == known for s in fleet.sessions)}
    return EXIT_OK


def _print_line(invocation: Invocation, session: "Session", row: Row) -> None:
    if not invocation.is_human:
        write_json_line(as_json(session))
        return
    stamp = datetime.now(UTC).strftime("%H:%M:%S")
    name, agent, badge, _, last, tokens, waits = row.cells
    parts = [stamp, session.id, name if name != session.id else "", agent, badge, last, tokens, waits]
    write("  ".join(part for part in parts if part) + "\n")
    sys.stdout.flush()
