"""What the outputs of the checker share: paths as shown, source lines, the plain JSON form of findings and counts."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from compozy.cli.checking.hiding import hide_secrets
from compozy.model.diagnostic import Diagnostic

if TYPE_CHECKING:
    # At run time this module is also for commands that check other things.
    from compozy.catalog.checking.run import CheckReport


def source_line(report: "CheckReport", path: str, number: int) -> str | None:
    """Return a line of a checked file without its ending, or None when the file was not read."""
    text = report.texts.get(path)
    if text is None:
        return None
    lines = text.split("\n", number)
    return lines[number - 1].removesuffix("\r") if len(lines) >= number else None


def shown_path(path: str, folder: str | None = None) -> str:
    """Return a path relative to the current folder when it lies below it."""
    base = folder or os.getcwd()  # noqa: PTH109 - the text of the folder, as the shell shows it
    return path[len(base) + 1 :] if path.startswith(base.rstrip("/") + "/") else path


def as_json(one: Diagnostic) -> dict[str, object]:
    """Return a diagnostic as JSON data; empty facts are left out."""
    record: dict[str, object] = {
        "code": one.code,
        "severity": one.severity.value,
        "path": str(Path(one.path).absolute()),
        "message": hide_secrets(one.message),
    }
    if one.position is not None:
        record |= {"line": one.position.line, "column": one.position.column, "length": one.position.length}
    for name, value in (("cause", one.cause), ("suggestion", one.suggestion), ("doc", one.doc), ("kind", one.kind)):
        if value:
            record[name] = hide_secrets(value)
    if one.repair is not None:
        record["repair"] = {
            "title": one.repair.title,
            "edits": [{"start": e.start, "end": e.end, "replacement": e.replacement} for e in one.repair.edits],
        }
    return record


def summary(report: "CheckReport") -> dict[str, object]:
    """Return the counts of a run."""
    return {
        "files": report.files,
        "errors": report.errors,
        "warnings": report.warnings,
        "repairable": report.repairable,
        "repaired": len(report.repaired),
    }
