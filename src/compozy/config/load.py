"""Read, check and merge the configuration files into one `Config` (contract §2.1; decisions D15).

Order: built-in defaults, the home's config.toml, the workspace's. Each file is checked on its own, so that every
problem is reported with file and line, all at once. Settings a workspace may not decide are left out with a note.
"""

import copy
import functools
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.config.durations import Duration
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.provider_names import unknown_providers
from compozy.config.providers import (
    REMOVED_KEYS,
    ProviderTable,
    build_defaults,
    build_provider,
    in_home,
    merge_provider_tables,
)
from compozy.config.role_sections import TTL_BOUNDS
from compozy.config.sections import OTHER_SECTIONS
from compozy.config.toml_source import KeyPath, TomlSource, read_toml, toml_source
from compozy.config.workspace_rules import WorkspaceRules
from compozy.documents.text import nearest
from compozy.model.provider import Provider
from compozy.model.record import Record

# Filled by the loader, not by a file.
_NOT_IN_FILES = frozenset({"notes", "sources"})
# `Expected …` messages of msgspec end in the path of the value.
_MESSAGE_PATH = re.compile(r"^(?P<text>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_PATH_PART = re.compile(r"\.([A-Za-z0-9_-]+)|\[(\d+|\.\.\.)\]")


class FileSections(Config, frozen=True, kw_only=True):
    """The shape of a file: like `Config`, with providers as they are written."""

    providers: dict[str, ProviderTable] = {}  # type: ignore[assignment]


# Sections whose keys are names of people's own, and what lies below each.
_NAMED_TABLES: dict[str, type] = {"providers": ProviderTable}


class Layer(NamedTuple):
    """One file: what it says, the `table` that counts, and what it may not decide: key paths with the reason."""

    origin: Literal["home", "workspace"]
    source: TomlSource
    table: dict[str, object]
    refused: Mapping[tuple[str, ...], str]


TrustCheck = Callable[[TomlSource], bool]


def load_config(
    home: Home,
    workspace_root: Path | None = None,
    *,
    instead: Mapping[Path, str] | None = None,
    is_trusted: TrustCheck | None = None,
) -> Config:
    """Return the configuration in force, for the home alone or for one workspace.

    Args:
        instead: texts to read in place of what lies at these paths, to check a file before it is written.
        is_trusted: whether a person trusted the workspace's file as it is; only then all of it counts (D15).

    Raises:
        ConfigError: a file cannot be read or has mistakes; the message names every one with its place.
    """
    notes: list[str] = []
    layers = read_layers(home, workspace_root, instead=instead, notes=notes, is_trusted=is_trusted)
    merged = _merged([layer.table for layer in layers])
    sections = _convert(merged)
    values = {name: getattr(sections, name) for name in Config.__struct_fields__}
    providers = _providers(_tables(merged.get("providers")), home)
    notes += unknown_providers(((layer.source, layer.table) for layer in layers), providers)
    values |= {
        "providers": providers,
        "defaults": msgspec.structs.replace(
            sections.defaults, provider=canonical_provider(sections.defaults.provider)
        ),
        "notes": tuple(notes),
        "sources": tuple(str(layer.source.path) for layer in layers),
    }
    return Config(**values)


def read_layers(
    home: Home,
    workspace_root: Path | None = None,
    *,
    instead: Mapping[Path, str] | None = None,
    notes: list[str] | None = None,
    is_trusted: TrustCheck | None = None,
) -> list[Layer]:
    """Return the files that count, lowest first, each checked on its own; findings are added to `notes`.

    Raises:
        ConfigError: as `load_config`.
    """
    found: list[str] = [] if notes is None else notes
    layers: list[Layer] = []
    for path, in_workspace in _files(home, workspace_root):
        text = (instead or {}).get(path)
        source = read_toml(path) if text is None else toml_source(path, text)
        if source is None:
            continue
        below = _merged([layer.table for layer in layers])
        found += _check(source, _tables(below.get("providers")))
        if not in_workspace:
            layers.append(Layer("home", source, source.table, {}))
            continue
        home_sections = _convert(below)
        rules = WorkspaceRules(
            trust=home_sections.trust,
            permissions=home_sections.permissions,
            is_trusted=is_trusted is not None and is_trusted(source),
        )
        table = rules.apply(source.table, source)
        found += rules.notes
        layers.append(Layer("workspace", source, table, rules.refused))
    return layers


def canonical_layer_table(table: dict[str, object]) -> dict[str, object]:
    """Return a file's table with its providers under the names of their rows."""
    written = table.get("providers")
    return {**table, "providers": _merge_providers({}, _tables(written))} if isinstance(written, dict) else table


def workspace_config_file(root: Path) -> Path:
    """Return where a workspace's own settings lie."""
    return root / ".compozy" / "config.toml"


def _files(home: Home, workspace_root: Path | None) -> Iterator[tuple[Path, bool]]:
    yield home.config_file, False
    if workspace_root is not None:
        path = workspace_config_file(workspace_root)
        # A workspace that is the home's parent names the home's own file: one file, read once.
        if path.absolute() != home.config_file.absolute():
            yield path, True


def _check(source: TomlSource, below: dict[str, dict[str, object]]) -> list[str]:
    """Check one file completely, its providers over those of the files `below`; return its notes."""
    table = dict(source.table)
    notes = [
        f"{source.place((name,))}: [{name}] belongs to parts this program does not have; it is read past"
        for name in table
        if name in OTHER_SECTIONS
    ]
    problems = list(_unknown_keys(source, {k: v for k, v in table.items() if k not in OTHER_SECTIONS}))
    wrong = list(_wrong_values(source))
    if not wrong:
        mine = _tables(_merged([table]).get("providers"))
        problems += _provider_problems(source, _merge_providers(below, mine), mine)
        problems += _cross_checks(source, _convert(table))
        problems += _server_problems(source)
    if problems or wrong:
        raise ConfigError("\n".join([*problems, *wrong]))
    return notes


def _wrong_values(source: TomlSource) -> Iterator[str]:
    """Find every value of a wrong type or out of bounds; named tables one by one: errors leave their names out."""
    written = {name: value for name, value in source.table.items() if name not in OTHER_SECTIONS}
    try:
        _convert(written)
        return
    except msgspec.ValidationError:
        # Looked at piece by piece below; the copy is taken apart on the way.
        table = copy.deepcopy(written)
    for section, kind in _NAMED_TABLES.items():
        named = table.get(section)
        if isinstance(named, dict):
            for name, inner in named.items():
                yield from _wrong_in(source, inner, kind, (section, name))
            table[section] = {}
    yield from _wrong_in(source, table, FileSections, ())


def _wrong_in(source: TomlSource, table: object, kind: type, above: KeyPath) -> Iterator[str]:
    """Name the first wrong value below `above`, take it out, look again."""
    while True:
        try:
            msgspec.convert(table, kind, dec_hook=_decode)
        except msgspec.ValidationError as error:
            inner = _error_path(error)
            key = (*above, *inner)
            yield f"{source.place(key)}: {_dotted(key)}: {_error_text(error)}{_choices(kind, inner)}"
            if not _drop(table, inner):
                return
        else:
            return


def _drop(table: object, key: KeyPath) -> bool:
    """Take one value out of nested tables; False when it is not there."""
    if not key:
        return False
    for part in key[:-1]:
        if isinstance(table, dict):
            table = table.get(part)
        elif isinstance(table, list) and isinstance(part, int) and part < len(table):
            table = table[part]
    last = key[-1]
    if isinstance(table, dict) and last in table:
        del table[last]
        return True
    if isinstance(table, list) and isinstance(last, int) and last < len(table):
        del table[last]
        return True
    return False


def _unknown_keys(source: TomlSource, table: dict[str, object]) -> Iterator[str]:
    for path, choices in list(_unknown(table, FileSections, ())):
        yield f"{source.place(path)}: {_unknown_key(path, choices)}"


def unknown_key_problems(table: dict[str, object]) -> str:
    """Return what is wrong with the keys of a table of no file, "" when all are known."""
    return "\n".join(_unknown_key(path, choices) for path, choices in _unknown(table, FileSections, ()))


def _unknown_key(path: KeyPath, choices: tuple[str, ...]) -> str:
    name = str(path[-1])
    removed = REMOVED_KEYS.get(name) if len(path) == 3 and path[0] == "providers" else None
    if removed is not None:
        return f"provider key {name!r} was removed; {removed}"
    close = nearest(name, choices)
    advice = f"did you mean {close!r}?" if close else f"known here: {', '.join(sorted(choices))}"
    return f"unknown config key {_dotted(path)!r}; {advice}"


def _unknown(value: object, expected: object, path: KeyPath) -> Iterator[tuple[KeyPath, tuple[str, ...]]]:
    """Walk a value beside its type and yield the keys the type does not know."""
    expected = bare_type(expected)
    if isinstance(expected, type) and issubclass(expected, Record) and isinstance(value, dict):
        hints = field_types(expected)
        known = [name for name in expected.__struct_fields__ if path or name not in _NOT_IN_FILES]
        for key, inner in value.items():
            if key in known:
                yield from _unknown(inner, hints[key], (*path, key))
            else:
                yield (*path, key), tuple(known)
        return
    arguments = typing.get_args(expected)
    origin = typing.get_origin(expected)
    if origin is dict and isinstance(value, dict):
        for key, inner in value.items():
            yield from _unknown(inner, arguments[1], (*path, key))
    elif origin is tuple and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _unknown(inner, arguments[0], (*path, index))


@functools.cache
def field_types(record: type[Record]) -> dict[str, object]:
    """Return the types of a record's fields; looking them up costs more than everything else about a file."""
    return typing.get_type_hints(record, include_extras=True)


def bare_type(expected: object) -> object:
    """Drop `Annotated` and `| None` around a type."""
    while True:
        if hasattr(expected, "__metadata__"):
            expected = typing.get_args(expected)[0]
        elif isinstance(expected, types.UnionType):
            expected = next(item for item in typing.get_args(expected) if item is not type(None))
        else:
            return expected


def _merged(tables: list[dict[str, object]]) -> dict[str, object]:
    """Merge files in order; a later file's value wins where it is present."""
    result: dict[str, object] = {}
    for table in tables:
        for name, value in table.items():
            if name in OTHER_SECTIONS:
                continue
            below = result.get(name)
            if name == "providers" and isinstance(value, dict):
                result[name] = _merge_providers(_tables(below), _tables(value))
            elif name == "mcp_servers" and isinstance(value, list):
                # Home and workspace are two levels of trust: the whole server is replaced (decisions D19).
                result[name] = _merge_by_name(below, value)
            elif name == "hooks" and isinstance(value, dict):
                declared = below.get("declarations") if isinstance(below, dict) else None
                result[name] = {
                    **value,
                    "declarations": _merge_by_name(declared, value.get("declarations")),
                }
            else:
                result[name] = _overlay(below, value)
    return result


def _overlay(below: object, value: object) -> object:
    if isinstance(below, dict) and isinstance(value, dict):
        return {**below, **{key: _overlay(below.get(key), inner) for key, inner in value.items()}}
    return value


def _tables(value: object) -> dict[str, dict[str, object]]:
    if not isinstance(value, dict):
        return {}
    return {str(name): table for name, table in value.items() if isinstance(table, dict)}


def _merge_providers(
    below: dict[str, dict[str, object]], value: dict[str, dict[str, object]]
) -> dict[str, dict[str, object]]:
    merged = dict(below)
    for name, table in value.items():
        key = canonical_provider(name)
        merged[key] = merge_provider_tables(merged.get(key, {}), table)
    return merged


def _merge_by_name(below: object, value: object) -> list[object]:
    """Merge lists of named tables: the whole object of the later one wins."""
    rows: list[object] = list(below) if isinstance(below, list) else []
    for row in value if isinstance(value, list) else []:
        name = row.get("name") if isinstance(row, dict) else None
        index = next((i for i, old in enumerate(rows) if isinstance(old, dict) and old.get("name") == name), None)
        if index is None or name is None:
            rows.append(row)
        else:
            rows[index] = row
    return rows


def _convert(table: dict[str, object]) -> FileSections:
    return msgspec.convert(table, FileSections, dec_hook=_decode)


def _decode(expected: type, value: object) -> object:
    if expected is object:
        return value
    if expected is Duration:
        if not isinstance(value, str):
            raise ValueError(f'expected a duration such as "30s", got {value!r}')
        return Duration.read(value)
    raise NotImplementedError(f"no decoder for {expected!r}")


def _error_path(error: msgspec.ValidationError) -> KeyPath:
    """Return the key path that ends msgspec's message."""
    match = _MESSAGE_PATH.match(str(error))
    path = (match["path"] or "") if match else ""
    return tuple(part[0] or (int(part[1]) if part[1].isdigit() else 0) for part in _PATH_PART.findall(path))


def _error_text(error: msgspec.ValidationError) -> str:
    match = _MESSAGE_PATH.match(str(error))
    text = match["text"] if match else str(error)
    return f"{text[:1].lower()}{text[1:]}"


def _choices(kind: object, path: KeyPath) -> str:
    """Return what a closed list at `path` below a record holds, as the end of a sentence; "" where there is none."""
    expected = bare_type(kind)
    for part in path:
        if isinstance(part, str) and isinstance(expected, type) and issubclass(expected, Record):
            expected = bare_type(field_types(expected).get(part))
        elif typing.get_origin(expected) in (dict, tuple, list):
            expected = bare_type(typing.get_args(expected)[1 if typing.get_origin(expected) is dict else 0])
        else:
            return ""
    if typing.get_origin(expected) is not typing.Literal:
        return ""
    return f"; choose one of {', '.join(map(str, typing.get_args(expected)))}"


def _dotted(path: KeyPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _cross_checks(source: TomlSource, sections: FileSections) -> Iterator[str]:
    supervision = sections.session.supervision
    if 0 < supervision.inactivity_timeout < supervision.inactivity_warning_after:
        place = source.place(("session", "supervision", "inactivity_warning_after"))
        yield f"{place}: session.supervision.inactivity_warning_after must not exceed inactivity_timeout; lower it"
    shortest, longest = TTL_BOUNDS
    if not shortest <= sections.roles.coordinator.ttl <= longest:
        place = source.place(("roles", "coordinator", "ttl"))
        yield f"{place}: roles.coordinator.ttl must be 1m to 24h, it is {sections.roles.coordinator.ttl.text}"


def _server_problems(source: TomlSource) -> Iterator[str]:
    tables = (source.table, *_tables(source.table.get("providers")).values())
    if any("mcp_servers" in table for table in tables):
        from compozy.config.mcp.tables import table_problems  # noqa: PLC0415 - start-up cost: reads like AGENT.md

        yield from table_problems(source)


def _provider_problems(
    source: TomlSource, merged: dict[str, dict[str, object]], mine: dict[str, dict[str, object]]
) -> Iterator[str]:
    tables = _convert({"providers": merged}).providers
    for name in mine:
        try:
            build_provider(name, merged[name], tables[name])
        except ValueError as error:
            yield f"{source.place(('providers', name))}: {error}"


def _providers(written: dict[str, dict[str, object]], home: Home) -> dict[str, Provider]:
    providers = build_defaults(home)
    tables = _convert({"providers": written}).providers
    for name, table in written.items():
        try:
            providers[name] = in_home(build_provider(name, table, tables[name]), home)
        except ValueError as error:
            raise ConfigError(f"providers.{name}: {error}") from error
    return providers
