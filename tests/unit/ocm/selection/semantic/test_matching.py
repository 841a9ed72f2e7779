"""Choosing by meaning with the real model (extra `compozy[semantic]`)."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from compozy.ocm.policy import Request
from compozy.ocm.selection.documents import Document, Field
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.extras import by_meaning
from compozy.ocm.selection.semantic.embedder import Vectors
from compozy.ocm.selection.semantic.index import SemanticIndex
from compozy.ocm.selection.semantic.vectors import VectorCache
from compozy.ocm.target import Target

CATALOGUE = (
    Target(
        id="acme/doctor",
        kind="agent",
        name="physician",
        description="Helps patients: headache, fever and other symptoms of illness.",
    ),
    Target(id="acme/lawyer", kind="agent", name="counsel", description="Examines agreements and legal obligations."),
    Target(id="acme/cook", kind="agent", name="chef", description="Suggests dishes and prepares meals."),
    Target(
        id="acme/travel",
        kind="agent",
        name="journeys",
        description="Books trips.",
        examples=("find me a flight to Rome", "which hotel is near the airport"),
    ),
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "embeddings.db"


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("I have been sick with a sore throat", "acme/doctor"),
        ("is this contract clause binding?", "acme/lawyer"),
        ("what could I make for dinner tonight", "acme/cook"),
        ("I need to get to Berlin by plane", "acme/travel"),
    ],
)
def test_a_task_that_shares_no_word_finds_the_capability_that_is_meant(task: str, expected: str, cache: Path) -> None:
    outcome = Selector(CATALOGUE, matching=by_meaning(cache)).select(task)

    assert outcome.ranked[0].id == expected
    assert any(reason.startswith("near in meaning") for reason in outcome.ranked[0].reasons)


def test_something_quite_different_fits_nobody(cache: Path) -> None:
    outcome = Selector(CATALOGUE, matching=by_meaning(cache)).select("compile the kernel with clang")

    assert outcome.chosen == ""
    assert outcome.reason.startswith("none fits")


def test_who_is_refused_is_never_chosen_and_changes_no_other_score(cache: Path) -> None:
    selector = Selector(CATALOGUE, matching=by_meaning(cache))
    asked = "I have been sick with a sore throat"

    free, denied = selector.select(asked), selector.select(asked, Request(deny=("acme/doctor",)))

    assert "acme/doctor" not in [one.id for one in denied.ranked]
    assert [one.id for one in denied.ranked] == [one.id for one in free.ranked if one.id != "acme/doctor"]


def test_the_same_question_has_the_same_answer(cache: Path) -> None:
    first, second = (Selector(CATALOGUE, matching=by_meaning(cache)).select("plan a holiday") for _ in range(2))

    assert first == second


class Counting:
    """An embedder of two dimensions that remembers what it was asked."""

    identity = "counting@1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        rows = np.array([[len(text) or 1, 1.0] for text in texts], dtype=np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_a_text_is_embedded_once_over_all_runs(tmp_path: Path) -> None:
    path, embedder = tmp_path / "new" / "embeddings.db", Counting()

    first = VectorCache(path).embed(embedder, ["one", "three", "one"])
    again = VectorCache(path).embed(embedder, ["three", "one", "four and more"])

    assert embedder.asked == ["one", "three", "four and more"]
    assert np.array_equal(first[0], again[1])
    assert first[0] == pytest.approx(embedder.embed(["one"])[0], abs=1e-3)


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    path, one, other = tmp_path / "embeddings.db", Counting(), Counting()
    other.identity = "counting@2"

    VectorCache(path).embed(one, ["text"])
    VectorCache(path).embed(other, ["text"])

    assert other.asked == ["text"]


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b""])
def test_a_damaged_file_costs_time_and_nothing_else(tmp_path: Path, damage: bytes) -> None:
    path, embedder = tmp_path / "embeddings.db", Counting()
    path.write_bytes(damage)

    rows = VectorCache(path).embed(embedder, ["text"])

    assert rows.shape == (1, 2)
    assert VectorCache(path).embed(Counting(), ["text"]).shape == (1, 2)
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    database.close()


def test_a_place_that_cannot_be_written_costs_time_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    assert VectorCache(tmp_path / "file" / "embeddings.db").embed(Counting(), ["text"]).shape == (1, 2)


def test_documents_without_texts_are_near_to_nothing() -> None:
    embedder = Counting()
    index = SemanticIndex([Document("a", ()), Document("b", (Field("its tags", "x y"),))], embedder.embed)

    assert index.nearness(embedder.embed(["task"])[0]).tolist() == [0.0, 0.0]


def test_an_empty_catalogue_has_no_nearness(cache: Path) -> None:
    outcome = Selector((), matching=by_meaning(cache)).select("anything")

    assert outcome.chosen == "" and outcome.ranked == ()
