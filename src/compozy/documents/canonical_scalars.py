"""How a string is written in the canonical AGENT.md: bare, quoted or as a block (formats §11.3). Byte-exact."""

import re
import unicodedata
from datetime import date

from compozy.documents.yaml_scalars import number_parts

_WORDS = frozenset(
    [
        "null",
        "Null",
        "NULL",
        "~",
        "true",
        "True",
        "TRUE",
        "false",
        "False",
        "FALSE",
        "y",
        "Y",
        "yes",
        "Yes",
        "YES",
        "n",
        "N",
        "no",
        "No",
        "NO",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
    ]
)
_FIRST = frozenset("*&[{}],!|>%'\"@ `")
_NUMBER_START = frozenset("0123456789+-.")
_DATE = r"(\d{4})-(\d{2})-(\d{2})"
_TIME = r"\d{2}:\d{2}:\d{2}(?:\.\d+)?"
_DATE_TIME = re.compile(
    _DATE + r"(?:[ ](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?|[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?",
    re.ASCII,
)
_CLOCK = re.compile(r"(\d{1,2}):(\d{1,2})", re.ASCII)
_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\v": "\\v",
}  # fmt: skip
# Nothing in this text can be special: written bare without looking closer.
_OBVIOUS = re.compile(r"[A-Za-z][A-Za-z_./]*[-_][A-Za-z0-9_./-]*[A-Za-z0-9]")


def scalar(text: str, indent: int, *, under_dash: bool = False) -> str:
    """Write a string whose continuation lines, if it has any, stand `indent` columns in.

    Directly under a list's dash inner empty lines stay empty; under a key they carry the indent.
    """
    if _OBVIOUS.fullmatch(text):
        return text
    if needs_quotes(text):
        return quote(text)
    if "\n" in text:
        return _block(text, " " * indent, keep_empty=under_dash)
    return text


def needs_quotes(text: str) -> bool:
    """Whether the established writer puts a string in double quotes."""
    if not text or text in _WORDS or text == "-" or text[0] in _FIRST or text[-1] in ": ":
        return True
    if "#" in text or "\\" in text or ": " in text or "- " in text:
        return True
    return text[0] in _NUMBER_START and (number_parts(text) is not None or _is_time(text))


def quote(text: str) -> str:
    """Write a string in double quotes."""
    return '"' + "".join(_ESCAPES.get(c) or (c if _is_graphic(c) else _escape(c)) for c in text) + '"'


def _is_graphic(character: str) -> bool:
    if " " <= character <= "~":
        return True
    return unicodedata.category(character)[0] in "LMNPS"


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_time(text: str) -> bool:
    if len(text) > 80 or not text[0].isdigit():
        return False
    if match := _CLOCK.fullmatch(text):
        return int(match[1]) < 24 and int(match[2]) < 60
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        return False
    try:
        date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return False
    clock = [int(part) for part in match.groups()[3:] if part is not None]
    return not clock or (clock[0] < 24 and clock[1] < 60 and clock[2] < 60)


def _block(text: str, indent: str, *, keep_empty: bool) -> str:
    if text.endswith("\n\n"):
        header = "|+"
    elif text.endswith("\n"):
        header = "|"
    else:
        header = "|-"
    pieces = text.split("\n")
    lines = [indent + piece if piece or not keep_empty else "" for piece in pieces[:-1]]
    body = "\n".join([*lines, indent + pieces[-1]])
    body = body.removesuffix("\n" + indent).removesuffix(indent)
    return f"{header}\n{body}"
