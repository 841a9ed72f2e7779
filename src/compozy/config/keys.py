"""Keys of config.toml as people write them: ``http.port``, ``providers.claude.models.default`` (contract §2.1, §2.2).

Splits and joins them, says which value a key takes, and how a change of it is applied. Reads no file.
"""

import re
import typing

from compozy.config.builtin_providers import canonical_provider
from compozy.config.errors import ConfigError
from compozy.config.key_meanings import MEANINGS, PROVIDER_MEANINGS
from compozy.config.load import FileSections, bare_type, field_types, unknown_key_problems
from compozy.model.record import Record

Key = tuple[str, ...]
Lifecycle = typing.Literal["live", "restart-required"]
ANY = object

_PART = re.compile(r"""\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[A-Za-z0-9_-]+))\s*(?:\.|$)""")
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


def split_key(text: str) -> Key:
    """Split a dotted key; the name of a provider is resolved to its row.

    Raises:
        ConfigError: it is no key, or config.toml has no such key; the message names the nearest one.
    """
    parts: list[str] = []
    at = 0
    while at < len(text) or not parts:
        match = _PART.match(text, at)
        if match is None or match.end() == at:
            raise ConfigError(f"{text!r} is no key; write it like http.port or providers.claude.models.default")
        parts.append(next(part for part in match.groups() if part is not None))
        at = match.end()
    if text.endswith("."):
        raise ConfigError(f"{text!r} ends in a dot; name a key below it, or leave the dot out")
    if parts[0] == "providers" and len(parts) > 1:
        parts[1] = canonical_provider(parts[1])
    key = tuple(parts)
    problem = unknown_key_problems(_nested(key))
    if problem:
        raise ConfigError(problem)
    return key


def join_key(key: Key) -> str:
    """Return the key as it is written on a line."""
    return ".".join(part if _BARE.match(part) else f'"{part}"' for part in key)


def type_at(key: Key) -> object:
    """Return the type of the value a known key takes; `object` where anything goes."""
    expected: object = FileSections
    for part in key:
        expected = bare_type(expected)
        if isinstance(expected, type) and issubclass(expected, Record):
            expected = field_types(expected)[part]
        elif typing.get_origin(expected) is dict:
            expected = typing.get_args(expected)[1]
        else:
            return ANY
    return bare_type(expected)


def is_table(key: Key) -> bool:
    """Whether the key holds other keys instead of a value."""
    expected = type_at(key)
    return (isinstance(expected, type) and issubclass(expected, Record)) or (
        typing.get_origin(expected) is dict and len(key) < 2
    )


def lifecycle_of(key: Key) -> Lifecycle:
    """Return how a change is applied: at once, or by a restart of the daemon (contract §2.1)."""
    if key[:1] in (("roles",), ("mcp_servers",), ("models_dev",)) or key[:2] == ("skills", "disabled_skills"):
        return "live"
    if key[:1] == ("providers",) and key[2:3] in (("models",), ("mcp_servers",)):
        return "live"
    return "restart-required"


def meaning_of(key: Key) -> str:
    """Return the line of the reference about a key, "" when it only says so of a whole table."""
    if key[:1] == ("providers",):
        below = key[2:]
        return next(
            (
                PROVIDER_MEANINGS[name]
                for end in range(len(below), 0, -1)
                if (name := ".".join(below[:end])) in PROVIDER_MEANINGS
            ),
            "",
        )
    return next((MEANINGS[name] for end in range(len(key), 0, -1) if (name := ".".join(key[:end])) in MEANINGS), "")


def _nested(key: Key) -> dict[str, object]:
    table: dict[str, object] = {}
    for part in reversed(key):
        table = {part: table}
    return table
