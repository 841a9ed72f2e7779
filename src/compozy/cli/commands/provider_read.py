"""`compozy provider list|status|models list|refresh|auth status`: who can be used, and what mends it (contract §2.3).

List and status ask the running daemon, whose environment counts; without one they look from here.
"""

from collections.abc import Mapping

import click

from compozy.cli.connection import JsonObject, as_json, as_object, as_rows, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object, print_rows
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError


def _auth(field: str) -> "Column":
    return Column(field.upper(), field, lambda row: text_of(row, "auth_status", field))


COLUMNS = (
    Column("NAME", "name"),
    Column("WHAT", "display_name"),
    Column("DEFAULT", "default", lambda row: "yes" if row.get("default") else ""),
    Column("MODEL", "default_model"),
    _auth("state"),
    Column("TRY", "mend", lambda row: text_of(row, "auth_status", "mend")),
)
FIELDS = (
    Column("Provider", "name"),
    Column("What", "display_name"),
    Column("Default", "default"),
    Column("Model", "default_model"),
    Column("State", "state", lambda row: text_of(row, "auth_status", "state")),
    Column("Why", "message", lambda row: text_of(row, "auth_status", "message")),
    Column("Try", "mend", lambda row: text_of(row, "auth_status", "mend")),
    Column("Sign-in", "mode", lambda row: text_of(row, "auth_status", "mode")),
    Column("Environment", "env_policy", lambda row: text_of(row, "auth_status", "env_policy")),
    Column("Home", "home_policy", lambda row: text_of(row, "auth_status", "home_policy")),
    Column("Asked", "last_probe_at", lambda row: text_of(row, "auth_status", "last_probe_at")),
    Column("Waits", "waits_for_restart", lambda row: _waiting(row)),
)
MODEL_COLUMNS = (
    Column("PROVIDER", "provider_id"),
    Column("MODEL", "model_id"),
    Column("CONTEXT", "context_window"),
    Column("EFFORTS", "reasoning_efforts"),
    Column("AVAILABLE", "availability_state"),
    Column("FROM", "sources", lambda row: _joined(row)),
)


def _waiting(row: Mapping[str, object]) -> str:
    found = row.get("waits_for_restart")
    if not isinstance(found, list) or not found:
        return ""
    return f"until the daemon is restarted it uses the old {', '.join(map(str, found))}"


_SOURCE = click.option("--source", type=click.Choice(["provider_live", "models_dev"]), help="Ask this source only.")


def _joined(row: Mapping[str, object]) -> str:
    return ", ".join(text_of(one, "source_id") for one in objects(row.get("sources")))


@command("list", examples=("compozy provider list", "compozy provider list --ready -o json"))
@click.option("--ready", is_flag=True, help="Only those nothing is known to be missing of.")
@pass_invocation
def provider_list(invocation: Invocation, ready: bool) -> None:
    """List the providers, whether each can be used here, and the one step that mends it."""
    rows = _from_daemon_or_here(invocation)
    if ready:
        missing = ("missing_cli", "missing_credential", "needs_login")
        rows = [row for row in rows if text_of(row, "auth_status", "state") not in missing]
    # A terminal has no room for whole commands beside the rest.
    print_rows(invocation, rows, COLUMNS[:-1] if invocation.is_terminal else COLUMNS, name="providers")
    if invocation.is_terminal:
        note(invocation, "\nwhat mends one: compozy provider status NAME")


@command("status", examples=("compozy provider status claude", "compozy provider status openai-compatible -o json"))
@click.argument("name")
@pass_invocation
def provider_status(invocation: Invocation, name: str) -> None:
    """Show whether provider NAME can be used, and what is missing."""
    print_object(invocation, _one(invocation, name), FIELDS, name="provider")


@command("status", examples=("compozy provider auth status claude", "compozy provider auth status"))
@click.argument("name", required=False)
@pass_invocation
def auth_status(invocation: Invocation, name: str | None) -> None:
    """Ask provider NAME itself whether it can be used; without NAME, show what is known of all."""
    if name is None:
        print_rows(invocation, _from_daemon_or_here(invocation), COLUMNS, name="providers")
        return
    from compozy.client import ApiError  # noqa: PLC0415 - start-up cost

    with connected(invocation) as client:
        try:
            said = as_json(client.providers.probe(name)).get("probe")
        except ApiError as error:
            if error.code != "provider_probe_unavailable":
                raise
            note(invocation, f"note: {error.message}")
            said = None
        row = as_json(client.providers.get(name))
    print_object(invocation, {**row, "probe": said}, FIELDS, name="provider")


