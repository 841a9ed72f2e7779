"""Choosing by meaning with the real model (extra `compozy[semantic]`)."""

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from compozy.ocm.policy import Request
from compozy.ocm.selection.documents import Document, Field, read_target
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.extras import by_meaning
from compozy.ocm.selection.semantic.embedder import Vectors
from compozy.ocm.selection.semantic.index import SemanticIndex, read_texts
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


def test_parameters_tell_tools_apart_whose_descriptions_do_not(cache: Path) -> None:
    def tool(name: str, **parameters: str) -> Target:
        told = {"parameters": parameters}
        return Target(id=name, kind="tool", name=name, description="Makes a booking.", metadata=told)

    selector = Selector(
        (
            tool("book_1", seat="Window or aisle.", airport="Where the plane leaves from."),
            tool("book_2", table="Inside or on the terrace.", cuisine="What the kitchen serves."),
        ),
        matching=by_meaning(cache),
    )
    assert selector.select("we are hungry and want to sit outdoors").ranked[0].id == "book_2"
    assert selector.select("I have to fly home on Sunday").ranked[0].id == "book_1"


def test_a_document_speaks_as_a_whole_where_it_has_parameters() -> None:
    told = {"parameters": {"seat": "Window or aisle.", "bags": ""}}
    one = Target(id="a", kind="tool", name="bookFlight", description="Books.", examples=("to Rome",), metadata=told)
    assert read_texts(read_target(one)).whole == "book Flight: Books. seat Window or aisle.; bags"
    assert read_texts(read_target(CATALOGUE[0])).whole == ""


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


def fill(path: Path) -> list[str]:
    texts = [f"text {number}" * (number % 7 + 1) for number in range(600)]
    VectorCache(path).embed(Counting(), texts)
    return texts


@pytest.mark.parametrize("where", [60, 1_000, 5_000, 20_000, -3_000])
def test_damage_in_the_middle_never_gives_another_vector(tmp_path: Path, where: int) -> None:
    path = tmp_path / "embeddings.db"
    texts = fill(path)
    wanted = VectorCache(tmp_path / "other.db").embed(Counting(), texts)
    data = bytearray(path.read_bytes())
    data[where : where + 200 if where > 0 else len(data)] = bytes(255 - one for one in data[where:][:200])
    path.write_bytes(data)

    assert np.array_equal(VectorCache(path).embed(Counting(), texts), wanted)
    assert np.array_equal(VectorCache(path).embed(Counting(), texts), wanted)


@pytest.mark.parametrize("row", ["text", 5, b"", b"abc", b"\x00\x7e\x00\x7e\x00\x00\x00\x00"])
def test_a_row_that_was_not_stored_by_us_is_computed_again(tmp_path: Path, row: object) -> None:
    path = tmp_path / "embeddings.db"
    (text, *_) = fill(path)
    database = sqlite3.connect(path)
    database.execute("UPDATE vectors SET row = ?", (row,))
    database.commit()
    database.close()

    embedder = Counting()
    assert np.isfinite(VectorCache(path).embed(embedder, [text])).all()
    assert embedder.asked == [text]


def test_a_file_that_somebody_holds_is_left_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "embeddings.db"
    texts = fill(path)
    monkeypatch.setattr("compozy.ocm.selection.semantic.vectors._WAIT_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    embedder = Counting()

    assert VectorCache(path).embed(embedder, ["new", texts[0]]).shape == (2, 2)

    holder.execute("ROLLBACK")
    assert holder.execute("SELECT count(*) FROM vectors").fetchone() == (600,)
    holder.close()


def test_a_full_disk_costs_time_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "embeddings.db"
    fill(path)
    script = (
        "import resource, signal, sys\nfrom pathlib import Path\n"
        "import numpy as np\nfrom compozy.ocm.selection.semantic.vectors import VectorCache\n"
        "class Some:\n    identity = 'some'\n"
        "    def embed(self, texts):\n        return np.ones((len(texts), 384), dtype=np.float32)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "print(VectorCache(Path(sys.argv[1])).embed(Some(), [str(n) for n in range(500)]).shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("(500, 384)\n", "")


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
