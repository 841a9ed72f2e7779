"""`compozy vault set|list|delete`: secrets of this home, encrypted (issue 5 item 3).

Works on the home without a daemon; a running daemon reads the vault whenever it needs a secret. A value comes from a
terminal without echo or from standard input, never from an argument, and is never shown again.
"""

import sys

import click

from compozy.cli.commands.session_write import confirm
from compozy.cli.connection import JsonObject
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, note, print_object, print_rows
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError

COLUMNS = (Column("NAME", "name"), Column("REFERENCE", "reference"), Column("UPDATED", "updated_at"))


@command(
    "set",
    examples=("compozy vault set providers/openrouter/api_key", "compozy vault set mcp/tracker/token < token.txt"),
)
@click.argument("name")
@pass_invocation
def vault_set(invocation: Invocation, name: str) -> None:
    """Keep a secret as NAME; use it anywhere as `vault:NAME`.

    Asks for the value without showing it, or reads it from standard input.
    """
    refuse_agents("writing a secret")
    from compozy.config.install import create_home  # noqa: PLC0415 - start-up cost
    from compozy.config.vault import Vault, check_name  # noqa: PLC0415 - start-up cost

    check_name(name)
    value = _read_value(name)
    create_home(invocation.home)
    replaced = Vault(invocation.home).set(name, value)
    answer: JsonObject = {"name": name, "reference": f"vault:{name}", "replaced": replaced}
    if invocation.is_human:
        note(invocation, f"{'replaced' if replaced else 'kept'} {name}; use it as vault:{name}")
    else:
        print_object(invocation, answer, (), name="secret")


def _read_value(name: str) -> str:
    if sys.stdin.isatty():
        import getpass  # noqa: PLC0415 - start-up cost

        return getpass.getpass(f"Value of {name} (not shown): ", stream=sys.stderr)
    # The line end belongs to the file or to `echo`, not to the secret.
    return sys.stdin.read().rstrip("\r\n")


@command("list", examples=("compozy vault list", "compozy vault list -o json"))
@pass_invocation
def vault_list(invocation: Invocation) -> None:
    """List the names of the secrets in the vault; values are never shown."""
    from compozy.config.vault import Vault  # noqa: PLC0415 - start-up cost

    rows: list[JsonObject] = [
        {"name": entry.name, "reference": entry.reference, "updated_at": entry.updated_at}
        for entry in Vault(invocation.home).entries()
    ]
    print_rows(
        invocation, rows, COLUMNS, name="secrets", empty="the vault is empty; keep a secret: compozy vault set NAME"
    )


@command("delete", examples=("compozy vault delete mcp/tracker/token --yes",))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_invocation
def vault_delete(invocation: Invocation, name: str, yes: bool) -> None:
    """Forget the secret NAME. What refers to it fails at its next start, and says so."""
    refuse_agents("deleting a secret")
    from compozy.config.vault import Vault  # noqa: PLC0415 - start-up cost

    vault = Vault(invocation.home)
    if not vault.has(name):
        raise LocalError(
            f"the vault has no secret named {name!r}",
            exit_code=EXIT_UNAVAILABLE,
            code="secret_not_found",
            hint="compozy vault list",
        )
    confirm(invocation, f'Delete secret "{name}"?', yes)
    vault.delete(name)
    if invocation.is_human:
        note(invocation, f"deleted {name}")
    else:
        print_object(invocation, {"name": name, "deleted": True}, (), name="secret")
