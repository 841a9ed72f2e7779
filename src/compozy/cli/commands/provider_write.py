"""`compozy provider set|install|auth login`: change a provider, fetch its agent, sign in (contract §2.3; D24)."""

import os
import subprocess
import sys

import click

from compozy.cli.config_scope import apply_to_daemon, tell_what_is_next
from compozy.cli.connection import JsonObject, as_object
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object
from compozy.model.errors import EXIT_INVALID, LocalError

_FIELDS = (
    Column("Provider", "provider"),
    Column("Set", "set"),
    Column("File", "file"),
)
_INSTALLED = (
    Column("Provider", "provider"),
    Column("Package", "package"),
    Column("Version", "version"),
    Column("Python", "python"),
    Column("Program", "program"),
    Column("Was there", "was_there"),
)


@command(
    "set",
    examples=(
        "compozy provider set claude --model claude-opus-4-8 --default",
        "compozy provider set openrouter --key vault:providers/openrouter/api_key",
        "compozy provider set ollama --endpoint --base-url http://127.0.0.1:11434/v1 --model llama3.2",
        "compozy provider set mine --command '/opt/my-agent --acp'",
    ),
)
@click.argument("name")
@click.option("--model", help="Model of agents that name none.")
@click.option("--base-url", help="Address of an OpenAI-compatible endpoint.")
@click.option("--key", "reference", metavar="REF", help="Where its key is: env:NAME or vault:NAME; never the key.")
@click.option("--command", "program", help="The program that speaks ACP, for a provider of your own.")
@click.option("--endpoint", is_flag=True, help="Make it one more OpenAI-compatible endpoint.")
@click.option("--env-policy", type=click.Choice(["filtered", "isolated"]), help="What its program inherits.")
@click.option("--home-policy", type=click.Choice(["operator", "isolated"]), help="Whether it sees your own home.")
@click.option("--default", "make_default", is_flag=True, help="Use it for agents that name none.")
@pass_invocation
def provider_set(
    invocation: Invocation,
    name: str,
    model: str | None,
    base_url: str | None,
    reference: str | None,
    program: str | None,
    endpoint: bool,
    env_policy: str | None,
    home_policy: str | None,
    make_default: bool,
) -> None:
    """Change provider NAME in the home's config, or add it; nothing else in the file changes."""
    from compozy.config.builtin_providers import canonical_provider  # noqa: PLC0415 - start-up cost
    from compozy.config.openai_compatible import OPENAI_COMPATIBLE  # noqa: PLC0415 - start-up cost

    row = canonical_provider(name)
    fields: dict[tuple[str, ...], object] = {
        ("models", "default"): model,
        ("base_url",): base_url,
        ("command",): program,
        ("runtime_provider",): OPENAI_COMPATIBLE if endpoint else None,
        ("env_policy",): env_policy,
        ("home_policy",): home_policy,
        ("credential_slots",): _slots(invocation, row, reference, endpoint=endpoint) if reference else None,
    }
    values = {("providers", row, *key): value for key, value in fields.items() if value is not None}
    if make_default:
        values["defaults", "provider"] = row
    if not values:
        raise click.UsageError("nothing to change; give --model, --base-url, --key, --command or --default")
    write_settings(invocation, row, values)


def write_settings(invocation: Invocation, row: str, values: dict[tuple[str, ...], object]) -> None:
    """Write values of a provider, let a running daemon take them over, and say what was done."""
    from compozy.config.change import change_settings  # noqa: PLC0415 - start-up cost
    from compozy.config.keys import join_key  # noqa: PLC0415 - start-up cost

    change_settings(invocation.home, values)
    names = [join_key(key) for key in values]
    outcome = apply_to_daemon(invocation, names)
    answer: JsonObject = {"provider": row, "set": names, "file": str(invocation.home.config_file), **outcome}
    print_object(invocation, answer, _FIELDS, name="provider")
    tell_what_is_next(invocation, outcome)


def _slots(invocation: Invocation, row: str, reference: str, *, endpoint: bool) -> list[dict[str, object]]:
    """Return the provider's credential slots with the first one bound to the reference.

    Raises:
        LocalError: it is no reference, or the provider has no slot.
    """
    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost
    from compozy.config.openai_compatible import ROW  # noqa: PLC0415 - start-up cost

    if not reference.startswith(("env:", "vault:")):
        raise LocalError(
            "--key takes a reference, not the key itself; store it with `compozy vault set NAME`, "
            "then give --key vault:NAME",
            code="not_a_reference",
            exit_code=EXIT_INVALID,
        )
    known = load_config(invocation.home).providers.get(row)
    slots = known.credential_slots if known is not None else ROW.credential_slots if endpoint else ()
    if not slots:
        raise LocalError(f"provider {row!r} has no credential slot; add one with: compozy config set", exit_code=1)
    return [
        {
            "name": slot.name,
            "target_env": slot.target_env,
            "secret_ref": reference if index == 0 else slot.secret_ref,
            "kind": slot.kind,
            "required": slot.required or index == 0,
        }
        for index, slot in enumerate(slots)
    ]


