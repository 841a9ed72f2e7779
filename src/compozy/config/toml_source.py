"""A TOML file as values plus the line of every key, for messages that name a place.

`read_toml` refuses what is no TOML, with its line. Where a key cannot be placed, the line of its nearest written
parent is used. Knows no key.
"""

from pathlib import Path

from compozy.config.errors import ConfigError
from compozy.documents.files import read_regular
from compozy.documents.toml_places import TomlPlaces
from compozy.documents.toml_reader import TomlProblem
from compozy.documents.toml_reader import read_toml as parse_toml

KeyPath = tuple[str | int, ...]

# A hand-written configuration is never this long; the bound keeps a mistaken path from filling the memory.
MAX_BYTES = 4 << 20


class TomlSource:
    """One file: its `path`, its `text`, its parsed `table`, and where its keys stand."""

    def __init__(self, path: Path, table: dict[str, object], text: str) -> None:
        self.path = path
        self.table = table
        self.text = text
        self._places: TomlPlaces | None = None

    def is_written(self, key: KeyPath) -> bool:
        """Whether the file itself says something at this key path."""
        value: object = self.table
        for part in key:
            if not isinstance(value, dict) or part not in value:
                return False
            value = value[part]
        return True

    def place(self, key: KeyPath) -> str:
        """Return ``file:line`` for a key path, with the line of the nearest parent that is written."""
        if self._places is None:
            self._places = TomlPlaces(self.text)
        for end in range(len(key), 0, -1):
            span = self._places.key_span(key[:end])
            if span is not None:
                return f"{self.path}:{_line(self.text, span[0])}"
        return str(self.path)


def read_toml(path: Path) -> TomlSource | None:
    """Read a TOML file; None when there is none.

    Raises:
        ConfigError: the file cannot be read, is too large, is not UTF-8, or is no TOML.
    """
    try:
        data = read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {str(path)!r}: {error.strerror}; check its owner and mode") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{str(path)!r} is larger than 4 MiB, which no configuration is; check the path")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    return toml_source(path, text)


def toml_source(path: Path, text: str) -> TomlSource:
    """Parse a text that is, or is to be, the content of `path`.

    Raises:
        ConfigError: it is no TOML.
    """
    try:
        table = parse_toml(text)
    except TomlProblem as problem:
        place = f"{path}:{_line(text, problem.span[0])}"
        raise ConfigError(f"{place}: invalid TOML: {problem.message}; mend the file and try again") from problem
    return TomlSource(path, table, text)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
