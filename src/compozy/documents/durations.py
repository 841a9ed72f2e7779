"""Durations as text: reading and writing them the way the established format does (formats §8.2). In nanoseconds."""

import re

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?([^0-9.]*)")
# Signed 64 bits of nanoseconds: about 292 years.
_LIMIT = 2**63


class DurationProblem(ValueError):
    """Text that is no duration; the message says why."""


def parse_duration(text: str) -> int:
    """Read a duration such as ``1h2m3.5s``, ``.5s`` or ``0`` as nanoseconds.

    Raises:
        DurationProblem: empty, a number without unit, an unknown unit, or beyond 292 years.
    """
    rest = text[1:] if text[:1] in ("+", "-") and text else text
    negative = text.startswith("-")
    if rest == "0":
        return 0
    if not rest:
        raise DurationProblem("invalid duration")
    total = 0
    while rest:
        match = _PART.match(rest)
        if match is None or not (match[1] or match[3]):
            raise DurationProblem("invalid duration")
        if not match[4]:
            raise DurationProblem("missing unit in duration")
        if match[4] not in _UNITS:
            raise DurationProblem(f"unknown unit {match[4]!r} in duration")
        unit = _UNITS[match[4]]
        # More digits than any duration in range has; refused before they are converted.
        if len((match[1] or "").lstrip("0")) > 19:
            raise DurationProblem("duration is longer than 292 years")
        total += int(match[1] or 0) * unit
        # Digits below a nanosecond of the largest unit cannot matter.
        fraction = (match[3] or "")[:18]
        if fraction:
            total += int(fraction) * unit // 10 ** len(fraction)
        if total > _LIMIT or (total == _LIMIT and not negative):
            raise DurationProblem("duration is longer than 292 years")
        rest = rest[match.end() :]
    return -total if negative else total


def duration_text(nanoseconds: int) -> str:
    """Write nanoseconds as the shortest exact text: ``1m30s``, ``250ms``, ``1.5µs``, ``0s``."""
    sign, value = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if value == 0:
        return "0s"
    if value < 10**9:
        for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
            if value < size * 1000:
                return sign + _decimal(value, size) + unit
    minutes, rest = divmod(value, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = _decimal(rest, 10**9) + "s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return sign + (f"{hours}h{text}" if hours else text)


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1).rstrip('0')}"
