"""Times on the wire: RFC 3339 in UTC with a `Z` (contract §3).

One place formats and reads them, so that text order equals time order everywhere (fixed six digits).
"""

from datetime import UTC, datetime, timedelta


def now() -> str:
    """Return the current time as fixed-width RFC 3339 text, for example ``2026-01-02T03:04:05.678901Z``."""
    return format_time(datetime.now(UTC))


def later(seconds: float) -> str:
    """Return the time `seconds` from now."""
    return format_time(datetime.now(UTC) + timedelta(seconds=seconds))


def seconds_until(text: str) -> float:
    """Return the seconds from now until a time, negative when it is over."""
    return (parse_time(text) - datetime.now(UTC)).total_seconds()


def format_time(moment: datetime) -> str:
    """Render an aware datetime as fixed-width RFC 3339 UTC text."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """Read RFC 3339 text, with or without a fraction of up to nine digits.

    Raises:
        ValueError: the text is not RFC 3339 or has no offset.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time {text!r} has no offset; write it as 2026-01-02T03:04:05Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"time {text!r} lies outside the years 1 to 9999 in UTC") from error
