"""`compozy select`: which agent a task would go to, and why; a file of tasks as a regression test (issue 8; D29)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import JsonObject, connected, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, note, plain, print_object, print_rows, safe_line, write
from compozy.cli.sessions import read_text
from compozy.cli.wording import count, none_fits, reason_of
from compozy.cli.workspace_context import WorkspaceContext, find, not_yet, unregistered
from compozy.model.errors import EXIT_GENERIC, EXIT_OK, LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.selection import Candidate, Selection

_NONE = "none"
# `note` is for whoever keeps the file.
_CASE_FIELDS = ("task", "expect", "require", "prefer", "note")
_RESULTS = (
    Column("RESULT", "result"),
    Column("EXPECTED", "expected"),
    Column("CHOSEN", "chosen"),
    Column("TASK", "task"),
)


@command(
    "select",
    examples=(
        'compozy select "write the release notes"',
        'compozy select "review this change" --require review-code --prefer security@1.2 --explain',
        "compozy select --test tasks.jsonl",
    ),
)
@click.argument("task", required=False)
@click.option(
    "--require", multiple=True, metavar="ID", help="A capability or skill the agent must have; ID@VERSION pins."
)
@click.option("--prefer", multiple=True, metavar="ID", help="A capability or skill that puts an agent first.")
@click.option("--explain", is_flag=True, help="Also show the other agents, and why each was not chosen.")
@click.option(
    "--test", "test_file", metavar="FILE", help="Lines of {task, expect}: check that each goes where it should."
)
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@pass_invocation
def select(
    invocation: Invocation,
    task: str | None,
    require: tuple[str, ...],
    prefer: tuple[str, ...],
    explain: bool,
    test_file: str | None,
    workspace: str | None,
) -> int:
    """Say which agent TASK would go to here, without starting anything; a TASK of `-` is read from standard input.

    Exit codes: 0 an agent fits (or every tested task went where it should), 1 none fits (or one did not).
    """
    if (task is None) == (test_file is None):
        raise click.UsageError("give either a TASK or --test FILE")
    cases = _read_cases(test_file) if test_file is not None else []
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        if task is None:
            results = [_test(client, case, context) for case in cases]
            return _show_results(invocation, results)
        place = context.id if context else ""
        answer = client.agents.select(read_text(task, "the task"), place, require=require, prefer=prefer)
    root = unregistered(context)
    if invocation.is_human:
        _show(answer, explained=explain, is_final=root is None)
        if root is not None:
            # A run would make a workspace of it and choose among its agents too.
            note(invocation, f"\n{not_yet(root)}")
    else:
        print_object(invocation, with_source(answer, context), (), name="selection")
    return EXIT_OK if answer.fits else EXIT_GENERIC


def _show(answer: "Selection", *, explained: bool, is_final: bool) -> None:
    best = answer.candidates[0] if answer.candidates else None
    if answer.fits:
        write(clean(f"{answer.agent}  {_percent(best)}: {answer.reason}\n"))
        if best is not None and best.missing_inputs:
            write(clean(f"  {best.capability} needs: {plain(best.missing_inputs)}\n"))
    else:
        write(clean(f"{none_fits(answer.reason)}\n"))
        if answer.agent and is_final:
            write(clean(f"  a run would use {answer.agent}\n"))
    if not explained:
        return
    if answer.candidates[1:]:
        write("\nAlso fit\n")
    for row in answer.candidates[1:]:
        reason = "; ".join(row.reasons) or "it has what is required"
        write(clean(f"  {row.name}  {_percent(row)}: {reason}".replace("  :", ":") + "\n"))
    if answer.rejected:
        write("\nDo not fit\n")
    for other in answer.rejected:
        write(clean(f"  {other.name}: {other.reason or 'it has what is required'}\n"))


def _percent(row: "Candidate | None") -> str:
    # Nothing is certain: a chance that rounds to one is shown as 99 of 100. One that nobody estimated is not shown.
    return f"{min(row.confidence, 0.99):.0%}" if row is not None and row.confidence else ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _read_cases(file: str) -> list[JsonObject]:
    """Read the tasks of a regression file: one JSON object a line; empty lines and lines with # are passed over.

    Raises:
        LocalError: the file cannot be read, or a line is not `{"task": …, "expect": …}`.
    """
    from compozy.documents.files import read_lines  # noqa: PLC0415 - start-up cost

    try:
        lines = read_lines(Path(file))
    except (OSError, UnicodeDecodeError) as error:
        raise LocalError(
            f"could not read {file!r}: {reason_of(error)}; give a UTF-8 file of JSON lines", code="test_unreadable"
        ) from error
    cases: list[JsonObject] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            case = json.loads(line)
        except (ValueError, RecursionError):
            case = None
        wrong = _what_is_wrong(case)
        if wrong:
            raise LocalError(
                f'{file}:{number}: {wrong}; write {{"task": "…", "expect": "agent or none"}}, and "require" and '
                '"prefer" as lists of ids',
                code="test_invalid",
            )
        cases.append(case)
    if not cases:
        raise LocalError(
            f"{file!r} holds no test; write one JSON object with task and expect a line", code="test_empty"
        )
    return cases


def _what_is_wrong(case: object) -> str:
    """Return why a line is no test: one that is misspelled must not pass for one that demands less."""
    if not isinstance(case, dict):
        return "the line is no JSON object"
    for key in ("task", "expect"):
        if not isinstance(case.get(key), str):
            return f"{key!r} must be text"
    for key in ("require", "prefer"):
        value = case.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            return f"{key!r} must be a list of ids"
    unknown = [key for key in case if key not in _CASE_FIELDS]
    return f"unknown field {unknown[0]!r}" if unknown else ""


def _test(client: "Client", case: JsonObject, context: WorkspaceContext | None) -> JsonObject:
    wishes = [[str(one) for one in _list(case.get(key))] for key in ("require", "prefer")]
    place = context.id if context else ""
    answer = client.agents.select(text_of(case, "task"), place, require=wishes[0], prefer=wishes[1])
    chosen = answer.agent if answer.fits else _NONE
    expected = text_of(case, "expect")
    result = "ok" if chosen == expected else "WRONG"
    row: JsonObject = {"result": result, "expected": expected, "chosen": chosen, "task": case["task"]}
    return {**row, "reason": answer.reason}


def _show_results(invocation: Invocation, results: Sequence[JsonObject]) -> int:
    wrong = [row for row in results if row["result"] != "ok"]
    print_rows(invocation, results, _RESULTS, name="tests")
    if invocation.is_human:
        write("\n")
        for row in wrong:
            write(safe_line(f"{row['task']}: {row['reason']}") + "\n")
        write(f"{len(results) - len(wrong)} of {count(len(results), 'task')} went where expected\n")
    return EXIT_GENERIC if wrong else EXIT_OK
