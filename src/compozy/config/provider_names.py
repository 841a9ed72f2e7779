"""Settings that name a provider which does not exist: told with file and line, kept as they are (issue 5, bad input).

No error of the file: the provider may be about to be added, and whatever needs none goes on. Sessions that need it
are refused with the same words.
"""

from collections.abc import Iterable, Iterator, Mapping

from compozy.config.builtin_providers import canonical_provider
from compozy.config.toml_source import KeyPath, TomlSource
from compozy.documents.text import nearest
from compozy.model.provider import Provider


def unknown_providers(
    files: Iterable[tuple[TomlSource, Mapping[str, object]]], providers: Mapping[str, Provider]
) -> Iterator[str]:
    """Yield a note for every setting that counts and names no provider; `files` are sources with what counts."""
    for source, table in files:
        for key, name in _named(table):
            if canonical_provider(name) not in providers:
                yield f"{source.place(key)}: {_dotted(key)} {says_unknown(name, providers)}"


def says_unknown(name: str, providers: Mapping[str, Provider]) -> str:
    """Return in words that a name is no provider's, with the nearest that is."""
    close = nearest(name, providers)
    advice = f"did you mean {close!r}?" if close else "see `compozy provider list`"
    return f"names provider {name!r}, which does not exist; {advice}"


def _named(table: Mapping[str, object]) -> Iterator[tuple[KeyPath, str]]:
    defaults = table.get("defaults")
    if isinstance(defaults, dict):
        yield from _text(("defaults", "provider"), defaults.get("provider"))
    roles = table.get("roles")
    for role, value in roles.items() if isinstance(roles, dict) else ():
        if not isinstance(value, dict):
            continue
        yield from _text(("roles", str(role), "provider"), value.get("provider"))
        chain = value.get("fallback_chain")
        for number, row in enumerate(chain if isinstance(chain, list) else ()):
            if isinstance(row, dict):
                yield from _text(("roles", str(role), "fallback_chain", number, "provider"), row.get("provider"))


def _text(key: KeyPath, value: object) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str) and value.strip():
        yield key, value.strip()


def _dotted(key: KeyPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")
