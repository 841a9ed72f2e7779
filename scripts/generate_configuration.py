"""Writes docs/configuration.md from the records that read config.toml, so that page and program cannot differ.

Run it after a change of a key: `.venv/bin/python scripts/generate_configuration.py`. A test compares.
"""

import json
import typing
from collections.abc import Iterator
from pathlib import Path

import msgspec

from compozy.config.builtin_providers import ALIASES, BUILTIN_PROVIDERS
from compozy.config.config import Config
from compozy.config.durations import Duration
from compozy.config.key_meanings import MEANINGS, PROVIDER_MEANINGS
from compozy.config.providers import ProviderTable
from compozy.config.sections import OTHER_SECTIONS
from compozy.model.record import Record

TARGET = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
NOT_KEYS = ("providers", "notes", "sources")

HEAD = """# Configuration

This page is generated from the program (`scripts/generate_configuration.py`).

Settings live in `config.toml` in compozy's home. The home is `~/.compozy`, or what `COMPOZY_HOME` names; a `.env`
file in a repository never decides it. A workspace may add its own `.compozy/config.toml`. Every key is optional.

```console
compozy config list                                # what is set, and by which file
compozy config get defaults.provider               # one value in force
compozy config set defaults.provider claude        # changes this value, keeps comments and order
compozy config set defaults.agent reviewer --workspace .
compozy config unset defaults.agent --workspace .
compozy config explain permissions.mode            # file and line of every value, and why one does not count
compozy config validate                            # every mistake with file and line
```

A change is checked before it is written. A running daemon takes over roles, `providers.NAME.models`, MCP servers,
`skills.disabled_skills` and a new provider at once; everything else needs a restart, and `config set` says so:
`compozy daemon stop && compozy daemon start`. `compozy config explain KEY` tells which of the two it is.

## How files are merged
Defaults first, then the home's file, then the workspace's. A value that is written later replaces the earlier one;
lists are replaced as a whole; `[providers.NAME]` is merged key by key; of `[[mcp_servers]]` and
`[[hooks.declarations]]` the later one with a `name` replaces the earlier one. Servers have [more places](mcp.md).

A mistake is never passed over: an unknown key, a wrong type or a value out of bounds keeps the daemon from starting,
and the message names file, line and the nearest known key. `compozy doctor` checks without starting anything.

Durations are written `250ms`, `30s`, `5m`, `1h30m`.

## What a workspace cannot decide
A repository you cloned must not widen anything by itself. From a workspace's file these are left out, with a note in
`compozy doctor`:

* always: `daemon`, `http`, `log`, `redact`, `trust`, `limits`, `observability`;
* until you [trusted](trust.md) the file as it is, or the home says `[trust] mode = "off"`: `hooks`, `mcp_servers`,
  `tools`, everything of a provider but its models, and a `permissions.mode` wider than the home's.

## Keys
Keys marked with * are accepted and kept; this version does not act on them yet.
"""


def render() -> str:
    """Return the page."""
    parts = [HEAD, *_sections(), _providers(), _table_of_providers(), _others()]
    return "\n".join(parts)


def keys_of(record: type[Record], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield each key with its default, nested tables spelled out."""
    hints = typing.get_type_hints(record)
    for field in msgspec.structs.fields(record):
        name = f"{prefix}{field.name}"
        kind = hints[field.name]
        if isinstance(kind, type) and issubclass(kind, Record):
            yield from keys_of(kind, f"{name}.")
        elif field.default_factory is not msgspec.NODEFAULT:
            yield name, field.default_factory()
        else:
            yield name, field.default


def config_keys() -> dict[str, object]:
    """Return every key of the file, without providers."""
    return {name: value for name, value in keys_of(Config) if name.split(".")[0] not in NOT_KEYS}


def _sections() -> Iterator[str]:
    grouped: dict[str, list[tuple[str, object]]] = {}
    for name, value in config_keys().items():
        section, _, key = name.rpartition(".")
        grouped.setdefault(section, []).append((key, value))
    for section in sorted(grouped, key=lambda name: (name == "", list(grouped).index(name))):
        yield f"\n### {f'[{section}]' if section else 'Tables'}"
        yield "| key | default | meaning |\n|---|---|---|"
        for key, value in grouped[section]:
            meaning = MEANINGS[f"{section}.{key}" if section else key]
            yield f"| `{key}` | `{_shown(value)}` | {meaning} |"


def _providers() -> str:
    rows = "\n".join(f"| `{key}` | {PROVIDER_MEANINGS[key]} |" for key, _ in keys_of(ProviderTable))
    return f"""
### [providers.NAME]
A table with the name of a built-in provider changes that one; any other name adds one, which needs a `command`.

| key | meaning |
|---|---|
{rows}

```toml
[providers.mine]
command = "my-agent --acp"
display_name = "My agent"

[[providers.mine.credential_slots]]
name = "api_key"
target_env = "MY_API_KEY"        # read from the daemon's environment: env:MY_API_KEY
```
"""


def _table_of_providers() -> str:
    lines = []
    for row in BUILTIN_PROVIDERS.values():
        command = "python -m compozy_offline_agent" if row.id == "offline" else row.command
        secret = ", ".join(f"`{slot.target_env}`" for slot in row.credential_slots)
        login = secret or ("nothing" if row.auth_mode == "none" else "the program's own login")
        model = f"`{row.default_model}`" if row.default_model else "–"
        lines.append(f"| `{row.id}` | {row.display_name} | `{command}` | {model} | {login} |")
    aliases = ", ".join(f"`{alias}` is `{name}`" for alias, name in ALIASES.items())
    table = "\n".join(lines)
    return f"""## Built-in providers
| name | what it is | command | default model | needs |
|---|---|---|---|---|
{table}

Other spellings: {aliases}.
"""


def _others() -> str:
    names = ", ".join(f"`{name}`" for name in sorted(OTHER_SECTIONS))
    return f"""## Sections of other programs
These sections may stand in the file for other programs that share it; they are read past: {names}.
"""


def _shown(value: object) -> str:
    if isinstance(value, Duration):
        return _duration(value)
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return json.dumps(value)


def _duration(value: Duration) -> str:
    seconds = int(value)
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
