"""Why a candidate ranks where it does, in the words of the task (issue 8 item 7). It knows nothing of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from compozy.lexical.related import related_words
from compozy.lexical.values import kinds_in
from compozy.lexical.words import stem, tokens
from compozy.ocm.selection.documents import Document

_MOST_PLACES, _MOST_WORDS = 3, 5
# A word of the document: its stem, itself, and where it stands.
_Word = tuple[str, str, str]


def explain(document: Document, task: str) -> tuple[str, ...]:
    """Return `its description mentions invoice, tax` lines: each word of the task once, where it is found first.

    Values come after words: `its parameters mention email, and the task has an e-mail address`. Where neither is
    found, the words near to those of the task in meaning are told.
    """
    spelled: dict[str, str] = {}
    for word in tokens(task):
        spelled.setdefault(stem(word), word)
    found: dict[str, list[str]] = {}
    order = {word: number for number, word in enumerate(spelled.values())}
    words = [(stem(word), word, field.place) for field in document.fields for word in tokens(field.text)]
    for root, _, place in words:
        if root in spelled:
            found.setdefault(place, []).append(spelled.pop(root))
    lines = [
        f"{_mentions(place)} {', '.join(sorted(words, key=order.__getitem__)[:_MOST_WORDS])}"
        for place, words in found.items()
    ]
    lines.extend(_explain_values(words, task))
    return tuple(lines[:_MOST_PLACES]) or _explain_near(words, spelled) or ("its words resemble those of the task",)


def _explain_values(words: Sequence[_Word], task: str) -> Iterator[str]:
    """Yield a line for each kind of value that the document has a word for."""
    for kind in kinds_in(task):
        found = next(((word, place) for root, word, place in words if root in kind.stems), None)
        if found is not None:
            yield f"{_mentions(found[1])} {found[0]}, and the task has {kind.name}"


def _explain_near(words: Sequence[_Word], spelled: Mapping[str, str]) -> tuple[str, ...]:
    """Return `its description mentions purchase, near to buy` lines, the nearest first."""
    near: dict[str, tuple[float, str]] = {}
    for root, word in spelled.items():
        for other, strength in related_words().near(root):
            near[other] = max(near.get(other, (0.0, "")), (strength, word))
    found: dict[str, tuple[float, str]] = {}
    for root, own, place in words:
        strength, word = near.get(root, (0.0, ""))
        if word and own not in found:
            found[own] = (strength, f"{_mentions(place)} {own}, near to {word}")
    return tuple(line for _, line in sorted(found.values(), key=itemgetter(0), reverse=True)[:_MOST_PLACES])


def _mentions(place: str) -> str:
    """Return the place with its verb: "its tags mention", "one of its examples mentions"."""
    return f"{place} mention{'' if place.startswith('its ') and place.endswith('s') else 's'}"
