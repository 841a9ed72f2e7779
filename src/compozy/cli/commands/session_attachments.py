"""`compozy session attachments upload`: keep files for later prompts of a session (contract §4.1)."""

import click

from compozy.cli import completions
from compozy.cli.attaching import read_file
from compozy.cli.connection import as_rows, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, print_rows

COLUMNS = (
    Column("ID", "id"),
    Column("NAME", "name"),
    Column("TYPE", "mime_type"),
    Column("BYTES", "bytes"),
    Column("SHA256", "sha256", lambda row: str(row.get("sha256", ""))[:12]),
)


@command("upload", examples=("compozy session attachments upload sess-0123456789abcdef screen.png",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@pass_invocation
def attachments_upload(invocation: Invocation, session_id: str, files: tuple[str, ...]) -> None:
    """Keep FILES for prompts of session SESSION_ID; a prompt names them by their ids."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        kept = [client.sessions.upload(session, name.rsplit("/", 1)[-1], read_file(name)) for name in files]
    print_rows(invocation, as_rows(kept), COLUMNS, name="attachments")
