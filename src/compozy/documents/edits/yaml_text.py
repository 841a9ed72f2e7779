"""How values are written into YAML: quoting that reads back as the same text everywhere (formats §3.3, §11.3).

Plain style is used only for text that no YAML version reads as anything else; `like` keeps the author's quotes.
"""

import re
from collections.abc import Mapping

from compozy.documents.edits.nodes import Node, Pair, plain

# Words that some YAML version reads as a boolean or null.
_WORDS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./@+\-]*(?: [A-Za-z0-9_./@+\-]+)*\*?")
_PLAIN_BLOCK = re.compile(r"[A-Za-z_./](?:[^\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff:#]|:(?![ ]|$)|(?<=\S)#)*(?<![ :])")
_NUMBER = re.compile(r"[-+]?(?:\.?[0-9][0-9_.eExXoObBa-fA-F+\-:]*|\.(?:inf|nan))", re.IGNORECASE)
_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\x07": "\\a", "\b": "\\b", "\f": "\\f",
    "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
}  # fmt: skip


def is_plain(text: str, *, inside_brackets: bool) -> bool:
    """Tell whether text may stand without quotes."""
    pattern = _PLAIN if inside_brackets else _PLAIN_BLOCK
    return bool(pattern.fullmatch(text)) and text.lower() not in _WORDS and not _NUMBER.fullmatch(text)


def double_quoted(text: str) -> str:
    """Return text in double quotes on one line, with everything unprintable escaped."""
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if char == " " or (char.isprintable() and code != 0xFEFF):
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def scalar_text(value: object, style: str, *, inside_brackets: bool) -> str:
    """Return a scalar in the given quote style where that is possible: `''` plain, `'` or `"`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if style != '"' and is_plain(text, inside_brackets=inside_brackets):
        return text
    return double_quoted(text)


def inline(value: object) -> str:
    """Return any value on one line, collections in brackets."""
    value = plain(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{inline(key)}: {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return scalar_text(value, "", inside_brackets=True)


def block_lines(value: object, indent: str) -> list[str]:
    """Return a non-empty mapping or list as indented lines without line breaks."""
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            lines.extend(entry_lines(str(key), item, indent))
    elif isinstance(value, list):
        for item in value:
            lines.extend(item_lines(item, indent))
    return lines


def entry_lines(name: str, value: object, indent: str) -> list[str]:
    """Return the lines of one key with its value; lists stand at the key's column, as in the canonical form."""
    key = indent + scalar_text(name, "", inside_brackets=False) + ":"
    if isinstance(value, Mapping) and value:
        return [key, *block_lines(value, indent + "  ")]
    if isinstance(value, list) and value:
        return [key, *block_lines(value, indent)]
    return [f"{key} {one_line(value)}"]


def item_lines(value: object, indent: str) -> list[str]:
    """Return the lines of one list item."""
    if isinstance(value, Mapping | list) and value:
        lines = block_lines(value, indent + "  ")
        return [f"{indent}- {lines[0][len(indent) + 2 :]}", *lines[1:]]
    return [f"{indent}- {one_line(value)}"]


def one_line(value: object) -> str:
    """Return a scalar or an empty collection as it stands after a key outside brackets."""
    if isinstance(value, Mapping | list):
        return inline(value)
    return scalar_text(value, "", inside_brackets=False)


class YamlDialect:
    """YAML inside brackets and for scalars."""

    comments = True

    def render(self, value: object, like: Node | None, indent: str, line_break: str) -> str:
        if isinstance(value, Mapping | list):
            return inline(value)
        style = like.style if like is not None and like.kind == "scalar" else ""
        return scalar_text(value, style, inside_brackets=like is None or not like.bare)

    def render_key(self, name: str, like: Pair | None) -> str:
        style = like.key.style if like is not None else ""
        return scalar_text(name, style, inside_brackets=True) + ": "

    def data(self, value: object) -> object:
        return yaml_data(value)


def yaml_data(value: object) -> object:
    """Return a value as the record reader sees it: every scalar is text, null is the empty text."""
    value = plain(value)
    if isinstance(value, dict):
        return {key: yaml_data(item) for key, item in value.items()}
    if isinstance(value, list):
        return [yaml_data(item) for item in value]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
