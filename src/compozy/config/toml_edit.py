"""Changing values in config.toml without touching anything else: comments, order and quoting stay.

Imported only when something is changed; the parser that keeps everything is slow to load.
"""

import tomlkit
import tomlkit.exceptions
from tomlkit.items import Table

from compozy.config.errors import ConfigError


def set_values(text: str, values: dict[tuple[str, ...], str], *, path: str) -> str:
    """Return the TOML text with each dotted key set; `path` names the file in messages.

    Raises:
        ConfigError: the text is no TOML, or a key's parent is no table.
    """
    try:
        document = tomlkit.parse(text)
    except tomlkit.exceptions.TOMLKitError as error:
        raise ConfigError(f"{path}: invalid TOML: {error}; mend the file and try again") from error
    for key, value in values.items():
        _set(document, key, value, path=path)
    return tomlkit.dumps(document)


def _set(document: tomlkit.TOMLDocument, key: tuple[str, ...], value: str, *, path: str) -> None:
    table: tomlkit.TOMLDocument | Table = document
    for part in key[:-1]:
        if part not in table:
            table[part] = tomlkit.table()
        inner = table[part]
        if not isinstance(inner, Table):
            raise ConfigError(f"{path}: {'.'.join(key[:-1])!r} is no table of its own; write it as [{part}]")
        table = inner
    if table.get(key[-1]) != value:
        table[key[-1]] = value
