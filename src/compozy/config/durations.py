"""Durations as the configuration spells them: ``250ms``, ``30s``, ``5m``, ``1h30m``, ``0s`` (contract §2.2)."""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")


class Duration(float):
    """A length of time in seconds."""

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Read one duration.

        Raises:
            ValueError: the text is no duration.
        """
        stripped = text.strip()
        if stripped == "0":
            return cls(0)
        total, end = 0.0, 0
        for part in _PART.finditer(stripped):
            if part.start() != end:
                break
            total += float(part[1]) * _UNITS[part[2]]
            end = part.end()
        if not stripped or end != len(stripped):
            raise ValueError(f'{text!r} is no duration; write it like "30s", "5m" or "1h30m"')
        return cls(total)
