"""JSON texts: values, problems of the text, and places (decisions O1, D10, D11).

NaN, infinities and repeated members are refused; numbers keep their digits up to what a double can hold.
"""

import json
from typing import NoReturn

from compozy.documents.json_places import JsonPlaces
from compozy.documents.json_reader import nests_deeply
from compozy.documents.problems import Path, Span
from compozy.ocm.problems import Problem, TextProblem
from compozy.ocm.yaml_core import MAX_DIGITS

_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")
_CODES = {"duplicate-key": "duplicate-key", "nesting-too-deep": "too-large"}


class _Refused(ValueError):
    """The quick path gives up; places are needed."""


class JsonText:
    """One JSON value. `values` holds it, or is empty when the text is broken; paths begin with 0 as in a stream."""

    def __init__(self, text: str) -> None:
        """Read a text; never raises for what it holds."""
        self.text = text
        self.values: list[object] = []
        self.problems: list[TextProblem] = []
        self.is_broken = False
        self._places: JsonPlaces | None = None
        try:
            if nests_deeply(text):
                raise _Refused("depth")
            self.values = [_STRICT.decode(text)]
        except (ValueError, RecursionError):
            self._explain()

    def _explain(self) -> None:
        places = self._found()
        for problem in places.problems:
            span = problem.span or (0, 0)
            code = _CODES.get(problem.code, "syntax")
            message = problem.message
            word = next((word for word in _NOT_NUMBERS if self.text.startswith(word, span[0])), "")
            if word:
                code, message = "not-finite", f"{word} is no JSON number: a finite number is needed"
            if code != "duplicate-key":
                self.is_broken = True
            found = Problem(code=code, field="", message=f"not readable as JSON: {message}")
            self.problems.append(TextProblem(problem=found, document=-1, span=span))
        if not self.is_broken:
            # Repetitions only: what the first of each says is judged too, so that one run shows everything.
            self.values = [_LENIENT.decode(self.text)]

    def _found(self) -> JsonPlaces:
        if self._places is None:
            self._places = JsonPlaces(self.text)
        return self._places

    def key_span(self, path: Path) -> Span | None:
        """The member name of the entry at `path`; in a list, the element."""
        return self._found().key_span(path[1:])

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        return self._found().value_span(path[1:])


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Refused("duplicate member")
    return members


def _first_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return dict(reversed(pairs))


def _refuse_constant(word: str) -> NoReturn:
    raise _Refused(word)


def _number(text: str) -> int | float:
    return int(text) if len(text) <= MAX_DIGITS else float("-inf" if text[0] == "-" else "inf")


_STRICT = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_refuse_constant, parse_int=_number)
_LENIENT = json.JSONDecoder(object_pairs_hook=_first_members, parse_int=_number)
