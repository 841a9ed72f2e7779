"""`compozy config show|get|list|validate|path|explain`: what is set, and who set it (contract §2.1; issue 5.1).

Reads files only; no daemon is asked. Secrets are masked in every format.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from compozy.cli.config_scope import workspace_root
from compozy.cli.connection import JsonObject, as_object
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import (
    Column,
    clean,
    note,
    plain,
    print_object,
    print_rows,
    write,
    write_json,
    write_json_line,
)
from compozy.model.errors import EXIT_INVALID, LocalError

if TYPE_CHECKING:
    from compozy.config.keys import Key

WORKSPACE = click.option("--workspace", metavar="W", help="As it is in this workspace (a path, an id or a name).")
LIST_COLUMNS = (
    Column("KEY", "key"),
    Column("VALUE", "value", lambda row: shown(row.get("value"))),
    Column("FROM", "from"),
)


def shown(value: object) -> str:
    """Write a value as it stands in the file; text without its quotes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return plain(value)


@command("show", examples=("compozy config show", "compozy config show --workspace . -o json"))
@WORKSPACE
@click.option("--all", "everything", is_flag=True, help="Also the built-in providers nobody changed.")
@pass_invocation
def config_show(invocation: Invocation, workspace: str | None, everything: bool) -> None:
    """Show every setting in force, as one file."""
    from compozy.config.effective import effective_table, masked  # noqa: PLC0415 - start-up cost
    from compozy.config.load import load_config, read_layers  # noqa: PLC0415 - start-up cost
    from compozy.config.trust_grants import file_trust  # noqa: PLC0415 - start-up cost

    root = workspace_root(invocation, workspace)
    config = load_config(invocation.home, root, is_trusted=file_trust(invocation.home))
    table = as_object(masked(effective_table(config)))
    if not everything:
        written = {config.defaults.provider}
        for layer in read_layers(invocation.home, root, is_trusted=file_trust(invocation.home)):
            providers = layer.table.get("providers")
            written |= set(providers) if isinstance(providers, dict) else set()
        table["providers"] = {name: row for name, row in as_object(table["providers"]).items() if name in written}
    if invocation.format == "json":
        write_json(table)
    elif invocation.format == "jsonl":
        write_json_line(table)
    elif invocation.format == "toon":
        print_object(invocation, table, (), name="config")
    else:
        import rtoml  # noqa: PLC0415 - start-up cost

        write(clean(rtoml.dumps(table, pretty=True)))
    _say_notes(invocation, config.notes)


@command(
    "get",
    examples=("compozy config get http.port", "compozy config get providers.claude.models.default --workspace ."),
)
@click.argument("key")
@WORKSPACE
@pass_invocation
def config_get(invocation: Invocation, key: str, workspace: str | None) -> None:
    """Print the value of KEY that is in force."""
    from compozy.config.effective import effective_table, look_up  # noqa: PLC0415 - start-up cost
    from compozy.config.explain import masked_at  # noqa: PLC0415 - start-up cost
    from compozy.config.keys import join_key, split_key  # noqa: PLC0415 - start-up cost
    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost
    from compozy.config.trust_grants import file_trust  # noqa: PLC0415 - start-up cost

    path = split_key(key)
    root = workspace_root(invocation, workspace)
    config = load_config(invocation.home, root, is_trusted=file_trust(invocation.home) if root else None)
    found, value = look_up(effective_table(config), path)
    if not found:
        raise _not_set(path, config.providers)
    value = masked_at(path, value)
    if invocation.is_human:
        write(clean(shown(value)) + "\n")
    elif invocation.format == "json":
        write_json(value)
    else:
        print_object(invocation, {"key": join_key(path), "value": value}, (), name="setting")


def _not_set(path: "Key", providers: Mapping[str, object]) -> LocalError:
    from compozy.config.keys import join_key  # noqa: PLC0415 - start-up cost
    from compozy.documents.text import nearest  # noqa: PLC0415 - start-up cost

    if path[0] == "providers" and len(path) > 1 and path[1] not in providers:
        close = nearest(path[1], providers)
        advice = f"did you mean {close!r}?" if close else "see: compozy provider list"
        return LocalError(f"there is no provider {path[1]!r}; {advice}", code="provider_unknown")
    return LocalError(
        f"{join_key(path)!r} is not set and has no default; set it",
        code="config_not_set",
        hint=f"compozy config set {join_key(path)} VALUE",
    )


