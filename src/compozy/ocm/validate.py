"""Judge one manifest: every problem in one run, in the order of the reference (OCM §1; decisions O1, O3).

Input is a decoded value (from YAML, JSON or a program). Positions are added by `ocm/loading.py`, which has the text.
Nothing here raises for bad input, and time and output are bounded: values are shown shortened.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from compozy.documents.limits import MAX_PROBLEMS
from compozy.model.diagnostic import Severity
from compozy.ocm.grammar import (
    BOUNDARIES,
    ENDPOINT_KEYS,
    FIELDS,
    KINDS,
    PERCENTILES,
    PROTOCOLS,
    PROTOCOLS_WITH_URL,
    REQUIRED,
    SECTIONS,
    TEXT_FIELDS,
    FieldType,
    id_problem,
    slug,
)
from compozy.ocm.manifest import is_clean
from compozy.ocm.problems import Problem

# A value's text in a message is cut here, so that a bomb of a document gives a short answer.
SHOWN = 60
TOO_MANY = f"more than {MAX_PROBLEMS} problems; the others are not listed"
# Whoever could call it with this is not named in a message.
_USER = re.compile(r"://[^/@\s]*@")
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


def validate(document: object) -> list[Problem]:
    """Return every problem of one manifest; an empty list means it is valid (warnings included in the list)."""
    return [] if is_clean(document) else find_problems(document)


def find_problems(document: object) -> list[Problem]:
    """The complete pass of `validate`, without the quick verdict on clean documents."""
    if not isinstance(document, Mapping):
        return [problem_of("not-a-mapping", "", f"a manifest must be a mapping, not {_named(document)}")]
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
            yield from _check_text(document[field], field)
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
            "newer-version", "ocm", f'ocm is {_show(value)}, a newer major version; this program reads "1"'
        )
        return
    yield problem_of("version", "ocm", f'ocm must be the text "1" (quoted), not {_show(value)}', '"1"')


def _check_id(value: object) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield _wrong_type("id", value, "text")
        return
    code = id_problem(value)
    if code is None:
        return
    near = slug(value[:200])
    message = (
        f"id {_show(value)}: use a-z, 0-9 and - _ . / : and start with a letter or digit"
        if code == "id-grammar"
        else f"id {_show(value)} has an empty, '.' or '..' segment or ends in '/'"
    )
    yield problem_of(code, "id", message + (f"; for example {_show(near)}" if near else ""), near)


def _check_description(value: object) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield _wrong_type("description", value, "text")
    elif not value:
        yield problem_of("empty", "description", "the description is empty: say in a sentence what this offers")


def _check_text(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield _wrong_type(field, value, "text")


def _check_texts(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        hint = _boolean_hint(value)
        yield _wrong_type(field, value, "a list of texts" + hint)


def _check_flag(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield _wrong_type(field, value, "true or false")


def _check_number(value: object, field: str, low: float, high: float | None) -> Iterator[Problem]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield _wrong_type(field, value, "a number")
        return
    if not _is_finite(value):
        yield problem_of("not-finite", field, f"{field} is {_show(value)}: a finite number is needed")
    elif value < low or (high is not None and value > high):
        span = f"between {low:g} and {high:g}" if high is not None else f"at least {low:g}"
        yield problem_of("out-of-range", field, f"{field} is {_show(value)}: it must be {span}")


def _check_unit(value: object, field: str) -> Iterator[Problem]:
    yield from _check_number(value, field, 0, 1)


def _check_amount(value: object, field: str) -> Iterator[Problem]:
    yield from _check_number(value, field, 0, None)


def _check_count(value: object, field: str) -> Iterator[Problem]:
    if isinstance(value, float) and _is_finite(value) and not value.is_integer():
        yield _wrong_type(field, value, "a whole number")
        return
    yield from _check_number(value, field, 0, None)


def _check_boundary(value: object, field: str) -> Iterator[Problem]:
    yield from check_word(value, field, BOUNDARIES)


def check_word(value: object, field: str, words: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(value, str) and value in words:
        return
    near = _nearest(value[:SHOWN].lower(), words, 0.6) if isinstance(value, str) else ()
    message = f"{field} is {_show(value)}; it must be one of {', '.join(words)}"
    if near:
        message += f"; did you mean {near[0]!r}?"
    yield problem_of("not-allowed", field, message, *near[:1])


def _check_section(value: object, section: str, fields: dict[str, FieldType]) -> Iterator[Problem]:
    if value is None:
        yield _null(section)
        return
    if not isinstance(value, Mapping):
        yield _wrong_type(section, value, "a mapping")
        return
    for key in value:
        if not isinstance(key, str) or key not in fields:
            yield unknown_key(key, section, tuple(fields))
    for field, kind in fields.items():
        if field in value:
            yield from FIELD_CHECKS[kind](value[field], f"{section}.{field}")


def _check_latency(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield _null(field)
    elif isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key not in PERCENTILES:
                yield unknown_key(key, field, PERCENTILES)
        for key in PERCENTILES:
            if key in value:
                yield from _check_amount(value[key], f"{field}.{key}")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        yield _wrong_type(field, value, "a number of milliseconds or a mapping of p50, p90, p95, p99")
    else:
        yield from _check_amount(value, field)


def _check_endpoints(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield _null(field)
        return
    if not isinstance(value, list):
        yield _wrong_type(field, value, "a list of endpoints")
        return
    for index, endpoint in enumerate(value):
        yield from _check_endpoint(endpoint, f"{field}[{index}]")


def _check_endpoint(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _wrong_type(field, value, "a mapping")
        return
    protocol = value.get("protocol")
    if "protocol" not in value:
        yield problem_of("missing-field", f"{field}.protocol", f"{field} needs a protocol: {', '.join(PROTOCOLS)}")
    else:
        yield from check_word(protocol, f"{field}.protocol", PROTOCOLS)
    if "url" in value:
        yield from _check_url(value["url"], f"{field}.url")
    elif isinstance(protocol, str) and protocol in PROTOCOLS_WITH_URL:
        yield problem_of("url-required", f"{field}.url", f"{field} speaks {protocol} and needs a url")
    for key in ("region", "auth"):
        if key in value:
            yield from _check_text(value[key], f"{field}.{key}")
    for key in value:
        if not isinstance(key, str) or key not in ENDPOINT_KEYS:
            yield unknown_key(key, field, ENDPOINT_KEYS, code="unknown-endpoint-key", severity=Severity.WARNING)


def _check_url(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        yield problem_of("url", field, f"{field} is {_show_url(value)}: it must start with http:// or https://")
        return
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
        credentials = parts.username is not None or parts.password is not None
    except ValueError:
        # A bracket or port that cannot be read: the reference accepts it, so it stays without a verdict here.
        return
    if credentials:
        yield problem_of(
            "url-credentials",
            field,
            f"{field} carries a user name or password; take them out and name a credential where it is called",
            severity=Severity.WARNING,
        )
    if parts.scheme == "http" and host not in LOOPBACK_HOSTS:
        yield problem_of(
            "url-plain-http",
            field,
            f"{field} uses plain http to {_show(host)}: use https",
            severity=Severity.WARNING,
        )


def _show_url(value: object) -> str:
    return _show(_USER.sub("://***@", value) if isinstance(value, str) else value)


def _check_examples(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield _null(field)
    else:
        yield from _check_texts(value, field)


def _check_prior(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield _null(field)
    else:
        yield from _check_unit(value, field)


def _check_metadata(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _wrong_type(field, value, "a mapping")
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
        if isinstance(item, int | float) and not _is_finite(item):
            return place
        if isinstance(item, Mapping):
            if any(isinstance(key, int | float) and not _is_finite(key) for key in item):
                return place
            stack.extend((f"{place}.{str(key)[:SHOWN]}", child) for key, child in item.items())
        elif isinstance(item, list):
            stack.extend((f"{place}[{index}]", child) for index, child in enumerate(item))
    return None


_Check = Callable[[object, str], Iterator[Problem]]

FIELD_CHECKS: dict[FieldType, _Check] = {
    "text": _check_text,
    "texts": _check_texts,
    "unit": _check_unit,
    "amount": _check_amount,
    "count": _check_count,
    "flag": _check_flag,
    "boundary": _check_boundary,
}
_TOP_CHECKS: dict[str, _Check] = {
    "latency_ms": _check_latency,
    "endpoints": _check_endpoints,
    "examples": _check_examples,
    "quality_prior": _check_prior,
    "primary": _check_flag,
    "metadata": _check_metadata,
}


def _is_finite(value: int | float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def problem_of(
    code: str, field: str, message: str, suggestion: str = "", *, severity: Severity = Severity.ERROR
) -> Problem:
    return Problem(code=code, field=field, message=message, suggestion=suggestion, severity=severity)


def _null(field: str) -> Problem:
    return problem_of("null-field", field, f"{field} must not be null: leave it out")


def _wrong_type(field: str, value: object, wanted: str) -> Problem:
    return problem_of("wrong-type", field, f"{field} must be {wanted}, not {_named(value)}")


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
    near = _nearest(name[:SHOWN], known, 0.7)
    field = f"{section}.{name}" if section else name
    message = f"unknown field {_show(name)}" + (f" in {section}" if section else "")
    if near:
        message += f"; did you mean {near[0]!r}?"
    return problem_of(code, field, message, *near, severity=severity)


@lru_cache(2048)
def _nearest(text: str, words: tuple[str, ...], cutoff: float) -> tuple[str, ...]:
    import difflib  # noqa: PLC0415 - start-up cost

    # The same slip is made in many manifests, and comparing is the dearest step of judging one.
    return tuple(difflib.get_close_matches(text, words, 1, cutoff))


def _boolean_hint(value: object) -> str:
    if isinstance(value, list) and any(isinstance(item, bool) for item in value):
        return " (an unquoted yes, no, on or off reads as a boolean in YAML 1.1: quote it)"
    return ""


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "the boolean", int: "the number", float: "the number", str: "the text", list: "a list"}
    return names.get(type(value), "a mapping" if isinstance(value, Mapping) else f"a {type(value).__name__}")


def _named(value: object) -> str:
    return _type_name(value) if value is None else f"{_type_name(value)} {_show(value)}".rstrip()


def _show(value: object) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[:SHOWN] + "…")
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else "(too large to show)"
    if isinstance(value, float):
        return f"{value:g}"
    return ""
