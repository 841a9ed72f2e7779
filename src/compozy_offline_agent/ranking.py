"""Which files and lines bear on a task, in order, each with its reasons.

A file scores by how rare the matched words are in this workspace, how often they occur, whether they stand close
together, in a definition, in a quoted phrase, or in the path. Pure: texts in, findings out.
"""

import re
from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple

from compozy_offline_agent.task import Task, Word
from compozy_offline_agent.words import fold, neighbours, stems_of

# Lines this close to each other count as one place.
NEAR_LINES = 3
# A finding far below the best one is named, not shown.
SHOWN_SHARE = 0.25
# A place far below the best one of its file is left out.
PLACE_SHARE = 0.45
MAX_EXCERPTS = 3
# Two words of the task that follow each other here as they do there.
PAIR_WORTH = 1.0
# Past this a line is generated or packed text; only its beginning is compared.
MAX_LINE_CHARS = 2_000
_SATURATION = 1.2
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|async|abstract|final|pub|inline|extern)\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|interface|trait|type|impl|module|macro|sub|proc|const|let|var)\s+\w"
    r"|#{1,6}\s+\S|\[{1,2}[\w.\" -]+\]{1,2}\s*$"
)
_LOCK_FILE = re.compile(
    r"(?:^|/)(?:package-lock\.json|yarn\.lock|[\w.-]+\.lock|go\.sum|[\w.-]+\.min\.\w+)$", re.IGNORECASE
)


class Document(NamedTuple):
    """A file's path and its text."""

    path: str
    text: str


class Excerpt(NamedTuple):
    """One place in a file: its best line (from 1) and what is matched on it and near it."""

    line: int
    words: tuple[str, ...]
    is_definition: bool
    score: float


class Finding(NamedTuple):
    """One file: score, its best places, and why it is where it is."""

    path: str
    score: float
    excerpts: tuple[Excerpt, ...]
    reasons: tuple[str, ...]


class _Hits(NamedTuple):
    """What one document matched: line number to the indexes of its words and phrases, and to its number of pairs."""

    document: Document
    lines: dict[int, frozenset[int]]
    phrases: dict[int, frozenset[int]]
    pairs: dict[int, int]
    path: frozenset[int]
    path_named: bool


def rank(task: Task, documents: Sequence[Document], check: Callable[[], None] = lambda: None) -> list[Finding]:
    """Return the documents that match anything, best first; equal scores in path order.

    `check` is called before each document; what it raises ends the work.
    """
    all_hits: list[_Hits] = []
    for document in documents:
        check()
        hits = _match(task, document)
        if hits is not None:
            all_hits.append(hits)
    rarity = _rarity(task, all_hits, len(documents))
    findings = [_score(task, hits, rarity) for hits in all_hits]
    return sorted(findings, key=lambda finding: (-finding.score, finding.path))


def _match(task: Task, document: Document) -> _Hits | None:
    stems = {word.stem: index for index, word in enumerate(task.words)}
    keys = tuple({_key(word.stem) for word in task.words})
    lines: dict[int, frozenset[int]] = {}
    phrases: dict[int, frozenset[int]] = {}
    pairs: dict[int, int] = {}
    folded = fold(document.text)
    if any(key in folded.replace("_", "").replace("-", "") for key in keys) or any(
        one in folded for one in task.phrases
    ):
        for number, line in enumerate(document.text.split("\n"), 1):
            line = line[:MAX_LINE_CHARS]
            low = fold(line)
            flat = low.replace("_", "").replace("-", "")
            if any(key in flat for key in keys):
                found = frozenset(stems[one] for one in stems_of(line) if one in stems)
                if found:
                    lines[number] = found
                if len(found) > 1 and task.pairs:
                    pairs[number] = len(neighbours(line).intersection(task.pairs))
            held = frozenset(index for index, phrase in enumerate(task.phrases) if phrase in low)
            if held:
                phrases[number] = held
    low_path = fold(document.path)
    in_path = frozenset(stems[one] for one in stems_of(document.path) if one in stems)
    named = any(low_path == path or low_path.endswith("/" + path) for path in task.paths)
    if not (lines or phrases or in_path or named):
        return None
    return _Hits(document, lines, phrases, pairs, in_path, named)


def _key(stem: str) -> str:
    """Return a string that every surface form of a stem contains: `retr` for retry, retries, retrying."""
    return stem[:-1] if len(stem) > 3 and stem.endswith("y") else stem


