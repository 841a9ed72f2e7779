"""What an unquoted YAML scalar is, and its text again when a string was wanted (formats §3.3).

YAML 1.2 words, the established library's number grammar. Knows nothing of documents or positions.
"""

import re

WORDS: dict[str, bool | float | None] = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
    ".inf": float("inf"), ".Inf": float("inf"), ".INF": float("inf"),
    "-.inf": float("-inf"), "-.Inf": float("-inf"), "-.INF": float("-inf"),
    ".nan": float("nan"), ".NaN": float("nan"), ".NAN": float("nan"),
}  # fmt: skip
_FLOAT = re.compile(r"(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DECIMAL = re.compile(r"[0-9]+")
_BASES = (("0x", 16, re.compile(r"[0-9a-fA-F]+")), ("0o", 8, re.compile(r"[0-7]+")), ("0b", 2, re.compile(r"[01]+")))
_OCTAL = re.compile(r"[0-7]+")
# The widest the established library keeps as a number: unsigned 64 bits above zero, signed below.
_HIGHEST = 2**64 - 1
_LOWEST = -(2**63)
_NUMBER_START = frozenset("0123456789+-.")


def resolve_plain(text: str) -> str | bool | int | float | None:
    """The value of an unquoted scalar: bool, int, float, null, else its text."""
    if text in WORDS:
        return WORDS[text]
    if text[0] in _NUMBER_START:
        number = parse_number(text)
        if number is not None:
            return number
    return text


def parse_number(text: str) -> int | float | None:
    """The number an unquoted scalar means, or None when it is text."""
    found = number_parts(text)
    if found is None:
        return None
    negative, base, digits = found
    if base == 0:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            return None
        return -value if negative else value
    # The longest text that can still fit; longer ones are text and would cost time to convert.
    if len(digits.lstrip("0")) > 64:
        return None
    whole = int(digits, base)
    if negative:
        whole = -whole
    return whole if _LOWEST <= whole <= _HIGHEST else None


def number_parts(text: str) -> tuple[bool, int, str] | None:
    """Split a number-like text into sign, base (0 for a float) and digits; None when it does not look like one."""
    if text.startswith("_") or text.count(".") > 1:
        return None
    rest = text[1:] if text.startswith("+") else text
    negative = rest.startswith("-")
    if negative:
        rest = rest[1:]
    rest = rest.replace("_", "")
    for prefix, base, pattern in _BASES:
        if rest.startswith(prefix):
            digits = rest[2:]
            return (negative, base, digits) if pattern.fullmatch(digits) else None
    if "." in rest:
        return (negative, 0, rest) if _FLOAT.fullmatch(rest) else None
    if len(rest) > 1 and rest[0] == "0":
        return (negative, 8, rest) if _OCTAL.fullmatch(rest) else None
    return (negative, 10, rest) if _DECIMAL.fullmatch(rest) else None


def text_of(value: object) -> str:
    """The text a scalar becomes where a string is wanted (the table of formats §3.3)."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return str(value)


def float_text(value: float) -> str:
    """The shortest text of a float; with an exponent below -4 or from 6 upwards."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    sign = "-" if str(value).startswith("-") else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign + "0"
    point = len(whole) + int(exponent or 0)
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    if point - 1 < -4 or point - 1 >= 6:
        tail = "." + digits[1:] if len(digits) > 1 else ""
        power = point - 1
        return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if len(digits) <= point:
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"