@command(
    "install",
    examples=(
        "compozy provider install openai-compatible",
        "compozy provider install openai-compatible --base-url http://127.0.0.1:11434/v1 --model llama3.2 --default",
    ),
)
@click.argument("name")
@click.option("--base-url", help="Address of the endpoint, such as http://127.0.0.1:11434/v1.")
@click.option("--model", help="Model of agents that name none.")
@click.option("--default", "make_default", is_flag=True, help="Use it for agents that name none.")
@pass_invocation
def provider_install(
    invocation: Invocation, name: str, base_url: str | None, model: str | None, make_default: bool
) -> None:
    """Fetch the agent program of provider NAME (openai-compatible only) into an environment of its own."""
    import msgspec  # noqa: PLC0415 - start-up cost

    from compozy.config.builtin_providers import canonical_provider  # noqa: PLC0415 - start-up cost
    from compozy.config.detection import INSTALL_COMMANDS  # noqa: PLC0415 - start-up cost
    from compozy.config.openai_compatible import OPENAI_COMPATIBLE  # noqa: PLC0415 - start-up cost
    from compozy.config.provider_install import install_openai_compatible  # noqa: PLC0415 - start-up cost

    row = canonical_provider(name)
    if row != OPENAI_COMPATIBLE:
        vendor = INSTALL_COMMANDS.get(row)
        how = f"its vendor does: {vendor}" if vendor else "see: compozy provider list"
        raise LocalError(f"the program of {name!r} is not ours to install; {how}", code="not_installable")
    done = install_openai_compatible(invocation.home, lambda text: note(invocation, text))
    values: dict[tuple[str, ...], object] = {}
    if base_url:
        values["providers", row, "base_url"] = base_url
    if model:
        values["providers", row, "models", "default"] = model
    if make_default:
        values["defaults", "provider"] = row
    if values:
        from compozy.config.change import change_settings  # noqa: PLC0415 - start-up cost
        from compozy.config.keys import join_key  # noqa: PLC0415 - start-up cost

        change_settings(invocation.home, values)
        tell_what_is_next(invocation, apply_to_daemon(invocation, [join_key(key) for key in values]))
    print_object(invocation, as_object(msgspec.to_builtins(done)), _INSTALLED, name="installed")
    if not values:
        note(invocation, f"now say where: compozy provider set {row} --base-url URL --model NAME")


@command("login", examples=("compozy provider auth login claude",))
@click.argument("name")
@pass_invocation
def auth_login(invocation: Invocation, name: str) -> int:
    """Run the login of provider NAME in this terminal."""
    from compozy.config.builtin_providers import canonical_provider  # noqa: PLC0415 - start-up cost
    from compozy.config.commands import find_executable, split_command  # noqa: PLC0415 - start-up cost
    from compozy.config.environment import login_environment, make_provider_folders  # noqa: PLC0415 - start-up cost
    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost
    from compozy.documents.text import nearest  # noqa: PLC0415 - start-up cost

    providers = load_config(invocation.home).providers
    provider = providers.get(canonical_provider(name))
    if provider is None:
        close = nearest(name, providers)
        advice = f"did you mean {close!r}?" if close else "see: compozy provider list"
        raise LocalError(f"there is no provider {name!r}; {advice}", code="provider_unknown")
    if not provider.auth_login_command:
        raise LocalError(
            f"provider {provider.id!r} has no login command; sign in with its own program, or bind its key",
            code="provider_login_not_configured",
            hint=f"compozy provider status {provider.id}",
        )
    if not (invocation.is_human and sys.stdin.isatty() and sys.stdout.isatty()) or "COMPOZY_SESSION_ID" in os.environ:
        raise LocalError(
            f"the login of {provider.id!r} needs a person at a terminal; run it there, without -o",
            code="provider_login_requires_local_tty",
            exit_code=EXIT_INVALID,
            hint=f"compozy provider auth login {provider.id}",
        )
    argv = split_command(provider.auth_login_command)
    found = find_executable(argv[0])
    if found is None:
        raise LocalError(
            f"the login of {provider.id!r} needs the program {argv[0]!r}, which is not on PATH; install it",
            code="provider_cli_missing",
            hint=f"compozy provider status {provider.id}",
        )
    if provider.home_policy == "isolated":
        make_provider_folders(provider, invocation.home)
    # The person decides how long it takes; Ctrl-C reaches it and ends it.
    done = subprocess.run([found, *argv[1:]], env=login_environment(provider, invocation.home), check=False)
    if done.returncode == 0:
        note(invocation, f"the login command of {provider.id} ended well")
    return 1 if done.returncode else 0
