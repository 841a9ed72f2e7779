"""`compozy ocm eval`, `train` and `learn`: how well a catalogue selects, and making it better (issue 8)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import ocm_command, wants_findings
from compozy.cli.ocm.requests import Number, read_targets
from compozy.cli.output import clean, note, write, write_table
from compozy.cli.wording import count
from compozy.model.errors import EXIT_GENERIC, EXIT_OK, LocalError

if TYPE_CHECKING:
    from compozy.ocm.selection.evaluation import Effort, Evaluation
    from compozy.ocm.selection.outcomes import Result

_SHOWN = 20
# So many seconds are longer than a person likes to wait without a word.
_LONG = 20.0


@ocm_command(
    "eval", examples=("compozy ocm eval capabilities/", "compozy ocm eval targets.yaml --at-least 0.8 -o json")
)
@click.argument("paths", nargs=-1, required=True)
@click.option("--at-least", type=Number(0, 1), default=0.0, help="Fail below this accuracy.")
@click.option("--by-round", is_flag=True, help="Faster: leave out one example of every capability at once.")
@click.option("--all", "is_whole", is_flag=True, help="Judge every example, even when that takes hours.")
@click.option("--watch", "is_watching", is_flag=True, help="Run again after each change, until Ctrl-C.")
@pass_invocation
def evaluate(
    invocation: Invocation,
    paths: tuple[str, ...],
    at_least: float,
    by_round: bool,
    is_whole: bool,
    is_watching: bool,
) -> int:
    """Leave out each example of a catalogue, ask for it, and show who is mistaken for whom.

    A catalogue that would take longer than about five minutes is judged by some of its examples; --all judges each.
    Needs no daemon. Exit codes: 0, 1 accuracy below --at-least, 2 invalid manifests or usage.
    """
    if is_watching:
        from compozy.cli.ocm.watching import watch  # noqa: PLC0415 - start-up cost

        return watch(paths, lambda: _evaluate(invocation, paths, at_least, by_round, is_whole))
    return _evaluate(invocation, paths, at_least, by_round, is_whole)


def _evaluate(invocation: Invocation, paths: tuple[str, ...], at_least: float, by_round: bool, is_whole: bool) -> int:
    from compozy.ocm.selection.evaluation import PATIENCE, estimate  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.evaluation import evaluate as judge  # noqa: PLC0415 - start-up cost

    targets = read_targets(paths)
    patience = float("inf") if is_whole else PATIENCE
    effort = estimate(targets, by_round=by_round, patience=patience)
    if effort.taken * effort.each > _LONG:
        _tell_effort(invocation, effort, by_round)
    found = judge(targets, by_round=by_round, patience=patience)
    if wants_findings(invocation):
        _report_evaluation(invocation, found, {target.id: target.source for target in targets}, at_least)
        return EXIT_OK if found.accuracy >= at_least else EXIT_GENERIC
    if invocation.is_human:
        judged = count(found.examples, "example")
        if found.left_out:
            judged += f" ({found.left_out:,} left out)"
        write(
            f"{judged} of {count(found.capabilities, 'capability', 'capabilities')}: "
            f"{found.accuracy:.0%} find their own, {found.fitting:.0%} with enough confidence to be chosen\n"
        )
        if found.without_examples:
            bare = count(found.without_examples, "capability has", "capabilities have")
            advice = (
                "give each a few sentences that people really write; `compozy ocm examples TASKS PATH` chooses them"
            )
            write(f"{bare} no examples; {advice}\n")
        rows = [[clean(one.expected), clean(one.chosen), str(one.count)] for one in found.confusion[:_SHOWN]]
        if rows:
            write("\n")
            write_table(invocation, ["EXPECTED", "CHOSEN", "TIMES"], rows)
    else:
        answer(invocation, found)
    return EXIT_OK if found.accuracy >= at_least else EXIT_GENERIC


def _tell_effort(invocation: Invocation, effort: "Effort", by_round: bool) -> None:
    """Say how long it takes and what is left out because of that, before anybody waits."""
    faster = "" if by_round else "--by-round is faster and a little less exact"
    what = "rounds" if by_round else "examples"
    if effort.taken == effort.steps:
        text = f"{effort.steps:,} {what} take an index each, some {_duration(effort.seconds)}"
        note(invocation, f"{text}; {faster}" if faster else text)
        return
    ways = ", ".join(way for way in (faster, "--all judges every one") if way)
    note(
        invocation,
        f"{effort.steps:,} {what} take an index each, some {_duration(effort.seconds)}: {effort.taken:,} of them, "
        f"evenly chosen, are judged; {ways}",
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:,.0f} minutes" if seconds < 5_400 else f"{seconds / 3_600:,.0f} hours"


def _report_evaluation(invocation: Invocation, found: "Evaluation", places: dict[str, str], at_least: float) -> None:
    from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost
    from compozy.model.diagnostic import Position, Severity  # noqa: PLC0415 - start-up cost
    from compozy.ocm.problems import Problem  # noqa: PLC0415 - start-up cost

    problems = []
    for one in found.confusion:
        path, _, line = places[one.expected].rpartition(":")
        times = f"{one.count} of its examples go" if one.count > 1 else "one of its examples goes"
        problems.append(
            Problem(
                code="confused",
                field="examples",
                message=f"{one.expected}: {times} to {one.chosen}",
                severity=Severity.WARNING,
                path=path,
                position=Position(line=int(line), column=1),
            )
        )
    if found.accuracy < at_least:
        message = f"{found.accuracy:.0%} of the examples find their own capability, fewer than {at_least:.0%}"
        message += f" ({found.left_out:,} were not judged)" if found.left_out else ""
        problems.append(Problem(code="accuracy", field="", message=message))
    report_problems(invocation, problems, tool="ocm eval")


@ocm_command(
    "train",
    examples=(
        "compozy ocm train tasks.jsonl targets.yaml --to targets.model",
        "compozy ocm train tasks.jsonl targets.yaml --semantic --to targets.model",
    ),
)
@click.argument("tasks")
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--to", "target", required=True, metavar="FILE", help="Where the model goes, best beside the catalogue."
)
@click.option(
    "--semantic", is_flag=True, help="Train on meaning too; needs the extra `compozy[semantic]`, also later."
)
@pass_invocation
def train(invocation: Invocation, tasks: str, paths: tuple[str, ...], target: str, semantic: bool) -> int:
    """Train a model on TASKS, lines of {"task": …, "id": …}, for the catalogue at PATHS.

    Pays off from some fifty tasks a capability on. Needs the extra `train` and no daemon. Exit codes: 0, 1, 2.
    """
    from compozy.cli.ocm.labelled import read_labelled  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.documents import read_target  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.extras import load_embedder  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.model_files import catalogue_digest, save_model, trainer  # noqa: PLC0415 - start-up cost

    module = trainer()
    documents = [read_target(one) for one in read_targets(paths)]
    examples = read_labelled(Path(tasks), {one.id for one in documents})
    model = module.train(documents, examples, embedder=load_embedder() if semantic else None)
    digest = catalogue_digest(documents)
    save_model(Path(target).resolve(), model, digest)
    record = {"model": target, "catalogue": digest, "tasks": len(examples), "capabilities": len(documents)}
    if invocation.is_human:
        write(clean(f"trained on {count(len(examples), 'task')} for {len(documents)} capabilities: {target}\n"))
    else:
        answer(invocation, record)
    return EXIT_OK


@ocm_command(
    "learn",
    examples=(
        "compozy ocm learn outcomes.jsonl --good acme/translator",
        "compozy ocm learn outcomes.jsonl --bad acme/translator",
        "compozy ocm learn outcomes.jsonl --catalog capabilities/ --write",
    ),
)
@click.argument("outcomes")
@click.option("--good", multiple=True, metavar="ID", help="Record that this capability did well.")
@click.option("--bad", multiple=True, metavar="ID", help="Record that this capability did badly.")
@click.option("--catalog", multiple=True, metavar="PATH", help="The manifests whose authored priors are the start.")
@click.option("--write", "is_writing", is_flag=True, help="Write the priors into the manifests of --catalog.")
@pass_invocation
def learn(
    invocation: Invocation,
    outcomes: str,
    good: tuple[str, ...],
    bad: tuple[str, ...],
    catalog: tuple[str, ...],
    is_writing: bool,
) -> int:
    """Record outcomes in the file OUTCOMES and show the priors that follow, with how many outcomes they rest on.

    An outcome counts half after thirty days; the authored prior is worth eight, and stays in the manifest beside the
    learned one, so that learning again counts nothing twice. Needs no daemon. Exit codes: 0, 1, 2.
    """
    if is_writing and not catalog:
        raise click.UsageError("--write needs the manifests to write to: name them with --catalog")
    from compozy.ocm.selection.outcomes import (  # noqa: PLC0415 - start-up cost
        Result,
        authored_prior_of,
        read_results,
        record,
    )
    from compozy.ocm.selection.outcomes import learn as conclude  # noqa: PLC0415 - start-up cost

    path = Path(outcomes)
    now = datetime.now(UTC)
    if path.exists():
        # What is no file of outcomes is not written to.
        read_results(path)
    authored = {one.id: authored_prior_of(one) for one in read_targets(catalog)} if catalog else {}
    for ids, quality in ((good, 1.0), (bad, 0.0)):
        for one in ids:
            if catalog and one not in authored:
                raise LocalError(f"{one!r} is not in the catalogue; correct the id", code="id_unknown")
            record(path, Result(id=one, quality=quality, at=now.isoformat(timespec="seconds")))
    results = read_results(path)
    found = conclude(results, authored, now)
    written = _write_priors(catalog, results, now) if is_writing else []
    if invocation.is_human:
        rows = [[clean(one.id), f"{one.prior:.3f}", str(one.samples), f"{one.weight:.1f}"] for one in found]
        write_table(invocation, ["ID", "PRIOR", "OUTCOMES", "WORTH NOW"], rows)
        for one in written:
            write(clean(f"wrote {one}\n"))
    else:
        answer(invocation, found)
    return EXIT_OK


def _write_priors(paths: Sequence[str], results: "Sequence[Result]", now: datetime) -> list[str]:
    """Write learned priors into files; all of them are spliced before the first is written."""
    from compozy.cli.ocm.replacing import rewrite  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.priors import write_priors  # noqa: PLC0415 - start-up cost

    return rewrite(paths, lambda text, name: write_priors(text, name, results, now))
