"""Checks of single values by their type: text, lists of it, numbers in bounds, words of a list (OCM §1; O1).

Knows no manifest; which field takes what is in `grammar`.
"""

import math
from collections.abc import Callable, Iterator

from compozy.ocm.grammar import BOUNDARIES, FieldType
from compozy.ocm.problems import Problem
from compozy.ocm.wording import SHOWN, boolean_hint, nearest, problem_of, show, wrong_type

Check = Callable[[object, str], Iterator[Problem]]


def check_text(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield wrong_type(field, value, "text")


def check_texts(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        hint = boolean_hint(value)
        yield wrong_type(field, value, "a list of texts" + hint)


def check_flag(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield wrong_type(field, value, "true or false")


def _check_number(value: object, field: str, low: float, high: float | None) -> Iterator[Problem]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield wrong_type(field, value, "a number")
        return
    if not is_finite(value):
        yield problem_of("not-finite", field, f"{field} is {show(value)}: a finite number is needed")
    elif value < low or (high is not None and value > high):
        span = f"between {low:g} and {high:g}" if high is not None else f"at least {low:g}"
        yield problem_of("out-of-range", field, f"{field} is {show(value)}: it must be {span}")


def check_unit(value: object, field: str) -> Iterator[Problem]:
    yield from _check_number(value, field, 0, 1)


def check_amount(value: object, field: str) -> Iterator[Problem]:
    yield from _check_number(value, field, 0, None)


def _check_count(value: object, field: str) -> Iterator[Problem]:
    if isinstance(value, float) and is_finite(value) and not value.is_integer():
        yield wrong_type(field, value, "a whole number")
        return
    yield from _check_number(value, field, 0, None)


def _check_boundary(value: object, field: str) -> Iterator[Problem]:
    yield from check_word(value, field, BOUNDARIES)


def check_word(value: object, field: str, words: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(value, str) and value in words:
        return
    near = nearest(value[:SHOWN].lower(), words, 0.6) if isinstance(value, str) else ()
    message = f"{field} is {show(value)}; it must be one of {', '.join(words)}"
    if near:
        message += f"; did you mean {near[0]!r}?"
    yield problem_of("not-allowed", field, message, *near[:1])


def is_finite(value: int | float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


FIELD_CHECKS: dict[FieldType, Check] = {
    "text": check_text,
    "texts": check_texts,
    "unit": check_unit,
    "amount": check_amount,
    "count": _check_count,
    "flag": check_flag,
    "boundary": _check_boundary,
}
