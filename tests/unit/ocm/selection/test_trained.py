"""The trained model itself: what it minimises, which features count, and models that need an embedder."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from compozy.lexical.index import LexicalIndex, Query, Scores
from compozy.model.errors import LocalError
from compozy.ocm.selection import trained
from compozy.ocm.selection.documents import Document, Field
from compozy.ocm.selection.features import Row, Vocabulary, count_features
from compozy.ocm.selection.model_files import load_model, save_model
from compozy.ocm.selection.resemblance import Matrix, Resemblance, solve
from compozy.ocm.selection.trained import RIDGE, Example, TrainedModel, train

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


def test_the_voices_solve_what_the_texts_say_of_each_other() -> None:
    rows = [
        Example(f"{word} number {n}", one) for n in range(3) for word, one in (("stamp", "mail"), ("sail", "ship"))
    ]
    model = train(DOCUMENTS, rows)
    texts = ["post", "boat", *(row.task for row in rows)]
    labels = [0, 1, *(int(row.id == "ship") for row in rows)]
    kernel = np.array([model._texts.to(model._vocabulary.row(count_features(text))) for text in texts])
    assert np.allclose(kernel, kernel.T, atol=1e-5)
    wanted = np.where(np.arange(2) == np.array(labels)[:, None], 1, -1)
    assert np.allclose((kernel + RIDGE * np.eye(len(texts))) @ model._voices, wanted, atol=1e-4)


def test_resemblance_is_the_squared_cosine_of_groups_and_the_cosine_of_words_and_of_meaning() -> None:
    counted = [count_features(text) for text in ("sail the boat", "sail home", "zzz")]
    vocabulary = Vocabulary.of(counted)
    rows = [vocabulary.row(counts) for counts in counted]
    meaning = np.array([[1, 0], [0.6, 0.8], [-1, 0]], dtype=np.float32)
    texts = Resemblance.of(rows, len(vocabulary), meaning)

    def cosine(kind: int) -> float:
        first, second = (dict(zip(*map(np.ndarray.tolist, row[kind]), strict=True)) for row in rows[:2])
        return float(sum(value * second.get(number, 0) for number, value in first.items()))

    expected = [3, 1 + cosine(0) ** 2 + cosine(1), 1]
    assert 0 < cosine(1) < cosine(0) < 1
    assert np.allclose(texts.to(rows[0]), expected, atol=1e-5)
    assert np.allclose(texts.to(rows[0], meaning[0]), np.add(expected, [2, 2 * 0.36, 0]), atol=1e-5)


@pytest.mark.parametrize("step", [1, 3, 7, 8])
def test_the_decomposition_in_steps_solves_the_same_as_the_whole(step: int) -> None:
    drawn = np.random.default_rng(1).normal(size=(7, 9)).astype(np.float32)
    matrix, wanted = drawn @ drawn.T + np.eye(7, dtype=np.float32), drawn[:, :2].copy()
    assert np.allclose(solve(matrix.copy(), wanted, step=step), np.linalg.solve(matrix, wanted), atol=1e-4)
    assert solve(np.zeros((0, 0), dtype=np.float32), wanted[:0]).shape == (0, 2)


def test_more_texts_than_are_weighed_at_once_are_shares_that_agree() -> None:
    rows = [Example(f"{w} number {n}", one) for n in range(9) for w, one in (("stamp", "mail"), ("sail", "ship"))]
    whole, shared = train(DOCUMENTS, rows), train(DOCUMENTS, rows, at_once=7)
    for task, one in (("stamp number", "mail"), ("sail away", "ship")):
        assert shared.probabilities(task)[one] > 0.6
        assert whole.probabilities(task)[one] > 0.6


def test_a_catalogue_without_a_text_makes_a_model_without_an_opinion() -> None:
    model = train([Document("mail", ()), Document("ship", ())], [])
    again = TrainedModel.from_bytes(model.to_bytes())
    assert model.probabilities("letter") == again.probabilities("letter") == {"mail": 0.5, "ship": 0.5}


def test_each_block_of_a_row_has_the_length_one_and_unknown_features_count_for_nothing() -> None:
    counted = [count_features("sail the boat"), count_features("sail home")]
    vocabulary = Vocabulary.of(counted)
    row = vocabulary.row(count_features("sail the boat zzz"))
    names = list(vocabulary.rarities)
    for block, told in ((row.groups, {" s", "sail", "oat "}), (row.words, {"w:sail", "p:sail the", "s:sail boat"})):
        assert math.isclose(float(block.values @ block.values), 1, rel_tol=1e-5)
        assert told <= {names[number] for number in block.numbers}
    for text in ("qqq", ""):
        assert [len(block.numbers) for block in vocabulary.row(count_features(text))] == [0, 0]


def test_a_feature_of_one_text_among_many_is_left_out() -> None:
    texts = [count_features("sail")] * 1_999
    assert "w:zebra" in Vocabulary.of([*texts[1:], count_features("zebra")]).rarities
    assert "w:zebra" not in Vocabulary.of([*texts, count_features("zebra")]).rarities


def test_a_group_that_a_tenth_of_many_texts_have_is_left_out_and_the_word_is_kept() -> None:
    texts = [count_features(f"{n:04}") for n in range(1_790)]
    few = Vocabulary.of([*texts, *[count_features("sail")] * 200]).rarities
    assert {"sail", "w:sail"} <= set(few)
    many = Vocabulary.of([*texts, *[count_features("sail")] * 300]).rarities
    assert "w:sail" in many
    assert "sail" not in many


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


def test_a_model_with_meaning_asks_no_index_of_words_and_one_without_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Query] = []

    class Counted(LexicalIndex):
        def score(self, query: Query) -> Scores:
            asked.append(query)
            return super().score(query)

    monkeypatch.setattr(trained, "LexicalIndex", Counted)
    model = train(DOCUMENTS, examples(), embedder=Meanings())
    again = TrainedModel.from_bytes(model.to_bytes(), Meanings)
    assert again.probabilities("letter")["mail"] > 0.5 < model.probabilities("letter")["mail"]
    assert not asked
    train(DOCUMENTS, examples()).probabilities("letter")
    assert len(asked) == 1


def test_texts_that_are_weighed_at_once_are_indexed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make = Resemblance.of

    def count(rows: Sequence[Row], features: int, meaning: Matrix) -> Resemblance:
        made.append(len(rows))
        return make(rows, features, meaning)

    monkeypatch.setattr(Resemblance, "of", count)
    train(DOCUMENTS, examples())
    assert made == [5]
    train(DOCUMENTS, examples(), at_once=3)
    assert made == [5, 5, 3, 2]


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


@pytest.mark.parametrize("cut", [1, 4, 40])
def test_a_model_that_ends_early_or_late_is_damage(cut: int) -> None:
    data = train(DOCUMENTS, examples(), embedder=Meanings()).to_bytes()
    for damaged in (data[:-cut], data + b"\0" * cut):
        with pytest.raises(ValueError, match=r"."):
            TrainedModel.from_bytes(damaged, Meanings)
