"""From a field path such as ``endpoints[2].url`` back to a place in the text (issue 8 item 1).

A path is resolved against the value it was said about, longest key first, because keys may hold dots. Knows neither
YAML nor JSON; `Places` is what a reader of either offers.
"""

from collections.abc import Mapping
from typing import Protocol

from compozy.documents.problems import Path, Span


class Places(Protocol):
    """Spans in the normalised text of a whole file."""

    def key_span(self, path: Path) -> Span | None:
        """The key of the entry at `path`; in a list, the element."""
        ...

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        ...


def field_of(path: Path) -> str:
    """Return the field path of steps."""
    field = ""
    for step in path:
        field += f"[{step}]" if isinstance(step, int) else f".{step}" if field else step
    return field


def steps_of(value: object, field: str) -> tuple[Path, bool]:
    """Return the steps from `value` to `field`, and whether all of it exists; else as far as it does."""
    steps: list[str | int] = []
    rest = field
    while rest:
        if isinstance(value, Mapping):
            name, key = _longest_key(value, rest)
            if name is None:
                return tuple(steps), False
            value = value[key]
            steps.append(name)
            rest = rest[len(name) :]
        elif isinstance(value, list) and rest.startswith("["):
            number, _, after = rest[1:].partition("]")
            if not number.isdecimal() or int(number) >= len(value):
                return tuple(steps), False
            value = value[int(number)]
            steps.append(int(number))
            rest = after
        else:
            return tuple(steps), False
        rest = rest.removeprefix(".")
    return tuple(steps), True


def _longest_key(value: Mapping[object, object], rest: str) -> tuple[str | None, object]:
    # From the longest beginning that could be a key on: a look-up each, however many keys there are.
    end = len(rest)
    while end > 0:
        name = rest[:end]
        if name in value:
            return name, name
        end = max(rest.rfind(".", 0, end), rest.rfind("[", 0, end))
    return next(
        ((str(key), key) for key in value if not isinstance(key, str) and _begins(rest, str(key))), (None, None)
    )


def _begins(rest: str, name: str) -> bool:
    return rest.startswith(name) and rest[len(name) : len(name) + 1] in ("", ".", "[")


def span_of_field(value: object, field: str, base: Path, places: Places, *, of_key: bool) -> Span | None:
    """Return the span of a field of the document at `base`; of the nearest thing around it when it is absent."""
    steps, is_whole = steps_of(value, field)
    path = (*base, *steps)
    if of_key and is_whole:
        return places.key_span(path)
    span = places.value_span(path)
    if is_whole or span is None:
        return span
    # Something is missing inside: point at where its surroundings begin.
    key = places.key_span(path) if steps else None
    return key or (span[0], span[0])
