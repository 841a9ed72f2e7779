"""Quality of selection beside its targets, and what a choice takes; docs/selection.md says how it was tuned."""

import contextlib
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import selection_data as data
from bench.harness import Bed, Figure, Missing, benchmark
from compozy.model.errors import LocalError
from compozy.ocm.policy import Request
from compozy.ocm.selection import extras
from compozy.ocm.selection.documents import Document, read_target
from compozy.ocm.selection.engine import Classifier, Selector
from compozy.ocm.selection.matching import LexicalMatcher, Matcher
from compozy.ocm.selection.model_files import trainer
from compozy.ocm.target import Target

AREA = "Selection"
# Every third row with its tool taken out is enough for the ranking of doubts.
_ABSENT_STEP = 3


class Quality(NamedTuple):
    """Accuracy@1, recall@5 and NDCG@5 in one, and how sure the selector was of each choice."""

    accuracy: float
    recall: float
    ndcg: float
    sure: list[float]

    def note(self) -> str:
        return f"recall@5 {self.recall:.3f}, NDCG@5 {self.ndcg:.3f}"


def judge(ranked: Sequence[tuple[Sequence[str], str]], sure: list[float]) -> Quality:
    """Judge rankings against the one right id of each."""
    places = [list(found).index(gold) if gold in found else -1 for found, gold in ranked]
    count = max(len(places), 1)
    return Quality(
        sum(place == 0 for place in places) / count,
        sum(0 <= place < 5 for place in places) / count,
        sum(1 / math.log2(place + 2) for place in places if 0 <= place < 5) / count,
        sure,
    )


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """Return the chance that a choice with the right tool present is surer than one without; ties count half."""
    ordered = sorted([(value, 1) for value in present] + [(value, 0) for value in absent])
    total, start = 0.0, 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        total += sum(kind for _, kind in ordered[start:end]) * (start + end + 1) / 2
        start = end
    ones = len(present)
    return (total - ones * (ones + 1) / 2) / (ones * len(absent))


def toole(
    bed: Bed,
    name: str,
    make: Callable[[], list[Target]],
    matching: Callable[[Sequence[Document]], Matcher] = LexicalMatcher,
) -> tuple[Quality, Selector]:
    """Return the quality on ToolE's dev rows of a catalogue."""

    def run(_: contextlib.ExitStack) -> tuple[Quality, Selector]:
        dev = data.rows("toole/dev.jsonl")
        selector = Selector(make(), matching=matching)
        ranked, sure = [], []
        for row in dev:
            outcome = selector.select(row["query"], limit=5, explained=False)
            ranked.append(([one.id for one in outcome.ranked], row["tool"]))
            sure.append(outcome.confidence)
        return judge(ranked, sure), selector

    return bed.once(name, run)


def absent(selector: Selector) -> list[float]:
    """Return how sure the selector is of dev rows whose tool was taken out."""
    rows = data.rows("toole/dev.jsonl")[::_ABSENT_STEP]
    found = (selector.select(r["query"], Request(deny=(r["tool"],)), limit=1, explained=False) for r in rows)
    return [outcome.confidence for outcome in found]


@benchmark(
    name="selection.descriptions",
    area=AREA,
    text="ToolE: accuracy@1 by descriptions only",
    unit="%",
    target=46,
    better="more",
    how="3,000 dev tasks, 199 tools, name and description",
)
def descriptions(bed: Bed) -> Figure:
    quality, _ = toole(bed, "toole.descriptions", data.tools)
    return Figure(100 * quality.accuracy, quality.note())


@benchmark(
    name="selection.examples",
    area=AREA,
    text="ToolE: accuracy@1 with 8 representative examples a tool",
    unit="%",
    target=66,
    better="more",
    how="the same; examples chosen from the tool's training tasks by facility location",
)
def with_examples(bed: Bed) -> Figure:
    quality, _ = toole(bed, "toole.examples", lambda: data.tools(data.examples(representative=True)))
    return Figure(100 * quality.accuracy, quality.note())


