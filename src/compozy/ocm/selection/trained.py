"""A model trained on labelled tasks, for catalogues that have many of them (issue 8; extra `compozy[train]`).

Kernel ridge regression: linear in how much a task resembles each of the training texts, by character groups, stems
and pairs of stems, and by meaning where an embedder is given; without one, beside the words' own index of the tasks.
Its optimum is computed, not searched: the same rows give the same model. With `features` and `resemblance` it needs
numpy; `model_files` says so where that is missing.
"""

import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.words import tokens
from compozy.model.errors import LocalError
from compozy.ocm.selection.documents import Document, document_words
from compozy.ocm.selection.features import Row, Vocabulary, count_features
from compozy.ocm.selection.labelled import Example
from compozy.ocm.selection.resemblance import Matrix, Resemblance, solve
from compozy.ocm.selection.semantic.embedder import Embedder

# Chosen on training rows of ToolE; see docs/selection.md.
RIDGE = 0.3
# How much the words' own index counts beside the voices, and how sharply the sum becomes probabilities.
_LEXICAL = 0.5
_SHARPNESS, _SHARPNESS_WITH_MEANING = 6.0, 7.5
# The work grows with the cube of the texts and the memory with their square: more are split into equal shares.
AT_ONCE = 12_000


class TrainedModel:
    """A trained model: the training texts, how much each speaks for each capability, and words.

    Attributes:
        embedder_identity: the embedder it was trained with and needs, or "".

    Raises:
        LocalError: the embedder is missing, is another one, or was given to a model that was trained without.
        ValueError: the parts do not belong together.
    """

    def __init__(
        self,
        ids: Sequence[str],
        vocabulary: Vocabulary,
        texts: Resemblance,
        voices: Matrix,
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
        if voices.shape != (len(texts), len(ids)) or len(words) != len(ids):
            raise ValueError(f"{voices.shape} voices and {len(words)} word lists for {len(ids)} capabilities")
        self.ids = tuple(ids)
        self.embedder_identity = embedder_identity
        self._embedder = embedder
        self._vocabulary = vocabulary
        self._texts = texts
        self._voices = voices
        self._words = [list(found) for found in words]
        # Beside meaning there are none.
        self._index = LexicalIndex(self._words) if any(self._words) else None

    def probabilities(self, task: str) -> dict[str, float]:
        """Return the probability of every capability for a task."""
        meaning = self._embedder.embed([task])[0] if self._embedder is not None and self._texts.dimensions else None
        drawn = self._texts.to(self._vocabulary.row(count_features(task)), meaning) @ self._voices
        if self._index is not None:
            for number, total in combine(self._index.score(read_query(tokens(task)))).items():
                drawn[number] += _LEXICAL * total
        sharpness = _SHARPNESS if meaning is None else _SHARPNESS_WITH_MEANING
        powers = np.exp((drawn - drawn.max()) * sharpness)
        return dict(zip(self.ids, (powers / powers.sum()).tolist(), strict=True))

    def to_bytes(self) -> bytes:
        """Return the model without its digest: a line of JSON, then texts and voices in 16-bit floats."""
        head = {
            "ids": self.ids,
            "features": list(self._vocabulary.rarities.items()),
            "words": [" ".join(found) for found in self._words],
            "texts": len(self._texts),
            "dimensions": self._texts.dimensions,
            "embedder": self.embedder_identity,
        }
        voices = self._voices.astype("<f2").tobytes()
        return json.dumps(head, ensure_ascii=True).encode() + b"\n" + voices + self._texts.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes, embedder: Callable[[], Embedder] | None = None) -> "TrainedModel":
        """Read what `to_bytes` gave.

        Raises:
            ValueError: it is something else.
            LocalError: it needs another embedder than this one.
        """
        line, _, rest = data.partition(b"\n")
        head = json.loads(line)
        vocabulary = Vocabulary({str(name): float(value) for name, value in head["features"]})
        count, dimensions, ids = int(head["texts"]), int(head["dimensions"]), [str(one) for one in head["ids"]]
        stored = np.frombuffer(rest, "<f2", count * len(ids))
        texts = Resemblance.from_bytes(rest[stored.nbytes :], len(vocabulary), count, dimensions)
        identity = str(head["embedder"])
        needed = embedder() if identity and embedder is not None else None
        voices = stored.astype(np.float32).reshape(count, len(ids))
        words = [str(found).split() for found in head["words"]]
        return cls(ids, vocabulary, texts, voices, words, embedder_identity=identity, embedder=needed)


def train(
    documents: Sequence[Document],
    examples: Iterable[Example],
    *,
    embedder: Embedder | None = None,
    at_once: int = AT_ONCE,
) -> TrainedModel:
    """Train on labelled tasks and on what the capabilities say of themselves.

    Args:
        documents: the catalogue.
        examples: the labelled tasks.
        embedder: gives the meaning of every text; the model then needs it for good.
        at_once: the most texts that are weighed against each other; the means of several such shares lose little.

    Raises:
        LocalError: an example names an unknown capability.
    """
    ids = [document.id for document in documents]
    numbers = {one: number for number, one in enumerate(ids)}
    labelled = [(field.text, numbers[document.id]) for document in documents for field in document.fields]
    # Beside meaning the index of words says nothing new.
    words = [document_words(document) if embedder is None else [] for document in documents]
    for task, one in examples:
        if one not in numbers:
            raise LocalError(
                f"an example names {one!r}, which is not in the catalogue; correct its id", code="id_unknown"
            )
        labelled.append((task, numbers[one]))
        if embedder is None:
            words[numbers[one]].extend(tokens(task))
    counted = [count_features(text) for text, _ in labelled]
    vocabulary = Vocabulary.of(counted)
    rows = [vocabulary.row(counts) for counts in counted]
    meaning = np.zeros((len(rows), 0), dtype=np.float32)
    if embedder is not None and labelled:
        meaning = embedder.embed([text for text, _ in labelled])
    wanted = np.full((len(rows), len(ids)), -1, dtype=np.float32)
    wanted[np.arange(len(rows)), [number for _, number in labelled]] = 1
    texts = Resemblance.of(rows, len(vocabulary), meaning)
    voices = np.zeros_like(wanted)
    shares = -(-len(rows) // at_once)
    for share in range(shares):
        part = slice(share, None, shares)
        own = texts if shares == 1 else Resemblance.of(rows[part], len(vocabulary), meaning[part])
        voices[part] = _weigh(own, rows[part], meaning[part], wanted[part]) / np.float32(shares)
    identity = embedder.identity if embedder is not None else ""
    return TrainedModel(ids, vocabulary, texts, voices, words, embedder_identity=identity, embedder=embedder)


def _weigh(texts: Resemblance, rows: Sequence[Row], meaning: Matrix, wanted: Matrix) -> Matrix:
    """Return the voices of least squared error, their own squared length counting `RIDGE` times."""
    kernel = np.empty((len(rows), len(rows)), dtype=np.float32)
    for number, row in enumerate(rows):
        kernel[number] = texts.to(row, meaning[number] if texts.dimensions else None)
    kernel[np.diag_indices(len(rows))] += np.float32(RIDGE)
    return solve(kernel, wanted)
