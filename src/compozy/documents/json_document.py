"""One JSON file: its value the quick way, its problems and places the slow way (formats §7.6, decisions D10).

Knows no field; `what` names the document in messages.
"""

from compozy.documents.json_places import JsonPlaces
from compozy.documents.json_reader import NotPlainJson, read_json
from compozy.documents.problems import Problem


class JsonDocument:
    """A JSON text; places are looked for only when somebody asks."""

    def __init__(self, text: str, what: str) -> None:
        self._text = text
        self._places: JsonPlaces | None = None
        self.problems: list[Problem] = []
        self.broken = False
        self.value: object = None
        try:
            self.value = read_json(text)
        except NotPlainJson:
            places = self.places()
            self.value = places.value
            self.broken = places.broken
            self.problems = places.problems
            for problem in self.problems:
                problem.message = f"{what}: {problem.message}"

    def places(self) -> JsonPlaces:
        """Where everything lies."""
        if self._places is None:
            self._places = JsonPlaces(self._text)
        return self._places
