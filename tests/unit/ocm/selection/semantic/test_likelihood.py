"""How sure a choice by meaning is: against its rivals and against what no document of the catalogue offers."""

from pathlib import Path

import numpy as np
import pytest

from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.extras import by_meaning
from compozy.ocm.selection.semantic.likelihood import Evidence, read_background
from compozy.ocm.target import Target

ALL = np.array([True, True, True])


def sure(near: list[float], background: list[float], number: int = 0, admitted: np.ndarray = ALL) -> float:
    cosines = np.array(background, dtype=np.float32)
    return Evidence(cosines, np.array(near, dtype=np.float32), admitted).probability(number, 0.1, 0.3, False)


def test_the_nearer_the_surer() -> None:
    found = [sure([near, 0.1, 0.1], [0.1, 0.2]) for near in (0.2, 0.4, 0.6)]

    assert found == sorted(found) and 0.0 < found[0] < found[-1] < 1.0


def test_a_rival_that_is_as_near_makes_less_sure_and_one_that_may_not_compete_does_not() -> None:
    alone = sure([0.5, 0.1, 0.1], [0.1, 0.2])
    refused = np.array([True, False, True])

    assert sure([0.5, 0.5, 0.1], [0.1, 0.2]) < alone
    assert sure([0.5, 0.5, 0.1], [0.1, 0.2], admitted=refused) == sure([0.5, -0.5, 0.1], [0.1, 0.2], admitted=refused)


def test_something_unrelated_that_is_nearer_makes_less_sure() -> None:
    assert sure([0.4, 0.1, 0.1], [0.0, 0.6]) < sure([0.4, 0.1, 0.1], [0.3, 0.3])


def test_a_document_that_does_not_compete_is_judged_all_the_same() -> None:
    assert 0.0 < sure([0.4, 0.1, 0.1], [0.2], number=0, admitted=np.array([False, True, True])) < 1.0


def test_the_background_is_of_different_sentences() -> None:
    sentences = read_background()

    assert len(sentences) == len(set(sentences)) >= 150
    assert all(sentence.endswith(".") and sentence == sentence.strip() for sentence in sentences)


@pytest.mark.parametrize(
    ("task", "fits"),
    [
        ("which dishes can I make from rice and beans", True),
        ("what shares should I buy this week", False),
        ("how do I fix a flat tyre", False),
    ],
)
def test_even_a_catalogue_of_one_is_not_taken_for_everything(task: str, fits: bool, tmp_path: Path) -> None:
    cook = Target(id="acme/cook", kind="agent", name="chef", description="Suggests dishes and prepares meals.")

    outcome = Selector([cook], matching=by_meaning(tmp_path / "embeddings.db")).select(task)

    assert bool(outcome.chosen) is fits
