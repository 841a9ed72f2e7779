"""`compozy ocm select`: which capability of a catalogue a task goes to, and why (issue 8 items 4 and 7)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import ocm_command, wants_findings
from compozy.cli.ocm.requests import Number, read_request, read_targets, request_options
from compozy.cli.output import clean, note, write
from compozy.cli.wording import none_fits
from compozy.model.errors import EXIT_GENERIC, EXIT_OK

if TYPE_CHECKING:
    from compozy.ocm.endpoints.choice import Choice
    from compozy.ocm.selection.documents import Document
    from compozy.ocm.selection.engine import Selector
    from compozy.ocm.selection.matching import Matcher
    from compozy.ocm.selection.outcome import Outcome, Plan

    Matching = Callable[[Sequence[Document]], Matcher]


@ocm_command(
    "select",
    examples=(
        'compozy ocm select "translate this contract" capabilities/',
        'compozy ocm select "translate this contract" targets.yaml --region eu --tenant acme --explain',
        'compozy ocm select "review the change" targets.yaml --plan -o json',
    ),
)
@click.argument("task")
@click.argument("paths", nargs=-1, required=True)
@request_options
@click.option("--minimum", type=Number(0, 1), default=0.2, show_default=True, help="Below this none fits.")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many to rank.")
@click.option("--plan", "is_plan", is_flag=True, help="Also find helpers that fit: persona, skill, model, tools.")
@click.option("--explain", is_flag=True, help="Also show the others, and who was refused by which rule.")
@click.option("--model", "model_file", metavar="FILE", help="A model that `ocm train` wrote for this catalogue.")
@click.option("--outcomes", metavar="FILE", help="Outcomes that `ocm learn` keeps: they become priors.")
@click.option("--semantic", is_flag=True, help="Match by meaning beside words; needs the extra `compozy[semantic]`.")
@pass_invocation
def command(
    invocation: Invocation,
    /,
    task: str,
    paths: tuple[str, ...],
    minimum: float,
    limit: int,
    is_plan: bool,
    explain: bool,
    model_file: str | None,
    outcomes: str | None,
    semantic: bool,
    **demands: object,
) -> int:
    """Choose a capability for TASK among the manifests at PATHS. Hard constraints decide first, then words.

    Needs no daemon. Exit codes: 0 one fits, 1 none fits, 2 invalid manifests or usage.
    """
    from compozy.ocm.selection.plans import make_plan  # noqa: PLC0415 - start-up cost

    refuse_swapped(task, paths)
    request = read_request(demands)
    selector = make_selector(paths, model_file, outcomes, matching_of(invocation, semantic=semantic))
    if is_plan:
        plan = make_plan(selector, task, request, minimum=minimum)
        outcome = plan.outcome
        record: object = plan
    else:
        plan = None
        outcome = selector.select(task, request, limit=limit, minimum=minimum)
        record = outcome
    if invocation.is_human:
        _show(outcome, plan, explained=explain)
    elif wants_findings(invocation) and not outcome.chosen:
        report_none_fits(invocation, outcome, "ocm select")
    else:
        answer(invocation, record)
    return EXIT_OK if outcome.chosen else EXIT_GENERIC


def refuse_swapped(task: str, paths: Sequence[str]) -> None:
    """Refuse a line that names the manifests first.

    Raises:
        click.UsageError: the task is a path that exists and the first path is none.
    """
    if paths[0] == "-" or set(paths[0]) & set("*?["):
        return
    # A task is often longer than a name may be, which is an error of the system.
    with suppress(OSError):
        if Path(task).exists() and not Path(paths[0]).exists():
            raise click.UsageError(f"{task!r} is a path: the task comes first, then the manifests")


def report_none_fits(invocation: Invocation, outcome: "Outcome", tool: str) -> None:
    """Report that nothing fits as a finding."""
    from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost
    from compozy.ocm.problems import Problem  # noqa: PLC0415 - start-up cost

    report_problems(invocation, [Problem(code="none-fits", field="", message=outcome.reason)], tool=tool)


def matching_of(invocation: Invocation, *, semantic: bool) -> "Matching":
    """Return how tasks are matched: by words, or by meaning too.

    Raises:
        LocalError: the extra `semantic` is wanted and not installed.
    """
    if not semantic:
        from compozy.ocm.selection.matching import LexicalMatcher  # noqa: PLC0415 - start-up cost

        return LexicalMatcher
    from compozy.ocm.selection.extras import CACHE_NAME, by_meaning  # noqa: PLC0415 - start-up cost

    def told(done: int, new: int) -> None:
        if done < new:
            note(invocation, f"embedded {done:,} of {new:,} new texts")

    return by_meaning(invocation.home.root / "cache" / CACHE_NAME, told)


def make_selector(
    paths: tuple[str, ...], model_file: str | None, outcomes: str | None, matching: "Matching | None" = None
) -> "Selector":
    """Return the selector of a catalogue on disk."""
    from compozy.ocm.selection.documents import read_target  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.engine import Selector  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.matching import LexicalMatcher  # noqa: PLC0415 - start-up cost

    targets = read_targets(paths)
    if outcomes is not None:
        from compozy.ocm.selection.outcomes import read_results, with_learned  # noqa: PLC0415 - start-up cost

        targets = with_learned(targets, read_results(Path(outcomes)), datetime.now(UTC))
    model = None
    if model_file is not None:
        from compozy.ocm.selection.extras import load_embedder  # noqa: PLC0415 - start-up cost
        from compozy.ocm.selection.model_files import catalogue_digest, load_model  # noqa: PLC0415 - start-up cost

        model = load_model(Path(model_file), catalogue_digest(list(map(read_target, targets))), load_embedder)
    return Selector(targets, model, matching or LexicalMatcher)


def told_endpoint(choice: "Choice") -> str:
    """Return an endpoint in one line."""
    where = f" in {choice.region}" if choice.region else ""
    wired = "" if choice.is_callable else ", wired by its operator"
    return f"{choice.protocol} {choice.url}".strip() + where + wired


def _show(outcome: "Outcome", plan: "Plan | None", *, explained: bool) -> None:
    if outcome.chosen:
        sure = min(outcome.confidence, 0.99)
        write(clean(f"{outcome.chosen}  {sure:.0%}: {outcome.reason}\n"))
    else:
        write(clean(f"{none_fits(outcome.reason)}\n"))
    if outcome.endpoint is not None:
        write(clean(f"  endpoint: {told_endpoint(outcome.endpoint)}\n"))
    for slot in plan.slots if plan else ():
        write(clean(f"  {slot.role}: {slot.id}  {slot.confidence:.0%}: {'; '.join(slot.reasons)}\n"))
    for role, reason in (plan.empty if plan else {}).items():
        write(clean(f"  {role}: none ({reason})\n"))
    if not explained:
        return
    others = [one for one in outcome.ranked if one.id != outcome.chosen]
    if others:
        write("\nOthers\n")
    for one in others:
        write(clean(f"  {one.id}  {one.confidence:.0%}: {'; '.join(one.reasons)}\n"))
    if outcome.refused:
        write("\nRefused\n")
    for refusal in outcome.refused:
        write(clean(f"  {refusal.id}  {refusal.rule}: {refusal.reason}\n"))
    hidden = sum(outcome.refused_by_rule.values()) - len(outcome.refused)
    if hidden > 0:
        write(f"  and {hidden} more\n")
