"""How much a text resembles every text of a fixed list, as one number each: the kernel of the trained model.

Postings by feature, as an index of words has them, and the vectors of meaning where there are any. It knows nothing
of capabilities (issue 8; extra `compozy[train]`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compozy.ocm.selection.features import Block, Row

Matrix = NDArray[np.float32]
# Chosen on training rows of ToolE; see docs/selection.md.
_MEANING = np.float32(2)
_POSTING = np.dtype([("text", "<u4"), ("value", "<f2")])


class Resemblance:
    """A fixed list of texts; the resemblance is a positive definite kernel.

    Args:
        starts: for each feature where its postings begin, and last where all end.
        texts: the number of the text of each posting.
        values: how much the feature weighs in it.
        meaning: one row of length one for each text; no columns where there is no embedder.

    Raises:
        ValueError: these do not belong together.
    """

    def __init__(self, starts: NDArray[np.int64], texts: NDArray[np.int64], values: Matrix, meaning: Matrix) -> None:
        fits = len(texts) == len(values) == starts[-1] and starts[0] == 0 and bool((np.diff(starts) >= 0).all())
        if not fits or (len(texts) and int(texts.max()) >= len(meaning)):
            raise ValueError(f"postings of {len(starts) - 1} features do not fit {len(meaning)} texts")
        self._starts, self._texts, self._values, self._meaning = starts, texts, values, meaning

    @classmethod
    def of(cls, rows: Sequence[Row], features: int, meaning: Matrix) -> "Resemblance":
        """Index texts."""
        blocks = [block for row in rows for block in row]
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(block.numbers for block in blocks)])
        values = np.concatenate([np.zeros(0, dtype=np.float32), *(block.values for block in blocks)])
        lengths = [len(row.groups.numbers) + len(row.words.numbers) for row in rows]
        texts = np.repeat(np.arange(len(rows)), lengths)
        order = np.argsort(numbers, kind="stable")
        starts = np.searchsorted(numbers[order], np.arange(features + 1))
        return cls(starts, texts[order], values[order], meaning)

    @property
    def dimensions(self) -> int:
        """How long a vector of meaning is; 0 without."""
        return int(self._meaning.shape[1])

    def __len__(self) -> int:
        return len(self._meaning)

    def to(self, row: Row, meaning: Matrix | None = None) -> Matrix:
        """Return how much each text of the list resembles this one.

        Squares make near neighbours count more than the many that share a little with everything; the constant is
        what all texts have in common.
        """
        found = self._cosines(row.groups) ** 2 + self._cosines(row.words) + 1
        if meaning is not None:
            found += _MEANING * np.maximum(self._meaning @ meaning, 0) ** 2
        return found.astype(np.float32, copy=False)

    def _cosines(self, block: Block) -> Matrix:
        first = self._starts[block.numbers]
        lengths = self._starts[block.numbers + 1] - first
        before = np.cumsum(lengths) - lengths
        postings = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))
        shares = np.repeat(block.values, lengths) * self._values[postings]
        return np.bincount(self._texts[postings], shares, minlength=len(self)).astype(np.float32)

    def to_bytes(self) -> bytes:
        """Return postings and vectors; the numbers of features, texts and dimensions are not among them."""
        postings = np.empty(len(self._texts), dtype=_POSTING)
        postings["text"], postings["value"] = self._texts, self._values
        return self._starts.astype("<u4").tobytes() + postings.tobytes() + self._meaning.astype("<f2").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, features: int, texts: int, dimensions: int) -> "Resemblance":
        """Read what `to_bytes` gave.

        Raises:
            ValueError: it is something else.
        """
        starts = np.frombuffer(data, "<u4", features + 1).astype(np.int64)
        postings = np.frombuffer(data, _POSTING, int(starts[-1]), starts.size * 4)
        rest = data[starts.size * 4 + postings.nbytes :]
        meaning = np.frombuffer(rest, "<f2").astype(np.float32).reshape(texts, dimensions)
        return cls(starts, postings["text"].astype(np.int64), postings["value"].astype(np.float32), meaning)


def solve(matrix: Matrix, wanted: Matrix, *, step: int = 512) -> Matrix:
    """Return what the positive definite `matrix` times gives `wanted`; the matrix is used up.

    Cholesky's decomposition in place, `step` columns at a time: numpy's own takes the memory of the matrix once more.
    """
    found = wanted.copy()
    steps = [slice(start, min(start + step, len(matrix))) for start in range(0, len(matrix), step)]
    for number, here in enumerate(steps):
        inverse = np.linalg.inv(np.linalg.cholesky(matrix[here, here]))
        matrix[here, here] = inverse
        below = slice(here.stop, None)
        matrix[below, here] = matrix[below, here] @ inverse.T
        found[here] = inverse @ found[here]
        found[below] -= matrix[below, here] @ found[here]
        for there in steps[number + 1 :]:
            matrix[there.start :, there] -= matrix[there.start :, here] @ matrix[there, here].T
    for here in reversed(steps):
        below = slice(here.stop, None)
        found[here] = matrix[here, here].T @ (found[here] - matrix[below, here].T @ found[below])
    return found