@benchmark(
    name="selection.random_examples",
    area=AREA,
    text="ToolE: accuracy@1 with 8 random examples a tool",
    unit="%",
    better="more",
    how="the same; examples drawn with a fixed seed",
)
def with_random_examples(bed: Bed) -> Figure:
    quality, _ = toole(bed, "toole.random", lambda: data.tools(data.examples(representative=False)))
    return Figure(100 * quality.accuracy, quality.note())


@benchmark(
    name="selection.abstention",
    area=AREA,
    text="ToolE: AUROC of abstention, right tool taken out",
    unit="%",
    better="more",
    how="8 random examples a tool; every third dev task without its tool (78 is the target with `semantic`)",
)
def abstention(bed: Bed) -> Figure:
    quality, selector = toole(bed, "toole.random", lambda: data.tools(data.examples(representative=False)))
    return Figure(100 * auroc(quality.sure, absent(selector)))


@benchmark(
    name="selection.trained",
    area=AREA,
    text="ToolE: accuracy@1 trained on all rows",
    unit="%",
    target=85,
    better="more",
    how="kernel ridge model on every training task; needs the extra `train`",
)
def trained(bed: Bed) -> Figure:
    return judge_trained(bed, semantic=False)


@benchmark(
    name="selection.semantic_trained",
    area=AREA,
    text="ToolE: accuracy@1 trained on all rows, with `semantic`",
    unit="%",
    target=87,
    better="more",
    how="the same with the meaning of each task; embedding takes most of the time",
)
def semantic_trained(bed: Bed) -> Figure:
    return judge_trained(bed, semantic=True)


class Trained(NamedTuple):
    """A model of all training rows, and the seconds that took."""

    model: Classifier
    seconds: float


def train(bed: Bed, *, semantic: bool) -> Trained:
    """Train on all rows, once for each kind."""

    def run(_: contextlib.ExitStack) -> Trained:
        rows = data.rows("toole/train.jsonl")
        try:
            module = trainer()
            embedder = extras.load_embedder() if semantic else None
        except LocalError as why:
            raise Missing(why.message) from why
        began = time.perf_counter()
        examples = [module.Example(row["query"], row["tool"]) for row in rows]
        model = module.train(list(map(read_target, data.tools())), examples, embedder=embedder)
        return Trained(model, time.perf_counter() - began)

    return bed.once(f"selection.train.{semantic}", run)


def judge_trained(bed: Bed, *, semantic: bool) -> Figure:
    """Judge a model of all rows on dev; the note says how long training took."""
    model, took = train(bed, semantic=semantic)
    ranked, sure = [], []
    for row in data.rows("toole/dev.jsonl"):
        found = sorted(model.probabilities(row["query"]).items(), key=lambda item: (-item[1], item[0]))[:5]
        ranked.append(([name for name, _ in found], row["tool"]))
        sure.append(found[0][1])
    quality = judge(ranked, sure)
    return Figure(100 * quality.accuracy, f"{quality.note()}; trained in {took:.0f} s")


for _semantic in (False, True):

    @benchmark(
        name=f"selection.{'semantic_' if _semantic else ''}trained_query",
        area=AREA,
        text="one prediction of the trained model" + (", with `semantic`" if _semantic else ""),
        unit="ms",
        how="p50 of 200 dev tasks, 199 tools" + (", embedding of the task included" if _semantic else ""),
    )
    def trained_query(bed: Bed, semantic: bool = _semantic) -> Figure:
        model = train(bed, semantic=semantic).model
        took = []
        for row in data.rows("toole/dev.jsonl")[:200]:
            began = time.perf_counter()
            model.probabilities(row["query"])
            took.append((time.perf_counter() - began) * 1000)
        took.sort()
        return Figure(took[100], f"p99 {took[198]:.1f} ms")