def _rarity(task: Task, all_hits: Sequence[_Hits], total: int) -> list[float]:
    """Return each word's weight: its own, times how few documents have it."""
    weights = []
    for index, word in enumerate(task.words):
        holding = sum(
            1 for hits in all_hits if index in hits.path or any(index in found for found in hits.lines.values())
        )
        weights.append(word.weight * log(1 + (total - holding + 0.5) / (holding + 0.5)))
    return weights


def _score(task: Task, hits: _Hits, rarity: Sequence[float]) -> Finding:
    counts = [0] * len(task.words)
    for found in hits.lines.values():
        for index in found:
            counts[index] += 1
    score = sum(
        rarity[index] * count * (_SATURATION + 1) / (count + _SATURATION) for index, count in enumerate(counts)
    )
    score += sum(rarity[index] * 1.2 for index in hits.path)
    excerpts = _places(task, hits, rarity)
    score += 2 * excerpts[0].score if excerpts else 0.0
    matched = {index for index, count in enumerate(counts) if count} | hits.path
    full = sum(rarity) or 1.0
    score *= 0.5 + 0.5 * sum(rarity[index] for index in matched) / full
    score *= 0.3 if _LOCK_FILE.search(hits.document.path) else 1.0
    score += 10.0 if hits.path_named else 0.0
    return Finding(hits.document.path, score, excerpts, _reasons(task, hits, counts, excerpts))


def _places(task: Task, hits: _Hits, rarity: Sequence[float]) -> tuple[Excerpt, ...]:
    """Return the best places of a file, far enough apart, in order of score."""
    texts = hits.document.text.split("\n")
    phrase_worth = 2.0 + (max(rarity) if rarity else 0.0)
    places = []
    for number in sorted(hits.lines.keys() | hits.phrases.keys()):
        on_line = hits.lines.get(number, frozenset())
        near = frozenset().union(
            *(hits.lines.get(number + step, frozenset()) for step in range(-NEAR_LINES, NEAR_LINES + 1) if step)
        )
        worth = sum(rarity[index] for index in on_line) + 0.4 * sum(rarity[index] for index in near - on_line)
        held = hits.phrases.get(number, frozenset())
        worth += phrase_worth * len(held) + PAIR_WORTH * hits.pairs.get(number, 0)
        defines = bool(_DEFINITION.match(texts[number - 1]))
        words = [task.words[index].shown for index in sorted(on_line)] + [
            f'"{task.phrases[one]}"' for one in sorted(held)
        ]
        places.append(Excerpt(number, tuple(dict.fromkeys(words)), defines, worth * (1.3 if defines else 1.0)))
    chosen: list[Excerpt] = []
    for place in sorted(places, key=lambda one: (-one.score, one.line)):
        if all(abs(place.line - other.line) > 2 * NEAR_LINES for other in chosen):
            chosen.append(place)
        if len(chosen) == MAX_EXCERPTS:
            break
    return tuple(one for one in chosen if one.score >= PLACE_SHARE * chosen[0].score)


def _reasons(task: Task, hits: _Hits, counts: Sequence[int], excerpts: Sequence[Excerpt]) -> tuple[str, ...]:
    reasons = []
    for index, phrase in enumerate(task.phrases):
        times = sum(1 for held in hits.phrases.values() if index in held)
        if times:
            reasons.append(f'the exact text "{phrase}" on {_lines(times)}')
    told = sorted(
        (index for index, count in enumerate(counts) if count), key=lambda index: (-task.words[index].weight, index)
    )
    reasons += [f"{_name(task.words[index])} on {_lines(counts[index])}" for index in told[:5]]
    if len(told) > 5:
        reasons.append(f"{len(told) - 5} more of the words")
    if hits.path_named:
        reasons.append("the task names this path")
    elif hits.path:
        reasons.append("in its path: " + ", ".join(_name(task.words[index]) for index in sorted(hits.path)))
    if excerpts and excerpts[0].is_definition:
        reasons.append(f"line {excerpts[0].line} is a definition or heading")
    if excerpts and len(excerpts[0].words) > 1:
        reasons.append(f"{len(excerpts[0].words)} of them together on line {excerpts[0].line}")
    return tuple(reasons)


def _name(word: Word) -> str:
    return f"`{word.shown}` (stands for {word.of!r})" if word.of else f"`{word.shown}`"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
