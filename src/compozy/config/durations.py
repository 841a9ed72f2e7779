"""Durations in the configuration, in seconds; written ``250ms``, ``30s``, ``5m``, ``1h30m`` (contract §2.2)."""

from compozy.documents.durations import parse_duration

_NANOSECONDS = 1_000_000_000
_UNITS = (
    ("h", 3600 * _NANOSECONDS),
    ("m", 60 * _NANOSECONDS),
    ("s", _NANOSECONDS),
    ("ms", 1_000_000),
    ("us", 1_000),
)


class Duration(float):
    """A length of time in seconds."""

    @classmethod
    def read(cls, text: str) -> "Duration":
        """Read one duration.

        Raises:
            ValueError: the text is no duration, or a negative one.
        """
        try:
            nanoseconds = parse_duration(text.strip())
        except ValueError as error:
            raise ValueError(f'{text!r} is no duration ({error}); write it like "30s", "5m" or "1h30m"') from error
        if nanoseconds < 0:
            raise ValueError(f"{text!r} is negative; a duration starts at 0s")
        return cls(nanoseconds / _NANOSECONDS)

    @property
    def text(self) -> str:
        """The duration as it is written in a file: ``90s``, ``5m``, ``250ms``."""
        nanoseconds = round(float(self) * _NANOSECONDS)
        for unit, size in _UNITS:
            if nanoseconds and nanoseconds % size == 0:
                return f"{nanoseconds // size}{unit}"
        return f"{nanoseconds}ns" if nanoseconds else "0s"
