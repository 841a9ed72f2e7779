"""Judge one manifest: every problem in one run, in the order of the reference (OCM §1; decisions O1, O3).

Input is a decoded value (from YAML, JSON or a program). Positions are added by `ocm/loading.py`, which has the text.
Nothing here raises for bad input, and time and output are bounded: values are shown shortened.
"""

from collections.abc import Iterable, Iterator, Mapping

from compozy.documents.limits import MAX_PROBLEMS
from compozy.model.diagnostic import Severity
from compozy.ocm.checks import (
    FIELD_CHECKS,
    Check,
    check_amount,
    check_flag,
    check_text,
    check_texts,
    check_unit,
    check_word,
    is_finite,
)
from compozy.ocm.grammar import (
    FIELDS,
    KINDS,
    PERCENTILES,
    REQUIRED,
    SECTIONS,
    TEXT_FIELDS,
    FieldType,
    id_problem,
    slug,
)
from compozy.ocm.manifest import is_clean
from compozy.ocm.problems import Problem
from compozy.ocm.validate_endpoints import check_endpoints
from compozy.ocm.wording import SHOWN, named, null_problem, problem_of, show, unknown_key, wrong_type

TOO_MANY = f"more than {MAX_PROBLEMS} problems; the others are not listed"


def validate(document: object) -> list[Problem]:
    """Return every problem of one manifest; an empty list means it is valid (warnings included in the list)."""
    return [] if is_clean(document) else find_problems(document)


def find_problems(document: object) -> list[Problem]:
    """The complete pass of `validate`, without the quick verdict on clean documents."""
    if not isinstance(document, Mapping):
        return [problem_of("not-a-mapping", "", f"a manifest must be a mapping, not {named(document)}")]
    return cut_short(_problems(document))


def cut_short(problems: Iterable[Problem]) -> list[Problem]:
    """Return at most as many problems as help anybody; the last one says that there are more."""
    found: list[Problem] = []
    for problem in problems:
        if len(found) == MAX_PROBLEMS:
            found.append(problem_of("too-large", "", TOO_MANY))
            break
        found.append(problem)
    return found


def _problems(document: Mapping[object, object]) -> Iterator[Problem]:
    for key in document:
        if not isinstance(key, str) or key not in FIELDS:
            yield unknown_key(key, "", FIELDS)
    yield from _missing(document)
    if "ocm" in document:
        yield from _check_version(document["ocm"])
    if "id" in document:
        yield from _check_id(document["id"])
    if "kind" in document:
        yield from check_word(document["kind"], "kind", KINDS)
    if "description" in document:
        yield from _check_description(document["description"])
    for field in TEXT_FIELDS:
        if field in document:
            yield from check_text(document[field], field)
    for section, fields in SECTIONS.items():
        if section in document:
            yield from _check_section(document[section], section, fields)
    for field, check in _TOP_CHECKS.items():
        if field in document:
            yield from check(document[field], field)


def errors(problems: list[Problem]) -> list[Problem]:
    """Return those that make a manifest invalid."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def _missing(document: Mapping[object, object]) -> Iterator[Problem]:
    for field in REQUIRED:
        if field not in document:
            yield problem_of("missing-field", field, f"the required field {field!r} is missing")


def _check_version(value: object) -> Iterator[Problem]:
    if value == "1" and isinstance(value, str):
        return
    major = value.strip().partition(".")[0] if isinstance(value, str) else ""
    # Not `isdigit`: a superscript two is a digit to Python and no number.
    if major.isdecimal() and int(major[:9]) > 1:
        yield problem_of(
            "newer-version", "ocm", f'ocm is {show(value)}, a newer major version; this program reads "1"'
        )
        return
    yield problem_of("version", "ocm", f'ocm must be the text "1" (quoted), not {show(value)}', '"1"')


def _check_id(value: object) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield wrong_type("id", value, "text")
        return
    code = id_problem(value)
    if code is None:
        return
    near = slug(value[:200])
    message = (
        f"id {show(value)}: use a-z, 0-9 and - _ . / : and start with a letter or digit"
        if code == "id-grammar"
        else f"id {show(value)} has an empty, '.' or '..' segment or ends in '/'"
    )
    yield problem_of(code, "id", message + (f"; for example {show(near)}" if near else ""), near)


def _check_description(value: object) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield wrong_type("description", value, "text")
    elif not value:
        yield problem_of("empty", "description", "the description is empty: say in a sentence what this offers")


def _check_section(value: object, section: str, fields: dict[str, FieldType]) -> Iterator[Problem]:
    if value is None:
        yield null_problem(section)
        return
    if not isinstance(value, Mapping):
        yield wrong_type(section, value, "a mapping")
        return
    for key in value:
        if not isinstance(key, str) or key not in fields:
            yield unknown_key(key, section, tuple(fields))
    for field, kind in fields.items():
        if field in value:
            yield from FIELD_CHECKS[kind](value[field], f"{section}.{field}")


def _check_latency(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield null_problem(field)
    elif isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key not in PERCENTILES:
                yield unknown_key(key, field, PERCENTILES)
        for key in PERCENTILES:
            if key in value:
                yield from check_amount(value[key], f"{field}.{key}")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        yield wrong_type(field, value, "a number of milliseconds or a mapping of p50, p90, p95, p99")
    else:
        yield from check_amount(value, field)


def _check_examples(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield null_problem(field)
    else:
        yield from check_texts(value, field)


def _check_prior(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield null_problem(field)
    else:
        yield from check_unit(value, field)


def _check_metadata(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield wrong_type(field, value, "a mapping")
        return
    place = _first_not_finite(value, field)
    if place is not None:
        yield problem_of("not-finite", place, f"{place} is not a finite number, or has a key that is none")


def _first_not_finite(value: object, field: str) -> str | None:
    # Iterative: metadata is free in shape, so its depth must not become ours.
    stack: list[tuple[str, object]] = [(field, value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, bool):
            continue
        if isinstance(item, int | float) and not is_finite(item):
            return place
        if isinstance(item, Mapping):
            if any(isinstance(key, int | float) and not is_finite(key) for key in item):
                return place
            stack.extend((f"{place}.{str(key)[:SHOWN]}", child) for key, child in item.items())
        elif isinstance(item, list):
            stack.extend((f"{place}[{index}]", child) for index, child in enumerate(item))
    return None


_TOP_CHECKS: dict[str, Check] = {
    "latency_ms": _check_latency,
    "endpoints": check_endpoints,
    "examples": _check_examples,
    "quality_prior": _check_prior,
    "primary": check_flag,
    "metadata": _check_metadata,
}
