"""The arrays score words as the index does that reads them one by one."""

import numpy as np
import pytest

from compozy.lexical import index
from compozy.lexical.values import hints
from compozy.lexical.words import tokens
from compozy.ocm.selection.semantic.word_arrays import WordArrays, combine

DOCUMENTS = (
    "convert currencies and exchange rates, currency currency",
    "weather forecast for a city; forecasting storms and rain",
    "",
    "translate contracts between languages",
    "review contracts, find risky clauses; contract contract contract",
)
TASKS = (
    "what will the weather be in the city tomorrow",
    "review my contract",
    "exchnage ratez",
    "zzz qqq",
    "",
    "weather weather contract currency of rain",
    "is it 21 degrees on friday, or 20 EUR",
)


@pytest.mark.parametrize("task", TASKS)
def test_every_document_has_the_score_of_the_index(task: str) -> None:
    documents = [tokens(text) for text in DOCUMENTS]
    slow = index.LexicalIndex(documents)
    query = index.read_query(tokens(task), hints(task))
    expected = slow.score(query)

    found = WordArrays(documents).score(tokens(task), hints(task))

    numbers = range(len(documents))
    assert found.words.tolist() == pytest.approx([expected.words.get(number, 0.0) for number in numbers])
    cosines = [expected.groups.get(number, 0.0) / (expected.length or 1) for number in numbers]
    assert found.groups.tolist() == pytest.approx(cosines)
    total = index.combine(expected, {1})
    admitted = np.array([number != 1 for number in numbers])
    totals = combine(found, admitted)[admitted].tolist()
    assert totals == pytest.approx([total.get(number, 0.0) for number in numbers if number != 1])


def test_coverage_is_the_share_of_telling_words() -> None:
    arrays = WordArrays([tokens(text) for text in DOCUMENTS])

    both = arrays.score(tokens("weather forecasts")).coverage
    half = arrays.score(tokens("weather zzz")).coverage

    assert both[1] == pytest.approx(1.0) and both[0] == 0.0
    assert 0.0 < half[1] < 0.5  # a word that nobody has tells more than one that somebody has


def test_no_documents_have_no_scores() -> None:
    scores = WordArrays([]).score(["anything"])

    assert [part.shape for part in scores] == [(0,)] * 3
