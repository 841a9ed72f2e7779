"""`compozy install`: choose the default provider and make the standard agent (contract §1.5).

Asks in a terminal; with a flag or another output format it writes at once. Nothing a person wrote is overwritten.
"""

import click

from compozy.cli.config_scope import tell_whether_to_restart
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object, write
from compozy.cli.sessions import RUN_PERMISSIONS

FIELDS = (
    Column("Agent", "agent_name"),
    Column("Provider", "provider"),
    Column("Model", "model"),
    Column("Permissions", "permissions"),
    Column("Config", "config_file"),
    Column("Agent file", "agent_file"),
    Column("Newly made", "created_agent"),
)


@command(
    "install",
    examples=("compozy install", "compozy install --provider claude", "compozy install --provider offline -o json"),
)
@click.option(
    "--provider", help="Default provider (asked for in a terminal; else the one that is set, else one found here)."
)
@click.option("--model", help="Default model of that provider.")
@pass_invocation
def install(invocation: Invocation, provider: str | None, model: str | None) -> None:
    """Set the default provider of this home and make the standard agent `general`."""
    import msgspec  # noqa: PLC0415 - start-up cost

    from compozy.config.builtin_providers import OFFLINE  # noqa: PLC0415 - start-up cost
    from compozy.config.install import install_home  # noqa: PLC0415 - start-up cost

    if provider is None and model is None and invocation.can_ask:
        provider = _ask_provider(invocation)
    installed = install_home(invocation.home, provider=provider or "", model=model or "")
    print_object(invocation, msgspec.to_builtins(installed), FIELDS, name="install")
    tell_whether_to_restart(invocation)
    if installed.provider == OFFLINE:
        note(invocation, f"\n{OFFLINE} uses no language model; what else can be used here: compozy provider list")
    note(
        invocation,
        f"\na run asks before it writes ({RUN_PERMISSIONS}); {installed.permissions} is for sessions opened otherwise"
        '\ntry it: compozy run "what is in this folder?"',
    )


def _ask_provider(invocation: Invocation) -> str:
    from compozy.config.builtin_providers import BUILTIN_PROVIDERS  # noqa: PLC0415 - start-up cost
    from compozy.config.detection import first_installed, is_installed  # noqa: PLC0415 - start-up cost
    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost

    set_already = load_config(invocation.home).defaults.provider
    usual = set_already or first_installed(BUILTIN_PROVIDERS.values())
    known = list(dict.fromkeys((*BUILTIN_PROVIDERS, usual)))
    write("Which provider should agents use that name none? (* is on this machine)\n")
    for name, provider in BUILTIN_PROVIDERS.items():
        mark = "*" if is_installed(provider) else " "
        write(f"{mark} {name:<20} {provider.display_name}\n")
    answer: str = click.prompt("provider", default=usual, type=click.Choice(known), show_choices=False)
    return answer
