"""Choosing an agent for a task by what agents say they can do: a first simple lexical ranking (issue 2, item 8).

Deterministic: the same agents and task give the same ranking and reasons. Words that many agents use count less.
When nobody fits, that is said, and the default agent is taken. It never looks into an agent's prompt.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from compozy.model.agent import Agent
from compozy.model.record import Record

_WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = """
a an and are as at be by can do does for from have how i in into is it its me my of on or our please should so that
the their them then there these this to up us use want was we what when where which who why will with you your all any
some not no
"""
_STOP = frozenset(_STOP_WORDS.split())
# Where a word stands says how much it means; ids and summaries are what authors choose most carefully.
_WEIGHTS = {"name": 2.0, "category": 1.0, "capability": 3.0, "summary": 3.0, "outcome": 1.5, "example": 2.0}
_PLACES = {
    "name": "its name",
    "category": "its category",
    "capability": "a capability",
    "summary": "a capability's summary",
    "outcome": "a capability's outcome",
    "example": "a capability's example",
}
# Below this share of the task's weight an overlap is chance.
_MINIMUM = 0.12
_CANDIDATES = 10


class Candidate(Record, frozen=True, kw_only=True):
    """One agent with its score (0 to 1, rounded) and why."""

    name: str
    score: float
    reasons: tuple[str, ...]


class Selection(Record, frozen=True, kw_only=True):
    """The chosen agent, why, and who else was considered."""

    agent: str
    reason: str
    candidates: tuple[Candidate, ...]


def words(text: str) -> list[str]:
    """Return the meaningful words of a text, reduced to a common stem."""
    found = _WORD.findall(text.casefold())
    return [_stem(word) for word in found if word not in _STOP and len(word) > 1]


def spellings(text: str) -> dict[str, str]:
    """Return the meaningful words of a text by their stem, each as it is first spelled there."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text.casefold()):
        if word not in _STOP and len(word) > 1:
            found.setdefault(_stem(word), word)
    return found


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            root = word[: -len(ending)]
            return root + "y" if ending in ("ies", "ied") else root.rstrip("e") or root
    return word.rstrip("e") if len(word) > 4 else word


def _documents(agent: Agent) -> list[tuple[str, str]]:
    fields = [("name", agent.name), ("category", " ".join(agent.category_path))]
    for capability in agent.capabilities:
        fields.append(("capability", capability.id))
        fields.append(("summary", capability.summary))
        fields.append(("outcome", capability.outcome))
        fields.extend(("example", example) for example in capability.examples)
    return fields


def rank(task: str, agents: Iterable[Agent]) -> tuple[Candidate, ...]:
    """Return the agents that fit the task at all, best first; ties by name."""
    pool = [(agent, _documents(agent)) for agent in agents if not agent.diagnostics]
    spread: Counter[str] = Counter()
    for _, fields in pool:
        spread.update({word for _, text in fields for word in words(text)})
    wanted = spellings(task)
    rarity = {word: math.log(1 + (len(pool) + 1) / (spread[word] + 0.5)) for word in wanted}
    total = sum(rarity.values()) * max(_WEIGHTS.values()) or 1.0
    ranked = [_score(agent, fields, rarity, total, wanted) for agent, fields in pool]
    fitting = [candidate for candidate in ranked if candidate.score >= _MINIMUM]
    return tuple(sorted(fitting, key=lambda c: (-c.score, c.name))[:_CANDIDATES])


def _score(
    agent: Agent,
    fields: Sequence[tuple[str, str]],
    rarity: Mapping[str, float],
    total: float,
    wanted: Mapping[str, str],
) -> Candidate:
    best: dict[str, tuple[float, str]] = {}
    for kind, text in fields:
        for word in set(words(text)) & rarity.keys():
            value = rarity[word] * _WEIGHTS[kind]
            if word not in best or value > best[word][0]:
                best[word] = (value, kind)
    by_kind: dict[str, list[str]] = {}
    for word, spelled in wanted.items():
        if word in best:
            by_kind.setdefault(best[word][1], []).append(spelled)
    score = round(min(sum(value for value, _ in best.values()) / total, 1.0), 4)
    reasons = tuple(f"{_PLACES[kind]} mentions {', '.join(found)}" for kind, found in sorted(by_kind.items()))
    return Candidate(name=agent.name, score=score, reasons=reasons)


def select(task: str, agents: Sequence[Agent], default: str) -> Selection:
    """Choose the best fitting agent, else the default one."""
    candidates = rank(task, agents)
    if not candidates:
        return Selection(
            agent=default,
            reason=f"none of {len(agents)} visible agents declares a capability that fits: the default agent is used",
            candidates=(),
        )
    best = candidates[0]
    return Selection(agent=best.name, reason="; ".join(best.reasons), candidates=candidates)
