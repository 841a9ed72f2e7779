"""Changing values in config.toml without touching anything else: comments, order and quoting stay (decisions D3).

The editing itself is that of all authored files, in `documents.edits`; imported only when something is changed.
"""

from compozy.config.errors import ConfigError
from compozy.documents.edits import EditRefused, edit_toml


def change_values(text: str, values: dict[tuple[str, ...], object], *, path: str) -> str:
    """Return the TOML text with each dotted key set, or removed where the value is None.

    `path` names the file in messages.

    Raises:
        ConfigError: the text is no TOML, or a key's parent is no table.
    """
    try:
        return edit_toml(text, {tuple(key): value for key, value in values.items()}).text
    except EditRefused as error:
        raise ConfigError(f"{path}: {error.message}") from error
