"""The seam between selection and whatever turns text into vectors: a local model or an embeddings endpoint."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        identity: name and digest of the model; vectors of another identity are never compared with its own.
    """

    @property
    def identity(self) -> str: ...

    def __hash__(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one for each text, shape (texts, dimensions); the same text gives the same row."""
        ...


def cosines(rows: Vectors, one: Vectors) -> Vectors:
    """Return the cosine of each of the rows with one vector, all of length one."""
    # Not `rows @ one`: BLAS shares even this among threads, and on a busy machine one then waits for the other.
    return np.asarray(np.einsum("rd,d->r", rows, one), dtype=np.float32)
