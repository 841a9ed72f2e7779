"""`compozy ocm examples`: the tasks that stand for what people ask of each capability (issue 8 item 7)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import ocm_command
from compozy.cli.ocm.requests import read_targets
from compozy.cli.output import clean, note, one_line, write
from compozy.cli.wording import count as counted
from compozy.model.errors import EXIT_OK
from compozy.ocm.sources import STDIN

if TYPE_CHECKING:
    from compozy.ocm.selection.representative import Chosen

_SHOWN = 5


@ocm_command(
    "examples",
    examples=(
        "compozy ocm examples tasks.jsonl targets.yaml",
        "compozy ocm examples tasks.jsonl targets.yaml --write",
        "compozy ocm examples tasks.jsonl capabilities/ --count 5 --replace --write",
    ),
)
@click.argument("tasks")
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--count", type=click.IntRange(1, 100), default=8, show_default=True, help="Examples of a capability, at most."
)
@click.option("--replace", "is_replacing", is_flag=True, help="Drop the examples that the manifests have.")
@click.option("--write", "is_writing", is_flag=True, help="Write the examples into the manifests.")
@pass_invocation
def command(
    invocation: Invocation, tasks: str, paths: tuple[str, ...], count: int, is_replacing: bool, is_writing: bool
) -> int:
    """Choose examples for the manifests at PATHS from TASKS, lines of {"task": …, "id": …}.

    For each capability those that together are near to most of its tasks, printed as `examples:` to copy. Examples
    that a manifest has already stay in front and count. Eight sentences that people really write are worth more for
    selection than anything else. --write keeps the rest of the files, comments too. Exit codes: 0, 2.
    """
    if is_writing and STDIN in paths:
        raise click.UsageError("--write needs files to write to, not standard input")
    from compozy.cli.ocm.labelled import read_labelled  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.representative import choose_for  # noqa: PLC0415 - start-up cost

    targets = {one.id: one for one in read_targets(paths)}
    asked: dict[str, list[str]] = {one: [] for one in targets}
    for task, one in read_labelled(Path(tasks), targets):
        if task.strip():
            asked[one].append(task.strip())
    native = [one for one, target in targets.items() if "ocm" not in target.document]
    without = [one for one, its in asked.items() if not its]
    chosen = choose_for(
        {one: its for one, its in asked.items() if its and one not in native},
        {} if is_replacing else {one: target.examples for one, target in targets.items()},
        count,
    )
    written = _write(paths, chosen) if is_writing else []
    if invocation.is_human:
        _print(invocation, chosen, without, native, written)
    else:
        answer(
            invocation,
            {
                "capabilities": [_as_record(one) for one in chosen],
                "without_tasks": without,
                "native_entries_passed_over": native,
                "written": written,
            },
        )
    return EXIT_OK


def _as_record(one: "Chosen") -> dict[str, object]:
    return {"id": one.id, "tasks": one.tasks, "kept": len(one.kept), "examples": list(one.examples)}


def _write(paths: Sequence[str], chosen: "Sequence[Chosen]") -> list[str]:
    """Write the examples into files; all of them are spliced before the first is written."""
    from compozy.cli.ocm.replacing import rewrite  # noqa: PLC0415 - start-up cost
    from compozy.ocm.in_place import Document, Edits, edit_manifests  # noqa: PLC0415 - start-up cost

    wanted = {one.id: list(one.examples) for one in chosen}

    def edits_of(documents: Sequence[Document]) -> list[Edits]:
        found: list[Edits] = []
        for document in documents:
            examples = wanted.get(str(document["id"]))
            is_changed = examples is not None and examples != document.get("examples")
            found.append({("examples",): examples} if is_changed else {})
        return found

    otherwise = "copy them from what this prints without --write"
    return rewrite(paths, lambda text, name: edit_manifests(text, name, edits_of, otherwise=otherwise))


def _print(
    invocation: Invocation, chosen: "Sequence[Chosen]", without: list[str], native: list[str], written: list[str]
) -> None:
    from compozy.ocm.writing import to_yaml  # noqa: PLC0415 - start-up cost

    for number, one in enumerate(chosen):
        kept = f", {len(one.kept)} kept" if one.kept else ""
        head = f"# {one.id}: {len(one.chosen)} of {counted(one.tasks, 'task')}{kept}"
        write("\n" * bool(number) + clean(one_line(head)) + "\n")
        write(clean(to_yaml([{"examples": list(one.examples)}])))
    if without:
        note(invocation, f"without a task: {_named(without)}")
    if native:
        note(invocation, f"native entries have no examples: {_named(native)}; see `compozy ocm convert`")
    for path in written:
        write(clean(f"wrote {path}\n"))


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return one_line(", ".join(ids[:_SHOWN])) + more
