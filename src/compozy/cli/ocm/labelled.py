"""Reading tasks with the capability each belongs to: lines of {"task": …, "id": …} (issue 8 items 6, 7)."""

import json
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

from compozy.cli.wording import reason_of
from compozy.documents.files import read_lines
from compozy.model.errors import LocalError
from compozy.ocm.selection.labelled import Example

_SHOWN = 120


def read_labelled(path: Path, known: Collection[str]) -> list[Example]:
    """Return the tasks of a file, in its order; empty lines count for nothing.

    Raises:
        LocalError: it cannot be read, a line is no labelled task, or an id is not among the known ones.
    """
    try:
        lines = read_lines(path)
    except (OSError, UnicodeDecodeError) as error:
        raise LocalError(
            f"could not read {str(path)!r}: {reason_of(error)}; give a UTF-8 file", code="tasks_unreadable"
        ) from error
    found = [_read(line, f"{path}:{number}", known) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise LocalError(
            f"{str(path)!r} holds no task; write one JSON object with task and id a line", code="tasks_empty"
        )
    return found


def _read(line: str, place: str, known: Collection[str]) -> Example:
    try:
        row = json.loads(line)
        task, one = row["task"], row["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        task = one = None
    if not isinstance(task, str) or not isinstance(one, str) or not _is_text(task):
        raise LocalError(
            f'{place}: {line[:60]!r} is no labelled task; write {{"task": "…", "id": "…"}}', code="tasks_invalid"
        )
    if one not in known:
        near = get_close_matches(one[:_SHOWN], known, 1)
        advice = f"did you mean {near[0]!r}?" if near else "correct its id"
        raise LocalError(f"{place}: {one[:_SHOWN]!r} is not in the catalogue; {advice}", code="id_unknown")
    return Example(task, one)


def _is_text(task: str) -> bool:
    """Whether it can be written to a file: half a character can not."""
    try:
        task.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
