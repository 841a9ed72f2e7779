"""`compozy ocm fmt`: manifests in one form, comments kept, meaning never changed (issue 8 item 4)."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from compozy.catalog.checking.run import RepairedFile
from compozy.cli.checking.command import unified
from compozy.cli.checking.report import shown_path
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import EXIT_INVALID_MANIFEST, ocm_command, standard_input, wants_findings
from compozy.cli.output import clean, write
from compozy.model.diagnostic import Severity
from compozy.ocm.problems import Problem

if TYPE_CHECKING:
    from compozy.documents.source import SourceText


@ocm_command(
    "fmt",
    examples=("compozy ocm fmt capability.yaml", "compozy ocm fmt --check capabilities/", "compozy ocm fmt --diff ."),
    strict=False,
)
@click.argument("paths", nargs=-1, required=True)
@click.option("--check", "is_check", is_flag=True, help="Change nothing; fail when a file has another form.")
@click.option("--diff", "is_diff", is_flag=True, help="Print what would change as a patch; change nothing.")
@click.option("--watch", "is_watching", is_flag=True, help="Run again after each change, until Ctrl-C.")
@pass_invocation
def command(invocation: Invocation, paths: tuple[str, ...], is_check: bool, is_diff: bool, is_watching: bool) -> int:
    """Write manifests in one form: fields in order, clean line ends, values that every YAML version reads alike.

    Comments and quoting stay. A file whose meaning a change could touch is left alone; what comes by standard input
    (-) goes to standard output. Exit codes: 0, 2 unreadable, or another form under --check.
    """
    if is_watching:
        from compozy.cli.ocm.watching import watch  # noqa: PLC0415 - start-up cost

        return watch(paths, lambda: _run(invocation, paths, is_check=is_check, is_diff=is_diff))
    return _run(invocation, paths, is_check=is_check, is_diff=is_diff)


def _run(invocation: Invocation, paths: tuple[str, ...], *, is_check: bool, is_diff: bool) -> int:
    from compozy.cli.ocm.replacing import replace  # noqa: PLC0415 - start-up cost
    from compozy.ocm.sources import STDIN, find_sources, read_text  # noqa: PLC0415 - start-up cost

    if STDIN in paths:
        if len(paths) > 1:
            raise click.UsageError("standard input (-) is formatted by itself: name it alone")
        return _run_stdin(invocation, is_check=is_check, is_diff=is_diff)
    changed: list[RepairedFile] = []
    bad: list[Problem] = []
    for source in find_sources(paths):
        text = source if isinstance(source, Problem) else read_text(source.path)
        if isinstance(text, Problem) or isinstance(source, Problem):
            assert isinstance(text, Problem)
            bad.append(text)
            continue
        change = _form(source.path, text, bad)
        if change is None:
            continue
        changed.append(change)
        if not is_check and not is_diff:
            replace(Path(source.path).resolve(), text.text, change.after)
    _show(invocation, changed, bad, is_diff=is_diff, is_check=is_check)
    return EXIT_INVALID_MANIFEST if bad or (is_check and changed) else 0


def _run_stdin(invocation: Invocation, *, is_check: bool, is_diff: bool) -> int:
    """Format what comes by standard input; the result is the answer."""
    from compozy.ocm.sources import STDIN, read_text  # noqa: PLC0415 - start-up cost

    is_asked_for = not is_check and not is_diff
    if is_asked_for and wants_findings(invocation):
        raise click.UsageError(f"-o {invocation.format} prints findings only: add --check, or name a file")
    text = read_text(STDIN, standard_input((STDIN,)))
    bad = [text] if isinstance(text, Problem) else []
    change = None if isinstance(text, Problem) else _form(STDIN, text, bad)
    result = change.after if change is not None else "" if isinstance(text, Problem) else text.text
    if is_asked_for and invocation.is_human and not bad:
        write(result)
    else:
        changed = [change] if change is not None else []
        told = result if is_asked_for else None
        _show(invocation, changed, bad, is_diff=is_diff, is_check=is_check, text=told)
    return EXIT_INVALID_MANIFEST if bad or (is_check and change is not None) else 0


def _form(path: str, text: "SourceText", bad: list[Problem]) -> RepairedFile | None:
    """Return a file in its form, or None when it has it; one that cannot be read is added to `bad`."""
    from compozy.ocm.formatting import find_unreadable, format_json, format_yaml  # noqa: PLC0415 - start-up cost
    from compozy.ocm.sources import STDIN, STDIN_NAME, is_yaml  # noqa: PLC0415 - start-up cost

    reads_yaml = is_yaml(path, text.normal)
    name = STDIN_NAME if path == STDIN else path
    after = (format_yaml if reads_yaml else format_json)(text.text)
    if after != text.text:
        return RepairedFile(name, text.text, after, ())
    bad.extend(find_unreadable(text, name, is_yaml=reads_yaml))
    return None


def _show(
    invocation: Invocation,
    changed: list[RepairedFile],
    bad: list[Problem],
    *,
    is_diff: bool,
    is_check: bool,
    text: str | None = None,
) -> None:
    if wants_findings(invocation):
        from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost

        severity = Severity.ERROR if is_check else Severity.INFO
        message = "has another form; write it with `ocm fmt`" if is_check or is_diff else "was written in its form"
        forms = [Problem(code="form", field="", message=message, path=one.path, severity=severity) for one in changed]
        report_problems(invocation, [*bad, *forms], tool="ocm fmt")
        return
    if not invocation.is_human:
        record: dict[str, object] = {
            "changed": [change.path for change in changed],
            "problems": [{"path": one.path, "code": one.code, "message": one.message} for one in bad],
        }
        if is_diff:
            record["diffs"] = [{"path": change.path, "diff": unified(change)} for change in changed]
        if text is not None:
            record["text"] = text
        answer(invocation, record)
        return
    for change in changed:
        word = "would change" if is_check else "formatted"
        write(unified(change) if is_diff else clean(f"{word} {shown_path(change.path)}\n"))
    for one in bad:
        place = f":{one.position.line}:{one.position.column}" if one.position else ""
        write(clean(f"not read {shown_path(one.path)}{place}: {one.message}\n"))
