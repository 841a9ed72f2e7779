"""A linear model trained on labelled tasks, for catalogues that have many of them (issue 8; extra `compozy[train]`).

Support vectors over character groups, stems and pairs of stems, and where an embedder is given the meaning of the
text, by dual coordinate descent in a fixed order, beside the lexical index of the same tasks: the same rows give the
same model. With `features` the only module that needs numpy; `model_files` says so where it is missing.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.words import tokens
from compozy.model.errors import LocalError
from compozy.ocm.selection.documents import Document, document_words
from compozy.ocm.selection.features import Row, Vocabulary, count_features
from compozy.ocm.selection.semantic.embedder import Embedder

# Chosen on a held-out part of ToolE's training rows; see docs/selection.md.
EPOCHS = 6
COST = 1.0
# How much the words' own index counts beside the margins, and how sharply the sum becomes probabilities.
_LEXICAL = 0.5
_SHARPNESS, _SHARPNESS_WITH_MEANING = 5.0, 4.0
_SEED = 20
# Beyond this share of the capabilities, changing whole rows of the weights is faster than picking columns.
_MANY_CHANGED = 0.3

Matrix = NDArray[np.float32]


class Example(NamedTuple):
    """A task and the id of the capability that is right for it."""

    task: str
    id: str


class LinearModel:
    """A trained model: weights of features, and the words that were seen with each capability.

    Attributes:
        embedder_identity: the embedder it was trained with and needs, or "".

    Raises:
        LocalError: the embedder is missing, is another one, or was given to a model that was trained without.
    """

    def __init__(
        self,
        ids: Sequence[str],
        vocabulary: Vocabulary,
        weights: Matrix,
        words: Sequence[Sequence[str]],
        *,
        embedder_identity: str = "",
        embedder: Embedder | None = None,
    ) -> None:
        given = embedder.identity if embedder is not None else ""
        if given != embedder_identity:
            raise LocalError(
                f"the model was trained with the embedder {embedder_identity!r} and is used with {given!r}; "
                "use the same one, or train it again",
                code="embedder_mismatch",
            )
        self.ids = tuple(ids)
        self.embedder_identity = embedder_identity
        self._embedder = embedder
        self._vocabulary = vocabulary
        self._weights = weights
        self._words = [list(found) for found in words]
        self._index = LexicalIndex(self._words)

    def probabilities(self, task: str) -> dict[str, float]:
        """Return the probability of every capability for a task."""
        row = self._vocabulary.row(count_features(task))
        drawn = row.values @ self._weights[row.numbers] + self._weights[-1]
        sharpness = _SHARPNESS
        if self._embedder is not None:
            drawn += self._embedder.embed([task])[0] @ self._weights[len(self._vocabulary) : -1]
            sharpness = _SHARPNESS_WITH_MEANING
        for number, total in combine(self._index.score(read_query(tokens(task)))).items():
            drawn[number] += _LEXICAL * total
        powers = np.exp((drawn - drawn.max()) * sharpness)
        return dict(zip(self.ids, (powers / powers.sum()).tolist(), strict=True))

    def to_bytes(self) -> bytes:
        """Return the model without its digest: a line of JSON, then the weights as 16-bit floats."""
        head = {
            "ids": self.ids,
            "features": list(self._vocabulary.rarities.items()),
            "words": [" ".join(found) for found in self._words],
            "embedder": self.embedder_identity,
        }
        return json.dumps(head, ensure_ascii=True).encode() + b"\n" + self._weights.astype("<f2").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, embedder: Callable[[], Embedder] | None = None) -> "LinearModel":
        """Read what `to_bytes` gave.

        Raises:
            ValueError: it is something else.
            LocalError: it needs another embedder than this one.
        """
        line, _, rest = data.partition(b"\n")
        head = json.loads(line)
        vocabulary = Vocabulary({str(name): float(value) for name, value in head["features"]})
        weights = np.frombuffer(rest, dtype="<f2").astype(np.float32).reshape(-1, len(head["ids"]))
        meaning = len(weights) - len(vocabulary) - 1
        if meaning < 0 or (meaning > 0) != bool(head["embedder"]):
            raise ValueError(f"{len(weights)} rows of weights for {len(vocabulary)} features")
        words = [str(found).split() for found in head["words"]]
        identity = str(head["embedder"])
        needed = embedder() if identity and embedder is not None else None
        return cls(head["ids"], vocabulary, weights, words, embedder_identity=identity, embedder=needed)


def train(
    documents: Sequence[Document],
    examples: Iterable[Example],
    *,
    epochs: int = EPOCHS,
    embedder: Embedder | None = None,
) -> LinearModel:
    """Train on labelled tasks and on what the capabilities say of themselves.

    Args:
        documents: the catalogue.
        examples: the labelled tasks.
        epochs: how often each text is gone over.
        embedder: gives the meaning of every text as a third block of features; the model then needs it for good.

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
    counted = [count_features(text) for text, _ in labelled]
    vocabulary = Vocabulary.of(counted)
    rows = [vocabulary.row(counts) for counts in counted]
    meaning = embedder.embed([text for text, _ in labelled]) if embedder is not None and labelled else None
    weights = _descend(rows, meaning, [number for _, number in labelled], (len(vocabulary), len(ids)), epochs)
    identity = embedder.identity if embedder is not None else ""
    return LinearModel(ids, vocabulary, weights, words, embedder_identity=identity, embedder=embedder)


def _descend(
    rows: Sequence[Row], meaning: Matrix | None, labels: Sequence[int], shape: tuple[int, int], epochs: int
) -> Matrix:
    """Minimise the squared hinge of each capability against the rest, by its dual, one text at a time.

    Every text has one dual variable for each capability; its best value given all the others is known in closed form
    (Hsieh et al., 2008), for all capabilities at once. Returned are the rows of the features, of the meaning and last
    the bias.
    """
    width = meaning.shape[1] if meaning is not None else 0
    weights = np.zeros((shape[0] + width + 1, shape[1]), dtype=np.float32)
    # A view: the meaning and the bias, which every text has.
    dense = weights[shape[0] :]
    always = np.ones((len(rows), width + 1), dtype=np.float32)
    if meaning is not None:
        always[:, :width] = meaning
    duals = np.zeros((len(rows), shape[1]), dtype=np.float32)
    slack = np.float32(0.5 / COST)
    steep = [
        np.float32(row.values @ row.values + more @ more + slack) for row, more in zip(rows, always, strict=True)
    ]
    many = shape[1] * _MANY_CHANGED
    order = np.random.default_rng(_SEED)
    for _ in range(epochs):
        for place in order.permutation(len(rows)):
            row, label, more, before = rows[place], labels[place], always[place], duals[place]
            agreed = -(row.values @ weights[row.numbers] + more @ dense)
            agreed[label] = -agreed[label]
            after = np.maximum(before - (agreed - 1 + slack * before) / steep[place], 0)
            step = before - after
            step[label] = -step[label]
            duals[place] = after
            changed = np.flatnonzero(step)
            if len(changed) > many:
                weights[row.numbers] += row.values[:, None] * step
            else:
                weights[row.numbers[:, None], changed] += row.values[:, None] * step[changed]
            dense[:, changed] += more[:, None] * step[changed]
    return weights
