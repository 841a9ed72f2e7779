"""The trained model itself: what the descent reaches, which features count, and models that need an embedder."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from compozy.model.errors import LocalError
from compozy.ocm.selection.documents import Document, Field
from compozy.ocm.selection.features import Vocabulary, count_features
from compozy.ocm.selection.linear import COST, Example, LinearModel, train
from compozy.ocm.selection.model_files import load_model, save_model

DOCUMENTS = [Document("mail", (Field("its name", "post"),)), Document("ship", (Field("its name", "boat"),))]
DIGEST = "sha256:" + "0" * 64
# Words of one meaning without a letter in common.
MEANINGS = ({"post", "letter", "envelope"}, {"boat", "harbour", "quay"})


class Meanings:
    """An embedder that knows two meanings; other texts lie between them."""

    def __init__(self, identity: str = "meanings@1") -> None:
        self.identity = identity
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += len(texts)
        rows = [[1e-3 + sum(word in known for word in text.split()) for known in MEANINGS] for text in texts]
        found = np.array(rows, dtype=np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


def never() -> Meanings:
    raise AssertionError("a model without meaning asks for no embedder")


def examples() -> list[Example]:
    return [Example("send my letter", "mail"), Example("reach the harbour", "ship"), Example("to the quay", "ship")]


def test_more_epochs_come_to_the_one_optimum_of_the_squared_hinge() -> None:
    rows = [
        Example(f"{word} number {n}", one) for n in range(6) for word, one in (("stamp", "mail"), ("sail", "ship"))
    ]

    def loss(epochs: int) -> float:
        model = train(DOCUMENTS, rows, epochs=epochs)
        weights, vocabulary = model._weights.astype(np.float64), model._vocabulary
        total = float((weights**2).sum()) / 2
        for text, label in [("post", 0), ("boat", 1), *((row.task, int(row.id == "ship")) for row in rows)]:
            row = vocabulary.row(count_features(text))
            drawn = row.values @ weights[row.numbers] + weights[-1]
            wanted = np.where(np.arange(2) == label, 1, -1)
            total += COST * float((np.maximum(0, 1 - wanted * drawn) ** 2).sum())
        return total

    optimum = loss(200)
    assert optimum < loss(6) <= optimum * 1.02
    assert loss(6) < loss(1)
    assert math.isclose(loss(400), optimum, rel_tol=1e-4)


def test_each_block_of_a_row_has_the_length_one_and_unknown_features_count_for_nothing() -> None:
    counted = [count_features("sail the boat"), count_features("sail home")]
    vocabulary = Vocabulary.of(counted)
    row = vocabulary.row(count_features("sail the boat zzz"))
    assert math.isclose(float(row.values @ row.values), 2, rel_tol=1e-5)
    names = list(vocabulary.rarities)
    assert {"w:sail", "p:sail the", "s:sail boat", " s", "sail", "oat "} <= {names[number] for number in row.numbers}
    assert len(vocabulary.row(count_features("qqq")).numbers) == 0
    assert len(vocabulary.row(count_features("")).numbers) == 0


def test_a_feature_of_one_text_among_many_is_left_out() -> None:
    texts = [count_features("sail")] * 1_999
    assert "w:zebra" in Vocabulary.of([*texts[1:], count_features("zebra")]).rarities
    assert "w:zebra" not in Vocabulary.of([*texts, count_features("zebra")]).rarities


def test_meaning_finds_what_shares_no_letter_with_the_training_and_survives_the_file(tmp_path: Path) -> None:
    model = train(DOCUMENTS, examples(), embedder=Meanings())
    told = model.probabilities("envelope")
    assert told["mail"] > 0.6 > train(DOCUMENTS, examples()).probabilities("envelope")["mail"]
    assert math.isclose(sum(told.values()), 1, rel_tol=1e-6)
    path = tmp_path / "x.model"
    save_model(path, model, DIGEST)
    again = load_model(path, DIGEST, Meanings)
    assert again.embedder_identity == "meanings@1"
    assert math.isclose(again.probabilities("envelope")["mail"], told["mail"], abs_tol=0.01)
    assert model.to_bytes() == train(DOCUMENTS, examples(), embedder=Meanings()).to_bytes()


def test_a_model_with_meaning_is_refused_without_its_embedder_or_with_another(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    save_model(path, train(DOCUMENTS, examples(), embedder=Meanings()), DIGEST)
    with pytest.raises(LocalError, match="'meanings@1' and is used with ''"):
        load_model(path, DIGEST)
    with pytest.raises(LocalError, match="'meanings@1' and is used with 'meanings@2'"):
        load_model(path, DIGEST, lambda: Meanings("meanings@2"))


def test_a_model_without_meaning_never_loads_an_embedder(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    save_model(path, train(DOCUMENTS, examples()), DIGEST)
    assert load_model(path, DIGEST, never).embedder_identity == ""


def test_weights_that_fit_no_meaning_are_damage() -> None:
    data = train(DOCUMENTS, examples()).to_bytes()
    with pytest.raises(ValueError, match="rows of weights"):
        LinearModel.from_bytes(data + b"\0" * 4)
