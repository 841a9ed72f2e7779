"""Which few tasks stand for many: examples chosen so that every task has a near one (greedy facility location).

Eight examples chosen this way are worth five points of accuracy over eight at random (docs/selection.md). It
knows nothing of files.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from compozy.lexical.words import grams, stem, tokens
from compozy.model.record import Record

# Each choice compares every pair: beyond this a sample at even distances stands for all.
_MOST = 200


class Chosen(Record, frozen=True, kw_only=True):
    """The examples of one capability: those it keeps, and those chosen from its `tasks` different tasks."""

    id: str
    tasks: int
    kept: tuple[str, ...]
    chosen: tuple[str, ...]

    @property
    def examples(self) -> tuple[str, ...]:
        """All of them, in order."""
        return (*self.kept, *self.chosen)


def choose_for(tasks: Mapping[str, Sequence[str]], given: Mapping[str, Sequence[str]], count: int) -> list[Chosen]:
    """Choose from the tasks of each capability so that it has at most `count` examples with those it has already."""
    found = []
    for one, its in tasks.items():
        kept = tuple(given.get(one, ()))
        chosen = tuple(choose_examples(its, count - len(kept), given=kept))
        found.append(Chosen(id=one, tasks=len(set(its)), kept=kept, chosen=chosen))
    return found


def choose_examples(tasks: Sequence[str], count: int, *, given: Sequence[str] = ()) -> list[str]:
    """Return at most `count` of the tasks, the most representative first; ties go to the earlier one.

    What is near to an example that is `given` already is less worth.
    """
    different = [task for task in dict.fromkeys(tasks) if task not in given]
    if len(different) > _MOST:
        different = [different[number * len(different) // _MOST] for number in range(_MOST)]
    vectors = _vectors([*different, *given])
    vectors, present = vectors[: len(different)], vectors[len(different) :]
    alike = [[_dot(one, other) for other in vectors] for one in vectors]
    nearest = [max((_dot(one, other) for other in present), default=0.0) for one in vectors]
    chosen: list[int] = []
    while len(chosen) < min(count, len(different)):
        left = [number for number in range(len(different)) if number not in chosen]
        best = max(left, key=lambda number: (_gain(alike[number], nearest), -number))
        chosen.append(best)
        nearest = [max(now, then) for now, then in zip(alike[best], nearest, strict=True)]
    return [different[number] for number in chosen]


def _gain(similar: Sequence[float], nearest: Sequence[float]) -> float:
    # Rounded, so that a tie is one in every version of Python: 3.12 adds floats more exactly.
    return round(sum(max(now, then) for now, then in zip(similar, nearest, strict=True)), 9)


def _vectors(tasks: Sequence[str]) -> list[dict[str, float]]:
    counted = []
    for task in tasks:
        found: Counter[str] = Counter()
        for word in tokens(task):
            found[f"w:{stem(word)}"] += 1
            found.update(grams(word))
        counted.append(found)
    spread = Counter(name for found in counted for name in found)
    vectors = []
    for found in counted:
        weighed = {
            name: (1 + math.log(count)) * (math.log((1 + len(tasks)) / (1 + spread[name])) + 1)
            for name, count in found.items()
        }
        length = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
        vectors.append({name: value / length for name, value in weighed.items()})
    return vectors


def _dot(one: dict[str, float], other: dict[str, float]) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(value * other[name] for name, value in one.items() if name in other)
