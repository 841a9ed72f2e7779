"""Why a candidate ranks where it does, in the words of the task (issue 8 item 7). It knows nothing of numbers."""

from compozy.lexical.words import stem, tokens
from compozy.ocm.selection.documents import Document

_MOST_PLACES, _MOST_WORDS = 3, 5


def explain(document: Document, task: str) -> tuple[str, ...]:
    """Return `its description mentions invoice, tax` lines: each word of the task once, where it is found first."""
    spelled: dict[str, str] = {}
    for word in tokens(task):
        spelled.setdefault(stem(word), word)
    found: dict[str, list[str]] = {}
    order = {word: number for number, word in enumerate(spelled.values())}
    for field in document.fields:
        for root in dict.fromkeys(map(stem, tokens(field.text))):
            if root in spelled:
                found.setdefault(field.place, []).append(spelled.pop(root))
    lines = [
        f"{place} mentions {', '.join(sorted(words, key=order.__getitem__)[:_MOST_WORDS])}"
        for place, words in found.items()
    ]
    return tuple(lines[:_MOST_PLACES]) or ("its words resemble those of the task",)