@command("list", examples=("compozy provider models list", "compozy provider models list claude --all"))
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Also hidden ones and what only the provider listed.")
@pass_invocation
def models_list(invocation: Invocation, name: str | None, everything: bool) -> None:
    """List the models of provider NAME, or of all; they are facts, never a limit."""
    with connected(invocation) as client:
        rows = as_rows(client.providers.models(name or "", view="all" if everything else "curated"))
    empty = "no models are known; providers that can be asked: compozy provider refresh"
    print_rows(invocation, rows, MODEL_COLUMNS, name="models", empty=empty)


@command(
    "refresh",
    examples=(
        "compozy provider refresh openai-compatible",
        "compozy provider refresh",
        "compozy provider refresh --source models_dev",
    ),
)
@click.argument("name", required=False)
@_SOURCE
@pass_invocation
def provider_refresh(invocation: Invocation, name: str | None, source: str | None) -> int:
    """Ask provider NAME, or every one that can be asked, for its models; models.dev too, where it has an address."""
    return _refresh(invocation, name, source)


@command(
    "refresh",
    examples=("compozy provider models refresh claude", "compozy provider models refresh --source models_dev"),
)
@click.argument("name", required=False)
@_SOURCE
@pass_invocation
def models_refresh(invocation: Invocation, name: str | None, source: str | None) -> int:
    """Do what `compozy provider refresh` does: ask for the models of provider NAME, or of all."""
    return _refresh(invocation, name, source)


def _refresh(invocation: Invocation, name: str | None, source: str | None) -> int:
    from compozy.client import ApiError  # noqa: PLC0415 - start-up cost

    with connected(invocation) as client:
        try:
            answer = as_json(client.providers.refresh(name or "", source=source or ""))
        except ApiError as error:
            if "sources" not in error.envelope:
                raise
            answer = dict(error.envelope)
    rows = [
        row for row in objects(answer.get("sources")) if row.get("source_kind") in ("provider_live", "models_dev")
    ]
    columns = (
        Column("PROVIDER", "provider_id"),
        Column("SOURCE", "source_id"),
        Column("MODELS", "row_count"),
        Column("STATE", "refresh_state"),
        Column("WHY", "last_error"),
    )
    empty = "this provider cannot be asked for its models" if name else "no provider can be asked for its models"
    print_rows(invocation, rows, columns, name="sources", envelope=answer, empty=empty)
    return EXIT_UNAVAILABLE if answer.get("error") else 0


def _one(invocation: Invocation, name: str) -> JsonObject:
    from compozy.config.builtin_providers import canonical_provider  # noqa: PLC0415 - start-up cost
    from compozy.documents.text import nearest  # noqa: PLC0415 - start-up cost

    rows = _from_daemon_or_here(invocation)
    found = next((row for row in rows if row.get("name") == canonical_provider(name)), None)
    if found is None:
        close = nearest(name, [text_of(row, "name") for row in rows])
        advice = f"did you mean {close!r}?" if close else "see the list"
        raise LocalError(
            f"there is no provider {name!r}; {advice}",
            code="provider_unknown",
            exit_code=EXIT_UNAVAILABLE,
            hint="compozy provider list",
        )
    return found


def _from_daemon_or_here(invocation: Invocation) -> list[JsonObject]:
    from compozy.client import DaemonUnreachable  # noqa: PLC0415 - start-up cost

    try:
        with connected(invocation) as client:
            return as_rows(client.providers.list())
    except DaemonUnreachable:
        return _from_here(invocation)


def _from_here(invocation: Invocation) -> list[JsonObject]:
    import msgspec  # noqa: PLC0415 - start-up cost

    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost
    from compozy.config.provider_auth import auth_status as look  # noqa: PLC0415 - start-up cost
    from compozy.config.redaction import Redactor  # noqa: PLC0415 - start-up cost
    from compozy.config.secrets import Secrets  # noqa: PLC0415 - start-up cost

    config = load_config(invocation.home)
    redactor = Redactor()
    is_there = Secrets(invocation.home, redactor).is_there
    rows: list[JsonObject] = [
        {
            "name": row.id,
            "display_name": row.display_name,
            "default": row.id == config.defaults.provider,
            "default_model": row.default_model,
            "auth_status": msgspec.to_builtins(look(row, is_there)),
        }
        for row in config.providers.values()
    ]
    return [as_object(redactor.value(row)) for row in rows]
