"""Check many paths in one go, and repair what has a repair (issue 3 item 4). The API for Python callers.

`check` reads only. `repair` computes the repaired text of every file and, when asked to write, puts it there
old-or-new; it never touches a file whose text changed since it was read.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from compozy.catalog.checking.files import CheckedFile, check_target, read_text, text_check
from compozy.catalog.checking.targets import Target, root_targets, targets_at, workspace_of
from compozy.model.diagnostic import Diagnostic, Severity


class CheckReport(msgspec.Struct, kw_only=True):
    """What one run found. `texts` holds the text of each readable file by path."""

    files: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    texts: dict[str, str] = {}
    repaired: tuple[tuple[str, str], ...] = ()
    """Path and title of each repair that was made."""

    def count(self, severity: Severity) -> int:
        return sum(1 for one in self.diagnostics if one.severity is severity)

    @property
    def errors(self) -> int:
        return self.count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        return self.count(Severity.WARNING)

    @property
    def repairable(self) -> int:
        return sum(1 for one in self.diagnostics if one.repair is not None)

    def fails(self, *, strict: bool = False) -> bool:
        """Whether the run counts as failed (decisions D30): errors, or warnings when strict; notes never."""
        return self.errors > 0 or (strict and self.warnings > 0)


class RepairedFile(msgspec.Struct, frozen=True):
    """A file that repairs change: its text before and after, and what was done."""

    path: str
    before: str
    after: str
    titles: tuple[str, ...]


def find_targets(paths: Sequence[Path]) -> list[Target]:
    """Return everything to check at the given paths, each once, in the order given.

    Raises:
        NothingToCheck: a path does not exist or holds nothing of ours.
    """
    return list(dict.fromkeys(target for path in paths for target in targets_at(path)))


def visible_targets(folder: Path, home: Path) -> list[Target]:
    """Return everything visible from a folder: its workspace and the home."""
    workspace = workspace_of(Path(os.path.abspath(folder)), home)
    roots = ([workspace / ".compozy"] if workspace else []) + [home]
    return list(dict.fromkeys(target for root in roots for target in root_targets(root)))


def check_everything_visible(folder: Path, home: Path) -> CheckReport:
    """Check what is visible from a folder, single files and all of them together."""
    from compozy.catalog.checking.together import Place, check_together  # noqa: PLC0415 - start-up cost

    workspace = workspace_of(Path(os.path.abspath(folder)), home)
    report = check_targets(visible_targets(folder, home))
    _join(report, check_together([Place(workspace=workspace, home_agents=home / "agents")]))
    return report


def check(paths: Sequence[Path]) -> CheckReport:
    """Check files, agent folders and workspaces; nothing is changed and nothing they name is run.

    Raises:
        NothingToCheck: a path does not exist or holds nothing of ours.
    """
    report = check_targets(find_targets(paths))
    folders = [path for path in map(_absolute, paths) if path.is_dir()]
    if folders:
        from compozy.catalog.checking.together import check_together, place_of  # noqa: PLC0415 - start-up cost

        _join(report, check_together(place for folder in folders if (place := place_of(folder)) is not None))
    return report


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))


def _join(report: CheckReport, found: tuple[Diagnostic, ...]) -> None:
    """Add findings to the report, in the order of the files."""
    order = {path: index for index, path in enumerate(dict.fromkeys(one.path for one in report.diagnostics))}
    joined = sorted((*report.diagnostics, *found), key=lambda one: order.setdefault(one.path, len(order)))
    report.diagnostics = tuple(dict.fromkeys(joined))


def check_targets(targets: Iterable[Target]) -> CheckReport:
    """Check targets one by one."""
    report = CheckReport()
    found: list[Diagnostic] = []
    for target in targets:
        for checked in check_target(target):
            _add(report, found, checked)
    report.diagnostics = tuple(dict.fromkeys(found))
    return report


def _add(report: CheckReport, found: list[Diagnostic], checked: CheckedFile) -> None:
    report.files += 1
    if checked.text is not None:
        report.texts[checked.path] = checked.text
    found += sorted(checked.diagnostics, key=_place)


def _place(one: Diagnostic) -> tuple[int, int]:
    return (one.position.line, one.position.column) if one.position is not None else (0, 0)


def repair(paths: Sequence[Path], *, write: bool = True) -> tuple[RepairedFile, ...]:
    """Repair what has a repair at the given paths; with `write` False only say what would change.

    Raises:
        NothingToCheck: a path does not exist or holds nothing of ours.
        OSError: a file cannot be written; those before it are written, each completely.
    """
    return repair_targets(find_targets(paths), write=write)


def repair_targets(targets: Iterable[Target], *, write: bool) -> tuple[RepairedFile, ...]:
    """Repair the files of targets."""
    done: list[RepairedFile] = []
    for target in targets:
        for checked in check_target(target):
            repaired = _repair_file(checked)
            if repaired is not None:
                if write:
                    _write(repaired)
                done.append(repaired)
    return tuple(done)


def _repair_file(checked: CheckedFile) -> RepairedFile | None:
    if checked.text is None or not any(one.repair for one in checked.diagnostics):
        return None
    from compozy.documents.repairs import repair as repair_text  # noqa: PLC0415 - start-up cost

    outcome = repair_text(checked.text, text_check(Path(checked.path)))
    if outcome.text == checked.text:
        return None
    return RepairedFile(checked.path, checked.text, outcome.text, outcome.titles)


def _write(repaired: RepairedFile) -> None:
    from compozy.catalog.writing import folder_lock  # noqa: PLC0415 - start-up cost
    from compozy.documents.atomic import write_atomically  # noqa: PLC0415 - start-up cost

    path = Path(repaired.path)
    with folder_lock(path.parent):
        if read_text(path) != repaired.before:
            # Somebody saved the file meanwhile: theirs wins, the next run sees it.
            return
        mode = path.stat(follow_symlinks=False).st_mode & 0o777
        write_atomically(path, repaired.after.encode("utf-8"), mode=mode)
