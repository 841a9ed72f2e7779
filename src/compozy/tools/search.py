"""Finding a tool by words: the lexical index over names, titles, hints and descriptions (contract §6.2, tool_search).

A tool's name counts most, as whoever searches half knows it. An id that is asked for exactly comes first.
"""

from collections.abc import Sequence

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.words import split_name, tokens
from compozy.model.tool import ToolDescriptor

# How often the words of a field count.
_NAME, _TITLE, _HINT, _TEXT = 3, 2, 2, 1
# Beyond this many words a description says nothing new about what a tool is for.
_MOST_WORDS = 120


class ToolIndex:
    """The index of a fixed list of tools; build it once per snapshot."""

    def __init__(self, tools: Sequence[ToolDescriptor]) -> None:
        self._ids = [tool.tool_id for tool in tools]
        self._places = {tool_id: place for place, tool_id in enumerate(self._ids)}
        self._index = LexicalIndex(_words(tool) for tool in tools)

    def search(self, query: str, limit: int) -> list[str]:
        """Return the ids that fit best, the best first."""
        asked = query.strip()
        words = tokens(split_name(asked.replace("_", " ")))
        scores = combine(self._index.score(read_query(words))) if words else {}
        if asked in self._places:
            scores[self._places[asked]] = 2.0
        best = sorted(scores.items(), key=lambda item: (-item[1], self._ids[item[0]]))
        return [self._ids[place] for place, _ in best[:limit]]


def _words(tool: ToolDescriptor) -> list[str]:
    fields = (
        (" ".join(tool.tool_id.split("__")[1:]).replace("_", " "), _NAME),
        (tool.display_title, _TITLE),
        (f"{tool.source.raw_server_name} {tool.source.owner}", _TEXT),
        (" ".join((*tool.search_hints, *tool.tags)), _HINT),
        (" ".join(tool.description.split()[:_MOST_WORDS]), _TEXT),
    )
    return [word for text, times in fields for word in tokens(split_name(text)) for _ in range(times)]
