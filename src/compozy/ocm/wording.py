"""What is wrong with a value, in words: short whatever the value, with the nearest name (OCM §1; decisions O3).

Knows no field and no rule.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from compozy.model.diagnostic import Severity
from compozy.ocm.problems import Problem

# A value's text in a message is cut here, so that a bomb of a document gives a short answer.
SHOWN = 60
# Whoever could call it with this is not named in a message.
_USER = re.compile(r"://[^/@\s]*@")


def problem_of(
    code: str, field: str, message: str, suggestion: str = "", *, severity: Severity = Severity.ERROR
) -> Problem:
    return Problem(code=code, field=field, message=message, suggestion=suggestion, severity=severity)


def null_problem(field: str) -> Problem:
    return problem_of("null-field", field, f"{field} must not be null: leave it out")


def wrong_type(field: str, value: object, wanted: str) -> Problem:
    return problem_of("wrong-type", field, f"{field} must be {wanted}, not {named(value)}")


def unknown_key(
    key: object,
    section: str,
    known: tuple[str, ...],
    *,
    code: str = "unknown-field",
    severity: Severity = Severity.ERROR,
) -> Problem:
    name = key if isinstance(key, str) else str(key)
    name = name[: 40 * SHOWN]
    near = nearest(name[:SHOWN], known, 0.7)
    field = f"{section}.{name}" if section else name
    message = f"unknown field {show(name)}" + (f" in {section}" if section else "")
    if near:
        message += f"; did you mean {near[0]!r}?"
    return problem_of(code, field, message, *near, severity=severity)


@lru_cache(2048)
def nearest(text: str, words: tuple[str, ...], cutoff: float) -> tuple[str, ...]:
    import difflib  # noqa: PLC0415 - start-up cost

    # The same slip is made in many manifests, and comparing is the dearest step of judging one.
    return tuple(difflib.get_close_matches(text, words, 1, cutoff))


def boolean_hint(value: object) -> str:
    if isinstance(value, list) and any(isinstance(item, bool) for item in value):
        return " (an unquoted yes, no, on or off reads as a boolean in YAML 1.1: quote it)"
    return ""


def named(value: object) -> str:
    return _type_name(value) if value is None else f"{_type_name(value)} {show(value)}".rstrip()


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "the boolean", int: "the number", float: "the number", str: "the text", list: "a list"}
    return names.get(type(value), "a mapping" if isinstance(value, Mapping) else f"a {type(value).__name__}")


def show(value: object) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[:SHOWN] + "…")
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else "(too large to show)"
    if isinstance(value, float):
        return f"{value:g}"
    return ""


def show_url(value: object) -> str:
    return show(_USER.sub("://***@", value) if isinstance(value, str) else value)
