"""A linear model trained on labelled tasks, for catalogues that have many of them (issue 8; extra `compozy[train]`).

Softmax regression over character groups, stems and pairs of stems, by stochastic gradient descent with a fixed order:
the same rows give the same model. The only module that needs numpy; `model_files` says so where it is missing.
"""

import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compozy.model.errors import LocalError
from compozy.ocm.selection.documents import Document
from compozy.ocm.selection.words import all_words, grams, stem

# Chosen on a held-out part of ToolE's training rows; see docs/selection.md.
EPOCHS = 8
RATE = 6.0
LEAST_SEEN = 2
_SEED = 20


class Example(NamedTuple):
    """A task and the id of the capability that is right for it."""

    task: str
    id: str


class _Row(NamedTuple):
    numbers: NDArray[np.int64]
    values: NDArray[np.float32]


class LinearModel:
    """A trained model: `rank` gives the probability of every capability it knows."""

    def __init__(
        self, ids: Sequence[str], rarity: dict[str, tuple[int, float]], weights: NDArray[np.float32]
    ) -> None:
        self.ids = tuple(ids)
        self._rarity = rarity
        self._weights = weights

    def probabilities(self, task: str) -> dict[str, float]:
        """Return the probability of every capability for a task."""
        row = _vector(task, self._rarity)
        drawn = row.values @ self._weights[row.numbers]
        powers = np.exp(drawn - drawn.max())
        return dict(zip(self.ids, (powers / powers.sum()).tolist(), strict=True))

    def to_bytes(self) -> bytes:
        """Return the model without its digest: a line of JSON, then the weights as 16-bit floats."""
        head = {"ids": self.ids, "features": [[name, rarity] for name, (_, rarity) in self._rarity.items()]}
        return json.dumps(head, ensure_ascii=True).encode() + b"\n" + self._weights.astype("<f2").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "LinearModel":
        """Read what `to_bytes` gave.

        Raises:
            ValueError: it is something else.
        """
        line, _, rest = data.partition(b"\n")
        head = json.loads(line)
        rarity = {str(name): (number, float(value)) for number, (name, value) in enumerate(head["features"])}
        weights = np.frombuffer(rest, dtype="<f2").astype(np.float32).reshape(len(rarity), len(head["ids"]))
        return cls(head["ids"], rarity, weights)


def train(documents: Sequence[Document], examples: Iterable[Example], *, epochs: int = EPOCHS) -> LinearModel:
    """Train on labelled tasks and on what the capabilities say of themselves.

    Raises:
        LocalError: an example names an unknown capability.
    """
    ids = [document.id for document in documents]
    numbers = {one: number for number, one in enumerate(ids)}
    labelled = [(field.text, document.id) for document in documents for field in document.fields]
    labelled += [(one.task, one.id) for one in examples]
    for _, one in labelled:
        if one not in numbers:
            raise LocalError(
                f"an example names {one!r}, which is not in the catalogue; correct its id", code="id_unknown"
            )
    rarity = _rarities([_features(text) for text, _ in labelled])
    rows = [_vector(text, rarity) for text, _ in labelled]
    weights = np.zeros((len(rarity), len(ids)), dtype=np.float32)
    order = np.random.default_rng(_SEED)
    steps, total = 0, epochs * len(rows)
    for _ in range(epochs):
        for place in order.permutation(len(rows)):
            row = rows[place]
            drawn = row.values @ weights[row.numbers]
            slope = np.exp(drawn - drawn.max())
            slope /= slope.sum()
            slope[numbers[labelled[place][1]]] -= 1
            slope *= RATE * (1 - steps / total)
            weights[row.numbers] -= row.values[:, None] * slope
            steps += 1
    return LinearModel(ids, rarity, weights)


def _features(text: str) -> Counter[str]:
    words = all_words(text)
    roots = [stem(word) for word in words]
    found: Counter[str] = Counter()
    for word in words:
        found.update(grams(word))
    found.update(f"w:{root}" for root in roots)
    found.update(f"p:{first} {second}" for first, second in pairwise(roots))
    return found


def _rarities(counted: Sequence[Counter[str]]) -> dict[str, tuple[int, float]]:
    spread = Counter(name for found in counted for name in found)
    kept = sorted(name for name, seen in spread.items() if seen >= LEAST_SEEN)
    return {name: (number, math.log((1 + len(counted)) / (1 + spread[name])) + 1) for number, name in enumerate(kept)}


def _vector(text: str, rarity: dict[str, tuple[int, float]]) -> _Row:
    """Weigh the known features; groups and words have the length one each, so that neither drowns the other."""
    numbers, values, kinds = array("q"), array("f"), []
    for name, count in _features(text).items():
        known = rarity.get(name)
        if known is not None:
            numbers.append(known[0])
            values.append((1 + math.log(count)) * known[1])
            kinds.append(name[:2] in ("w:", "p:"))
    weighed = np.array(values, dtype=np.float32)
    is_word = np.array(kinds, dtype=bool)
    for part in (is_word, ~is_word):
        length = float(np.sqrt((weighed[part] ** 2).sum()))
        if length:
            weighed[part] /= length
    return _Row(np.array(numbers, dtype=np.int64), weighed)
