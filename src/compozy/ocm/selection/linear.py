"""A linear model trained on labelled tasks, for catalogues that have many of them (issue 8; extra `compozy[train]`).

Support vectors over character groups, stems and pairs of stems, by stochastic gradient descent in a fixed order,
beside the lexical index of the same tasks: the same rows give the same model. The only module that needs numpy;
`model_files` says so where it is missing.
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

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.words import all_words, grams, stem, tokens
from compozy.model.errors import LocalError
from compozy.ocm.selection.documents import Document, document_words

# Chosen on a held-out part of ToolE's training rows; see docs/selection.md.
EPOCHS = 8
RATE = 0.3
_BIAS_RATE = 0.1
# How sharply scores become probabilities, and how much the words' own index counts beside them.
_SHARPNESS, _LEXICAL = 3.0, 4.0
_SEED = 20


class Example(NamedTuple):
    """A task and the id of the capability that is right for it."""

    task: str
    id: str


class _Row(NamedTuple):
    numbers: NDArray[np.int64]
    values: NDArray[np.float32]


class LinearModel:
    """A trained model: weights of features, and the words that were seen with each capability."""

    def __init__(
        self,
        ids: Sequence[str],
        rarity: dict[str, tuple[int, float]],
        weights: NDArray[np.float32],
        words: Sequence[Sequence[str]],
    ) -> None:
        self.ids = tuple(ids)
        self._rarity = rarity
        self._weights = weights
        self._words = [list(found) for found in words]
        self._index = LexicalIndex(self._words)

    def probabilities(self, task: str) -> dict[str, float]:
        """Return the probability of every capability for a task."""
        row = _vector(task, self._rarity)
        drawn = (row.values @ self._weights[row.numbers] + self._weights[-1]) * _SHARPNESS
        for number, total in combine(self._index.score(read_query(tokens(task)))).items():
            drawn[number] += _LEXICAL * total
        powers = np.exp(drawn - drawn.max())
        return dict(zip(self.ids, (powers / powers.sum()).tolist(), strict=True))

    def to_bytes(self) -> bytes:
        """Return the model without its digest: a line of JSON, then the weights as 16-bit floats."""
        features = [[name, rarity] for name, (_, rarity) in self._rarity.items()]
        head = {"ids": self.ids, "features": features, "words": [" ".join(found) for found in self._words]}
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
        weights = np.frombuffer(rest, dtype="<f2").astype(np.float32).reshape(len(rarity) + 1, len(head["ids"]))
        return cls(head["ids"], rarity, weights, [str(found).split() for found in head["words"]])


def train(documents: Sequence[Document], examples: Iterable[Example], *, epochs: int = EPOCHS) -> LinearModel:
    """Train on labelled tasks and on what the capabilities say of themselves.

    Raises:
        LocalError: an example names an unknown capability.
    """
    ids = [document.id for document in documents]
    numbers = {one: number for number, one in enumerate(ids)}
    labelled = [(field.text, numbers[document.id]) for document in documents for field in document.fields]
    words = [document_words(document) for document in documents]
    for task, one in examples:
        if one not in numbers:
            raise LocalError(
                f"an example names {one!r}, which is not in the catalogue; correct its id", code="id_unknown"
            )
        labelled.append((task, numbers[one]))
        words[numbers[one]].extend(tokens(task))
    rarity = _rarities([_features(text) for text, _ in labelled])
    rows = [_vector(text, rarity) for text, _ in labelled]
    weights = _descend(rows, [number for _, number in labelled], (len(rarity) + 1, len(ids)), epochs)
    return LinearModel(ids, rarity, weights, words)


def _descend(rows: Sequence[_Row], labels: Sequence[int], shape: tuple[int, int], epochs: int) -> NDArray[np.float32]:
    """Minimise the squared hinge of each capability against the rest; the last row of the weights is the bias."""
    weights = np.zeros(shape, dtype=np.float32)
    order = np.random.default_rng(_SEED)
    steps, total = 0, epochs * len(rows)
    for _ in range(epochs):
        for place in order.permutation(len(rows)):
            row, label = rows[place], labels[place]
            drawn = row.values @ weights[row.numbers] + weights[-1]
            slope = np.maximum(0, 1 + drawn)
            slope[label] = -max(0.0, 1 - float(drawn[label]))
            slope *= RATE * (1 - steps / total)
            weights[row.numbers] -= row.values[:, None] * slope
            weights[-1] -= slope * _BIAS_RATE
            steps += 1
    return weights


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
    return {
        name: (number, math.log((1 + len(counted)) / (1 + spread[name])) + 1)
        for number, name in enumerate(sorted(spread))
    }


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
