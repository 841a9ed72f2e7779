"""Small catalogues of tools alike: choices that a change must not make worse (bench/data/small_catalogs.jsonl)."""

from bench import selection_data

from compozy.ocm.selection.engine import Selector

# Words alone choose right in 64.4 %, and are surer of those than of tasks that no tool can do in 65.9 % of pairs.
LEAST_RIGHT, LEAST_TOLD_APART = 0.635, 0.65


def test_tasks_go_to_the_right_one_of_tools_alike_as_often_as_they_did() -> None:
    right, sure, doubts = 0, [], []
    for catalogue in selection_data.small_catalogues():
        selector = Selector(catalogue.tools)
        for task, tool in catalogue.tasks:
            outcome = selector.select(task, explained=False)
            if tool is None:
                doubts.append(outcome.confidence)
            else:
                right += bool(outcome.ranked) and outcome.ranked[0].id == tool
                sure.append(outcome.confidence)
    assert (len(sure), len(doubts)) == (1_232, 252)
    assert right / len(sure) >= LEAST_RIGHT
    apart = sum((one > other) + (one == other) / 2 for one in sure for other in doubts)
    assert apart / (len(sure) * len(doubts)) >= LEAST_TOLD_APART