def bfcl(bed: Bed) -> Quality:
    """Return the quality on BFCL's rows with several candidates."""

    return bed.once("bfcl", lambda _: judge_bfcl(LexicalMatcher))


def judge_bfcl(matching: Callable[[Sequence[Document]], Matcher]) -> Quality:
    """Judge one way of matching on BFCL's rows."""
    ranked, sure = [], []
    for row in data.rows("bfcl/live_multiple_selection.jsonl"):
        outcome = Selector(data.candidates(row), matching=matching).select(row["query"], explained=False)
        ranked.append(([one.id for one in outcome.ranked], row["gold"]))
        sure.append(outcome.confidence)
    return judge(ranked, sure)


@benchmark(
    name="selection.bfcl",
    area=AREA,
    text="BFCL live_multiple: accuracy@1",
    unit="%",
    target=88,
    better="more",
    how="name, description and parameters of each row's own candidates; nothing was tuned on BFCL",
)
def bfcl_multiple(bed: Bed) -> Figure:
    quality = bfcl(bed)
    return Figure(100 * quality.accuracy, quality.note())


@benchmark(
    name="selection.bfcl_irrelevance",
    area=AREA,
    text="BFCL: AUROC of abstention, live_multiple against live_irrelevance",
    unit="%",
    better="more",
    how="how sure the selector is of its best candidate (84 is the target with `semantic`)",
)
def bfcl_irrelevance(bed: Bed) -> Figure:
    rows = data.rows("bfcl/live_irrelevance_selection.jsonl")
    doubts = [Selector(data.candidates(row)).select(row["query"], explained=False).confidence for row in rows]
    return Figure(100 * auroc(bfcl(bed).sure, doubts))


def by_meaning(bed: Bed) -> Callable[[Sequence[Document]], Matcher]:
    """Return the semantic matcher's maker; every text is embedded once a run.

    Raises:
        Missing: the extra is not installed.
    """

    def run(stack: contextlib.ExitStack) -> Callable[[Sequence[Document]], Matcher]:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        try:
            return extras.by_meaning(Path(folder) / "embeddings.db")
        except LocalError as why:
            raise Missing(why.message) from why

    return bed.once("selection.by_meaning", run)


def toole_by_meaning(bed: Bed, name: str, make: Callable[[], list[Target]]) -> tuple[Quality, Selector]:
    """Return the quality on ToolE's dev rows of a catalogue, by words and meaning."""
    return toole(bed, name, make, by_meaning(bed))


@benchmark(
    name="selection.semantic_descriptions",
    area=AREA,
    text="ToolE: accuracy@1 by descriptions only, with `semantic`",
    unit="%",
    target=56,
    better="more",
    how="3,000 dev tasks, 199 tools, name and description",
)
def semantic_descriptions(bed: Bed) -> Figure:
    quality, _ = toole_by_meaning(bed, "toole.semantic_descriptions", data.tools)
    return Figure(100 * quality.accuracy, quality.note())


@benchmark(
    name="selection.semantic_examples",
    area=AREA,
    text="ToolE: accuracy@1 with 8 representative examples a tool, with `semantic`",
    unit="%",
    target=73,
    better="more",
    how="the same; examples chosen from the tool's training tasks by facility location",
)
def semantic_examples(bed: Bed) -> Figure:
    quality, _ = semantic_with_examples(bed)
    return Figure(100 * quality.accuracy, quality.note())


def semantic_with_examples(bed: Bed) -> tuple[Quality, Selector]:
    """Return quality and selector with representative examples, by words and meaning."""
    return toole_by_meaning(bed, "toole.semantic_examples", lambda: data.tools(data.examples(representative=True)))


@benchmark(
    name="selection.semantic_abstention",
    area=AREA,
    text="ToolE: AUROC of abstention, right tool taken out, with `semantic`",
    unit="%",
    target=78,
    better="more",
    how="8 representative examples a tool; every third dev task without its tool",
)
def semantic_abstention(bed: Bed) -> Figure:
    quality, selector = semantic_with_examples(bed)
    return Figure(100 * auroc(quality.sure, absent(selector)))


