"""Small catalogues of tools alike: choices that a change must not make worse (bench/data/small_catalogs.jsonl)."""

from bench.selection import judge_small
from bench.selection_data import small_catalogues

from compozy.ocm.selection.matching import LexicalMatcher

# Words alone choose right in 64.4 %, and are surer of those than of tasks that no tool can do in 65.9 % of pairs.
LEAST_RIGHT, LEAST_TOLD_APART = 0.635, 0.65


def test_tasks_go_to_the_right_one_of_tools_alike_as_often_as_they_did() -> None:
    expected = [tool for catalogue in small_catalogues() for _, tool in catalogue.tasks]
    assert (len(expected), expected.count(None)) == (1_484, 252)
    quality, apart = judge_small(LexicalMatcher)
    assert quality.accuracy >= LEAST_RIGHT
    assert apart >= LEAST_TOLD_APART
