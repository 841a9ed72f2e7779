"""What an unquoted YAML scalar is under the 1.2 core schema, and where YAML 1.1 would read it differently (O2).

Knows nothing of documents or positions. The rules of 1.1 are those of its own type repository, with the spellings
its common readers accept.
"""

import re

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TRUES = frozenset(("true", "True", "TRUE"))
_FALSES = frozenset(("false", "False", "FALSE"))
_INT = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z")
_NANS = frozenset((".nan", ".NaN", ".NAN"))
NUMBER_START = frozenset("0123456789+-.")
# No word with a meaning in either version is longer.
LONGEST_WORD = 5
# Longer numbers are infinite as a double; converting their digits would only cost time.
MAX_DIGITS = 400

# YAML 1.1: words and number shapes that 1.2 reads as something else. Its lone y and n are text to every reader of
# note, so that a warning would only annoy.
_WORDS_11 = {
    word: word.lower() in ("yes", "on")
    for base in ("yes", "no", "on", "off")
    for word in (base, base.capitalize(), base.upper())
}
_INT_11 = re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0x[0-9a-fA-F_]+|(?:0|[1-9][0-9_]*)|[1-9][0-9_]*(?::[0-5]?[0-9])+)\Z")
_FLOAT_11 = re.compile(
    r"(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)\Z"
)
_TIME_11 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?\Z"
)


def resolve(text: str) -> str | bool | int | float | None:
    """Return the value of an unquoted scalar."""
    if text in _NULLS:
        return None
    if text[0] in NUMBER_START:
        number = number_of(text)
        return text if number is None else number
    if text in _TRUES:
        return True
    return False if text in _FALSES else text


def number_of(text: str) -> int | float | None:
    """Return the number an unquoted scalar means, or None when it is none."""
    if _INT.match(text):
        return int(text) if len(text) <= MAX_DIGITS else float("-inf" if text[0] == "-" else "inf")
    if _FLOAT.match(text):
        return float(text)
    if _HEX.match(text) or _OCTAL.match(text):
        return int(text[2:], 16 if text[1] == "x" else 8) if len(text) <= MAX_DIGITS else float("inf")
    if _INFINITE.match(text):
        return float("-inf" if text[0] == "-" else "inf")
    return float("nan") if text in _NANS else None


def meaning_in_yaml_11(text: str, value: object) -> str:
    """Say what YAML 1.1 reads where that differs from `value`, the meaning in 1.2; "" where both agree."""
    if text in _WORDS_11:
        return "the boolean true" if _WORDS_11[text] else "the boolean false"
    if text == "=":
        return "a special value that most readers refuse"
    if text == "<<":
        return "a merge key"
    if not text or text[0] not in NUMBER_START:
        return ""
    if isinstance(value, str):
        if _INT_11.match(text) or _FLOAT_11.match(text):
            return "a number"
        return "a date" if _TIME_11.match(text) else ""
    return _number_in_yaml_11(text, value)


def _number_in_yaml_11(text: str, value: object) -> str:
    if _INT_11.match(text):
        digits = text.lstrip("+-")
        # A leading zero means octal there and decimal here.
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xb"
        if not octal:
            return ""
        # Python writes out no more digits of one number.
        other = int(digits, 8) if len(digits) <= MAX_DIGITS else None
        return "" if other == value else "another number" if other is None else f"the number {other}"
    if isinstance(value, float) and (_FLOAT_11.match(text) or _INFINITE.match(text) or text in _NANS):
        return ""
    return "text"


def spelled_for_both(text: str, value: object) -> str:
    """Return a spelling that both versions read as `value`."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, int):
        return str(value)
    plain = f"{value:f}".rstrip("0") if isinstance(value, float) else str(value)
    if plain.endswith("."):
        plain += "0"
    if isinstance(value, float) and float(plain) == value and len(plain) < 24:
        return plain
    mantissa, _, exponent = f"{value!r}".partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{int(exponent or 0):+03d}"
