"""`compozy session archive|unarchive`: put stopped sessions away, and take them back (contract §3.5, §4.1)."""

import click

from compozy.cli import completions
from compozy.cli.connection import as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import print_object
from compozy.cli.sessions import SESSION_FIELDS


@command("archive", examples=("compozy session archive sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_archive(invocation: Invocation, session_id: str) -> None:
    """Put the stopped session SESSION_ID away: lists leave it out, its history stays."""
    with connected(invocation) as client:
        answer = client.sessions.archive(client.sessions.get(session_id))
    print_object(invocation, as_json(answer), SESSION_FIELDS, name="session")


@command("unarchive", examples=("compozy session unarchive sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_unarchive(invocation: Invocation, session_id: str) -> None:
    """Take the archived session SESSION_ID back."""
    with connected(invocation) as client:
        answer = client.sessions.unarchive(client.sessions.get(session_id))
    print_object(invocation, as_json(answer), SESSION_FIELDS, name="session")
