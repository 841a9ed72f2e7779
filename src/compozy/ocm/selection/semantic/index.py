"""How near each document is to a task in meaning: one number from several cosines of its texts (issue 8 item 7).

A document speaks through its name, its description, the sentences of it, and its examples: through the nearest of
them and through their middle. Where it has parameters, it speaks as a whole as well, with them: what a task hands
over tells tools of one application apart. It knows nothing of words in common, nor of who may be chosen.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compozy.ocm.selection.documents import Document
from compozy.ocm.selection.semantic.embedder import Vectors, cosines

# Without parameters chosen on every fourth of ToolE's training rows by random search. With parameters they keep half
# of their weight, and the other half is what small catalogues of our own choose, three quarters of it for the whole
# (docs/selection.md). By whether there are examples and whether there are parameters.
_WEIGHTS = {
    (False, False): {"description": 2.2, "sentence": 1.6, "named": 0.9, "name": 0.9},
    (False, True): {"whole": 2.1, "sentence": 1.5, "description": 1.1, "named": 0.45, "name": 0.45},
    (True, False): {
        "example": 2.6,
        "middle": 2.4,
        "description": 1.35,
        "sentence": 0.84,
        "named": 0.34,
        "name": 0.05,
    },
    (True, True): {
        "example": 2.6,
        "middle": 2.4,
        "whole": 0.95,
        "sentence": 0.74,
        "description": 0.68,
        "named": 0.17,
        "name": 0.03,
    },
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SHORTEST_SENTENCE = 16
# More of them would not say more, and each costs milliseconds once.
_MOST_SENTENCES, _MOST_EXAMPLES = 12, 32
_LONGEST = 2_000

Numbers = NDArray[np.int64]
Cosines = NDArray[np.float32]


class Texts(NamedTuple):
    """What a document says, by part; a part may be absent, as `whole` is without parameters."""

    name: str
    description: str
    sentences: tuple[str, ...]
    examples: tuple[str, ...]
    whole: str = ""


def read_texts(document: Document) -> Texts:
    """Return the texts of a document that are compared by meaning; lists of tags are left to the words."""
    fields = [field for field in document.fields if field.text.strip()]
    name = next((field.text for field in fields if field.place in ("its name", "a capability")), "")
    examples = [field.text[:_LONGEST] for field in fields if "example" in field.place][:_MOST_EXAMPLES]
    prose = [
        field.text[:_LONGEST]
        for field in fields
        if field.place.endswith(("description", "summary", "outcome", "parameters"))
    ]
    description = prose[0] if prose else ""
    sentences = [one for text in prose for one in _SENTENCE.split(text) if len(one) >= _SHORTEST_SENTENCE]
    parameters = "; ".join(field.text for field in fields if field.place.endswith("parameters"))
    whole = f"{_named(name, description)} {parameters}".strip()[:_LONGEST] if parameters else ""
    return Texts(name, description, tuple(sentences[:_MOST_SENTENCES]) or tuple(prose[:1]), tuple(examples), whole)


def _named(name: str, description: str) -> str:
    return f"{name}: {description}" if name and description else ""


class SemanticIndex:
    """The vectors of a fixed list of documents.

    Args:
        documents: what is compared.
        embed: turns texts into rows of length one, for example `VectorCache.embed` with a model.

    Attributes:
        has_examples: which documents have examples.
    """

    def __init__(self, documents: Sequence[Document], embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.size = len(documents)
        texts: dict[str, int] = {}
        rows: dict[str, list[list[int]]] = {
            part: [] for part in ("description", "sentence", "named", "name", "example", "whole")
        }
        for document in documents:
            said = read_texts(document)
            parts = {
                "description": (said.description,),
                "sentence": said.sentences,
                "named": (_named(said.name, said.description),),
                "name": (said.name,),
                "example": said.examples,
                "whole": (said.whole,),
            }
            for part, told in parts.items():
                rows[part].append([texts.setdefault(text, len(texts)) for text in told if text])
        self._vectors = embed(list(texts)) if texts else np.zeros((0, 1), dtype=np.float32)
        self._parts = {part: _Part(found) for part, found in rows.items()}
        self._middles = _middles(self._vectors, rows["example"])
        self._weights = _weights(self._parts)
        self.has_examples = self._parts["example"].present

    def nearness(self, task: Vectors) -> Cosines:
        """Return how near each document is to a task (a row of length one): -1 to 1, shape (documents,)."""
        if not self.size or not len(self._vectors):
            return np.zeros(self.size, dtype=np.float32)
        near = cosines(self._vectors, task)
        found = {part: numbers.best(near) for part, numbers in self._parts.items()}
        found["middle"] = cosines(self._middles, task)
        total = sum(self._weights[part] * values for part, values in found.items())
        return np.asarray(total, dtype=np.float32)


class _Part:
    """Which texts speak for each document in one part."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.present = np.array([bool(found) for found in rows], dtype=bool)
        self._numbers: Numbers = np.array([number for found in rows for number in found], dtype=np.int64)
        lengths = np.array([len(found) for found in rows if found], dtype=np.int64)
        self._starts: Numbers = np.concatenate(([0], np.cumsum(lengths)[:-1])) if len(lengths) else lengths

    def best(self, cosines: Cosines) -> Cosines:
        """Return the nearest text of each document, 0 where the part is absent."""
        found = np.zeros(len(self.present), dtype=np.float32)
        if len(self._numbers):
            found[self.present] = np.maximum.reduceat(cosines[self._numbers], self._starts)
        return found


def _middles(vectors: Vectors, rows: Sequence[Sequence[int]]) -> Vectors:
    """Return the direction that the examples of each document have in common."""
    middles = np.zeros((len(rows), vectors.shape[1]), dtype=np.float32)
    for number, found in enumerate(rows):
        if found:
            middle = vectors[found].sum(axis=0)
            middles[number] = middle / max(float(np.linalg.norm(middle)), 1e-6)
    return middles


def _weights(parts: dict[str, _Part]) -> dict[str, Cosines]:
    """Return each document's weight of each part; those of the parts it has sum to one."""
    present = {part: numbers.present for part, numbers in parts.items()}
    present["middle"] = present["example"]
    weights = {part: np.zeros(len(held)) for part, held in present.items()}
    for (examples, whole), given in _WEIGHTS.items():
        alike = (present["example"] == examples) & (present["whole"] == whole)
        for part, weight in given.items():
            weights[part] += weight * (alike & present[part])
    sums = np.maximum(sum(weights.values()), 1e-6)
    return {part: np.asarray(values / sums, dtype=np.float32) for part, values in weights.items()}
