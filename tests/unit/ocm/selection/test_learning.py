"""Evaluation, representative examples, outcomes that become priors, and trained models."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compozy.model.errors import LocalError
from compozy.ocm.selection import trained as trained_module
from compozy.ocm.selection.documents import read_target
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.evaluation import Confusion, evaluate
from compozy.ocm.selection.model_files import catalogue_digest, load_model, save_model, trainer
from compozy.ocm.selection.outcomes import Result, learn, read_results, record, with_learned
from compozy.ocm.selection.representative import choose_examples, choose_for
from compozy.ocm.target import Target

NOW = datetime(2026, 1, 31, tzinfo=UTC)
MAIL = Target(
    id="a/mail",
    kind="agent",
    name="mail",
    description="Post.",
    examples=("sort my letters", "sort the letters again"),
)
SHIP = Target(
    id="a/ship", kind="agent", name="ship", description="Boats.", examples=("sail a boat", "sort my letters please")
)


def test_an_example_never_helps_itself_and_mistakes_are_counted() -> None:
    found = evaluate([MAIL, SHIP])
    assert (found.examples, found.capabilities, found.without_examples) == (4, 2, 0)
    assert Confusion(expected="a/ship", chosen="a/mail", count=1) in found.confusion
    assert found.accuracy == 0.5 or found.accuracy == 0.75
    assert evaluate([]).accuracy == 0


def test_chosen_examples_cover_every_cluster_before_they_repeat_one() -> None:
    tasks = ["sort my letters", "sort the letters", "sort all letters", "sail to the island", "sail round the island"]
    first, second = choose_examples(tasks, 2)
    assert "letters" in first and "island" in second
    assert choose_examples(tasks, 99)[:2] == [first, second] and len(choose_examples(tasks, 99)) == 5
    assert choose_examples([], 3) == []


def test_what_a_capability_has_as_example_is_not_chosen_again_and_makes_what_is_near_it_worth_less() -> None:
    tasks = ["book a flight", "book the flight", "book this flight", "cancel my hotel"]
    assert choose_examples(tasks, 1) == ["book a flight"]
    assert choose_examples(tasks, 1, given=["book a flight"]) == ["cancel my hotel"]
    (found,) = choose_for({"acme/trips": tasks}, {"acme/trips": ["book a flight"], "acme/else": ["a"]}, 2)
    assert (found.tasks, found.examples) == (4, ("book a flight", "cancel my hotel"))
    (full,) = choose_for({"acme/trips": tasks}, {"acme/trips": tasks}, 2)
    assert (full.kept, full.chosen) == (tuple(tasks), ())


def test_old_outcomes_count_half_after_thirty_days_and_few_say_little(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    record(path, Result(id="a/mail", quality=1.0, at="2026-01-31T00:00:00+00:00"))
    record(path, Result(id="a/mail", quality=0.0, at="2026-01-01T00:00:00+00:00"))
    (one,) = learn(read_results(path), {"a/mail": 0.5}, NOW)
    assert (one.samples, one.weight) == (2, 1.5)
    assert one.prior == round((0.5 * 8 + 1) / 9.5, 4)
    assert with_learned([MAIL, SHIP], read_results(path), NOW)[0].prior == one.prior


@pytest.mark.parametrize(
    "line",
    ["[]", '{"id": "a"}', '{"id":"a","quality":2,"at":"2026-01-01"}', "\\xff", '{"id":"a","quality":1,"at":"x"}'],
)
def test_a_line_that_is_no_outcome_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "outcomes.jsonl"
    path.write_text("\n" + line + "\n")
    with pytest.raises(LocalError, match=r"outcomes\.jsonl:2"):
        read_results(path)


def test_a_trained_model_is_bound_to_its_catalogue_and_decides(tmp_path: Path) -> None:
    documents = [read_target(MAIL), read_target(SHIP)]
    rows = [trained_module.Example(f"hoist the flag {n}", "a/mail") for n in range(5)]
    rows += [trained_module.Example(f"weigh the parcel {n}", "a/ship") for n in range(5)]
    path = tmp_path / "x.model"
    save_model(path, trainer().train(documents, rows), catalogue_digest(documents))
    model = load_model(path, catalogue_digest(documents))
    assert Selector([MAIL, SHIP], model).select("hoist the flag").chosen == "a/mail"
    assert Selector([MAIL, SHIP], model).select("weigh the parcel").chosen == "a/ship"
    assert trainer().train(documents, rows).to_bytes() == trainer().train(documents, rows).to_bytes()
    with pytest.raises(LocalError, match="another catalogue"):
        load_model(path, catalogue_digest(documents[:1]))
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(LocalError, match="damaged"):
        load_model(path, catalogue_digest(documents))
    path.write_bytes(b"something")
    with pytest.raises(LocalError, match="no trained model"):
        load_model(path, catalogue_digest(documents))
    path.write_bytes(b"compozy-linear-1 " + catalogue_digest(documents).encode() + b"\n{}\n")
    with pytest.raises(LocalError, match="another version of compozy; train it again"):
        load_model(path, catalogue_digest(documents))


def test_an_example_of_an_unknown_capability_is_refused() -> None:
    with pytest.raises(LocalError, match="not in the catalogue"):
        trained_module.train([read_target(MAIL)], [trained_module.Example("x", "b/else")])


def test_without_numpy_a_model_says_which_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compozy.ocm.selection.trained", None)
    import compozy.ocm.selection

    monkeypatch.delattr(compozy.ocm.selection, "trained", raising=False)
    with pytest.raises(LocalError, match="install the extra `train`") as caught:
        trainer()
    assert "-m pip install 'numpy>=" in (caught.value.hint or "")
