"""How values are written into TOML: one line, the author's kind of quotes where they can hold the text."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time

from compozy.documents.edits.nodes import Node, Pair, plain

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def key_text(name: str) -> str:
    """Return a key, quoted when it is not bare."""
    return name if _BARE_KEY.fullmatch(name) else string_text(name, '"')


def string_text(text: str, style: str) -> str:
    """Return a string; literal quotes stay literal when they can."""
    printable = all(char.isprintable() for char in text)
    if style in ("'", "'''") and printable and "'" not in text:
        return f"'{text}'"
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if code >= 0x20 and code != 0x7F and (char.isprintable() or code > 0xFF):
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def value_text(value: object, style: str = "") -> str:
    """Return any value on one line. A missing value has no TOML form and is the empty string."""
    value = plain(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(str(key))} = {value_text(item)}" for key, item in value.items())
        return "{ " + inner + " }" if inner else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return string_text("" if value is None else str(value), style)


class TomlDialect:
    """TOML values, inside brackets or behind an equals sign."""

    comments = True

    def render(self, value: object, like: Node | None, indent: str, line_break: str) -> str:
        style = like.style if like is not None and like.kind == "scalar" else ""
        return value_text(value, style)

    def render_key(self, name: str, like: Pair | None) -> str:
        return key_text(name) + " = "

    def data(self, value: object) -> object:
        return plain(value)