@command("list", examples=("compozy config list", "compozy config list session --all"))
@click.argument("prefix", required=False)
@WORKSPACE
@click.option("--all", "everything", is_flag=True, help="Also what has its default.")
@pass_invocation
def config_list(invocation: Invocation, prefix: str | None, workspace: str | None, everything: bool) -> None:
    """List what the files set, each value with where it comes from; with PREFIX only what lies below it."""
    from compozy.config.effective import effective_table, flatten  # noqa: PLC0415 - start-up cost
    from compozy.config.explain import masked_at  # noqa: PLC0415 - start-up cost
    from compozy.config.keys import join_key, split_key  # noqa: PLC0415 - start-up cost
    from compozy.config.load import canonical_layer_table, load_config, read_layers  # noqa: PLC0415 - start-up cost
    from compozy.config.trust_grants import file_trust  # noqa: PLC0415 - start-up cost

    above = split_key(prefix) if prefix else ()
    root = workspace_root(invocation, workspace)
    origins = {
        key: layer.origin
        for layer in read_layers(invocation.home, root, is_trusted=file_trust(invocation.home))
        for key, _ in flatten(canonical_layer_table(layer.table))
    }
    config = load_config(invocation.home, root, is_trusted=file_trust(invocation.home))
    rows: list[JsonObject] = [
        {"key": join_key(key), "value": masked_at(key, value), "from": origins.get(key, "default")}
        for key, value in flatten(effective_table(config))
        if key[: len(above)] == above and (everything or key in origins)
    ]
    empty = "nothing is set; every key has its default: compozy config list --all"
    print_rows(invocation, rows, LIST_COLUMNS, name="settings", empty=empty)
    _say_notes(invocation, config.notes)


@command("validate", examples=("compozy config validate", "compozy config validate --workspace . -o json"))
@WORKSPACE
@pass_invocation
def config_validate(invocation: Invocation, workspace: str | None) -> int:
    """Check the settings files; every mistake is named with file and line."""
    from compozy.config.errors import ConfigError  # noqa: PLC0415 - start-up cost
    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost
    from compozy.config.trust_grants import file_trust  # noqa: PLC0415 - start-up cost

    root = workspace_root(invocation, workspace)
    try:
        config = load_config(invocation.home, root, is_trusted=file_trust(invocation.home))
    except ConfigError as error:
        if invocation.is_human:
            raise
        answer: JsonObject = {"valid": False, "files": [], "problems": error.message.splitlines(), "notes": []}
        print_object(invocation, answer, (), name="validation")
        return EXIT_INVALID
    if invocation.is_human:
        write(f"valid: {', '.join(config.sources) or 'no settings file yet, the defaults are in force'}\n")
        _say_notes(invocation, config.notes)
        return 0
    answer = {"valid": True, "files": list(config.sources), "problems": [], "notes": list(config.notes)}
    print_object(invocation, answer, (), name="validation")
    return 0


@command("path", examples=("compozy config path", "compozy config path --workspace ."))
@WORKSPACE
@pass_invocation
def config_path(invocation: Invocation, workspace: str | None) -> None:
    """Print where the settings file lies, whether or not it exists yet."""
    from compozy.config.load import workspace_config_file  # noqa: PLC0415 - start-up cost

    root = workspace_root(invocation, workspace)
    path = invocation.home.config_file if root is None else workspace_config_file(root)
    if invocation.is_human:
        write(f"{path}\n")
    else:
        print_object(invocation, {"path": str(path), "exists": path.is_file()}, (), name="config")


@command("explain", examples=("compozy config explain http.port", "compozy config explain permissions --workspace ."))
@click.argument("key")
@WORKSPACE
@pass_invocation
def config_explain(invocation: Invocation, key: str, workspace: str | None) -> None:
    """Say where the value of KEY comes from: each file and line, what won, what was refused."""
    import msgspec  # noqa: PLC0415 - start-up cost

    from compozy.config.explain import Explanation, explain  # noqa: PLC0415 - start-up cost
    from compozy.config.keys import split_key  # noqa: PLC0415 - start-up cost

    found = explain(invocation.home, split_key(key), workspace_root(invocation, workspace))
    if not invocation.is_human:
        rows: list[JsonObject] = [as_object(msgspec.to_builtins(one)) for one in found]
        columns = tuple(Column(name.upper(), name) for name in Explanation.__struct_fields__)
        print_rows(invocation, rows, columns, name="explanations")
        return
    for one in found:
        write(f"{one.key} = {clean(json.dumps(one.value, ensure_ascii=False))}\n")
        if one.meaning:
            write(f"  {one.meaning.removeprefix('* ')}\n")
        for row in reversed(one.contributions):
            place = row.place or "built in"
            reason = f": {row.reason}" if row.reason else ""
            value = clean(json.dumps(row.value, ensure_ascii=False))
            write(f"  {row.standing:<10}  {row.origin:<9}  {clean(place)}  {value}{reason}\n")
        write(f"  a change is applied {'at once' if one.lifecycle == 'live' else 'when the daemon is restarted'}\n")


def _say_notes(invocation: Invocation, notes: tuple[str, ...]) -> None:
    for text in notes:
        note(invocation, f"note: {text}")