def semantic_bfcl(bed: Bed) -> Quality:
    """Return the quality on BFCL's rows with several candidates, by words and meaning."""

    def run(_: contextlib.ExitStack) -> Quality:
        return judge_bfcl(by_meaning(bed))

    return bed.once("bfcl.semantic", run)


@benchmark(
    name="selection.semantic_bfcl",
    area=AREA,
    text="BFCL live_multiple: accuracy@1, with `semantic`",
    unit="%",
    target=92,
    better="more",
    how="name, description and parameters of each row's own candidates; it chose between two weightings and no more",
)
def semantic_bfcl_multiple(bed: Bed) -> Figure:
    quality = semantic_bfcl(bed)
    return Figure(100 * quality.accuracy, quality.note())


@benchmark(
    name="selection.semantic_irrelevance",
    area=AREA,
    text="BFCL: AUROC of abstention, live_multiple against live_irrelevance, with `semantic`",
    unit="%",
    target=84,
    better="more",
    how="how sure the selector is of its best candidate",
)
def semantic_irrelevance(bed: Bed) -> Figure:
    rows = data.rows("bfcl/live_irrelevance_selection.jsonl")
    matching = by_meaning(bed)
    doubts = [
        Selector(data.candidates(row), matching=matching).select(row["query"], explained=False).confidence
        for row in rows
    ]
    return Figure(100 * auroc(semantic_bfcl(bed).sure, doubts))


def judge_small(matching: Callable[[Sequence[Document]], Matcher]) -> tuple[Quality, float]:
    """Judge one way of matching on our own small catalogues; the second is the AUROC of abstention."""
    ranked, sure, doubts = [], [], []
    for catalogue in data.small_catalogues():
        selector = Selector(catalogue.tools, matching=matching)
        for task, tool in catalogue.tasks:
            outcome = selector.select(task, explained=False)
            if tool is None:
                doubts.append(outcome.confidence)
            else:
                ranked.append(([one.id for one in outcome.ranked], tool))
                sure.append(outcome.confidence)
    return judge(ranked, sure), auroc(sure, doubts)


def small_catalogues(matching: Callable[[Sequence[Document]], Matcher]) -> Figure:
    """Return the accuracy on them; the note says how well it abstains."""
    quality, apart = judge_small(matching)
    return Figure(100 * quality.accuracy, f"{quality.note()}; AUROC of abstention {apart:.3f}")


@benchmark(
    name="selection.small",
    area=AREA,
    text="small catalogues of tools alike: accuracy@1",
    unit="%",
    better="more",
    how="bench/data/small_catalogs.jsonl: 1,232 tasks and 252 that no tool can do; parameters were tuned on it",
)
def lexical_small_catalogues(bed: Bed) -> Figure:
    return small_catalogues(LexicalMatcher)


@benchmark(
    name="selection.semantic_small",
    area=AREA,
    text="small catalogues of tools alike: accuracy@1, with `semantic`",
    unit="%",
    better="more",
    how="the same",
)
def semantic_small_catalogues(bed: Bed) -> Figure:
    return small_catalogues(by_meaning(bed))


@benchmark(
    name="selection.semantic_query",
    area=AREA,
    text="one semantic query among 199 tools",
    unit="ms",
    target=8,
    how="embedding of the task included; median of 200 dev tasks",
)
def semantic_query(bed: Bed) -> Figure:
    _, selector = semantic_with_examples(bed)
    took = []
    for row in data.rows("toole/dev.jsonl")[:200]:
        began = time.perf_counter()
        selector.select(row["query"], explained=False)
        took.append((time.perf_counter() - began) * 1000)
    return Figure(sorted(took)[len(took) // 2])
