"""Where everything lies in a TOML text that parses: its own light scanner (decisions D5)."""

from compozy.documents.problems import Fix, Path, Span


class TomlPlaces:
    """Places of keys and values in a valid TOML text; it is a `Locator`."""

    def __init__(self, text: str, *, base: int = 0) -> None:
        self._text = text
        self._base = base

    def key_span(self, path: Path) -> Span | None:
        """The key of the entry at `path`."""
        return None

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        return None

    def edits(self, path: Path, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        """The text edits of a fix."""
        return ()
