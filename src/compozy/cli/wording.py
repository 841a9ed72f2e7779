"""How durations, times and counts are written and read by people: `5m`, `1h30m`, `3 minutes ago`.

It knows nothing of commands; times on the wire stay RFC 3339 (contract §3).
"""

import re
from datetime import UTC, datetime

from compozy.model.times import parse_time

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_STEPS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def parse_duration(text: str) -> float:
    """Read `90`, `30s`, `5m`, `1h30m` or `500ms` as seconds.

    Raises:
        ValueError: the text is no duration, or not above zero.
    """
    wanted = text.strip().lower()
    seconds = float(wanted) if re.fullmatch(r"\d+(\.\d+)?", wanted) else 0.0
    if not seconds and re.fullmatch(f"({_PART.pattern})+", wanted):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(wanted))
    if seconds <= 0:
        raise ValueError(f"{text!r} is no duration; write it like 30s, 5m or 1h30m")
    return seconds


def write_duration(seconds: float) -> str:
    """Write seconds with the two largest units that matter: `45s`, `4m 59s`, `1h 30m`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def seconds_until(text: str, *, now: datetime | None = None) -> float | None:
    """Return the seconds until an RFC 3339 time, negative when past; None when the text is no time."""
    try:
        moment = parse_time(text)
    except ValueError:
        return None
    return (moment - (now or datetime.now(UTC))).total_seconds()


def age(text: object, *, now: datetime | None = None) -> str:
    """Write how long ago an RFC 3339 time was; text that is no time stays as it is."""
    ahead = seconds_until(str(text or ""), now=now)
    if ahead is None:
        return str(text or "")
    past = max(0, int(-ahead))
    for size, name in _STEPS:
        if past >= size:
            return f"{count(past // size, name)} ago"
    return "just now"


def clock(text: object, *, now: datetime | None = None) -> str:
    """Write an RFC 3339 time as a clock here shows it, with the date when it is another day's."""
    try:
        moment = parse_time(str(text or "")).astimezone()
    except (ValueError, OverflowError):
        return str(text or "")
    today = (now or datetime.now(UTC)).astimezone().date()
    return moment.strftime("%H:%M:%S" if moment.date() == today else "%Y-%m-%d %H:%M:%S")


def count(number: int, noun: str, plural: str = "") -> str:
    """Write `1 file` or `3 files`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Write why a file could not be read, without numbers of the system and its name once more."""
    if isinstance(error, UnicodeDecodeError):
        return f"no UTF-8 at byte {error.start}"
    return (error.strerror or str(error)).lower()


def none_fits(reason: str) -> str:
    """Return the sentence that nothing fits; a reason may begin with these words itself."""
    return reason if reason.startswith("none fits") else f"none fits: {reason}"
