"""Findings for a person: place, sentence, the source line with a caret below it, and what to do (issue 3 item 4).

Source text is cleaned of control characters before it is shown, so that a file cannot drive the terminal.
"""

import unicodedata

from compozy.catalog.checking.run import CheckReport
from compozy.cli.checking.hiding import hide_secrets
from compozy.cli.checking.report import shown_path, source_line
from compozy.cli.output import clean
from compozy.model.diagnostic import Diagnostic, Severity

# Longer lines are cut around the caret: a prompt on one line must not fill the screen.
_MAX_WIDTH = 110
_TAB = "    "
_COLOURS = {Severity.ERROR: "31;1", Severity.WARNING: "33;1", Severity.INFO: "36;1"}


class Painter:
    """Colours words when asked to, and leaves them alone otherwise."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text


def render(report: CheckReport, *, colour: bool, strict: bool) -> str:
    """Return all findings and the summary line."""
    painter = Painter(colour)
    blocks = [block(one, report, painter) for one in report.diagnostics]
    return "".join(f"{one}\n" for one in blocks) + summary_line(report, painter, strict=strict) + "\n"


def block(one: Diagnostic, report: CheckReport, painter: Painter) -> str:
    """Return one finding as lines."""
    place = line_of(shown_path(one.path))
    if one.position is not None:
        place += f":{one.position.line}:{one.position.column}"
    word = painter.paint(one.severity.value, _COLOURS[one.severity])
    lines = [f"{painter.paint(place, '1')}: {word}: {_flat(one.message)} [{one.code}]"]
    lines += _source(one, report, painter)
    if one.cause:
        lines.append(f"      {painter.paint('why', '36')}: {_flat(one.cause)}")
    if one.repair is not None:
        lines.append(f"      {painter.paint('fix', '36')}: {_flat(one.repair.title)}")
        lines += _repaired_line(one, report, painter)
    return "\n".join(lines) + "\n"


def line_of(text: str) -> str:
    """Return text as it may stand within one line: what is not printable becomes a dot, blanks stay."""
    return _printable(text.replace("\n", "·"))


def _flat(text: str) -> str:
    return " ".join(clean(hide_secrets(text)).split())


def _source(one: Diagnostic, report: CheckReport, painter: Painter) -> list[str]:
    if one.position is None:
        return []
    line = source_line(report, one.path, one.position.line)
    if line is None:
        return []
    line = hide_secrets(line)
    start, end = one.position.column - 1, one.position.column - 1 + max(one.position.length, 1)
    before, marked, after = _printable(line[:start]), _printable(line[start:end]), _printable(line[end:])
    if width(before) > _MAX_WIDTH - 30:
        before = "…" + before[-(_MAX_WIDTH - 50) :]
    marked = marked[: _MAX_WIDTH - 20]
    after = after[: max(0, _MAX_WIDTH - width(before) - width(marked))]
    number = f"{one.position.line:>5}"
    caret = "^" * max(1, width(marked))
    return [
        f"{number} | {before}{marked}{after}".rstrip(),
        f"      | {' ' * width(before)}{painter.paint(caret, _COLOURS[one.severity])}",
    ]


def _repaired_line(one: Diagnostic, report: CheckReport, painter: Painter) -> list[str]:
    """Show the line as the repair writes it, when the repair stays within one line."""
    text = report.texts.get(one.path)
    if text is None or one.repair is None or not one.repair.edits:
        return []
    first = min(edit.start for edit in one.repair.edits)
    start = text.rfind("\n", 0, first) + 1
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    line = text[start:end]
    for edit in sorted(one.repair.edits, key=lambda each: each.start, reverse=True):
        if edit.end > end or "\n" in edit.replacement:
            return []
        line = line[: edit.start - start] + edit.replacement + line[edit.end - start :]
    number = text.count("\n", 0, start) + 1
    shown = _printable(hide_secrets(line.removesuffix("\r")))
    if not shown.strip() or len(shown) > _MAX_WIDTH:
        return []
    return [f"{number:>5} {painter.paint('+', '32')} {shown}"]


def _printable(text: str) -> str:
    return "".join(_TAB if char == "\t" else char if char.isprintable() else "·" for char in text)


def width(text: str) -> int:
    """Return how many columns a terminal uses for a text: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


def summary_line(report: CheckReport, painter: Painter, *, strict: bool) -> str:
    """Return the line that ends every run."""
    parts = [f"checked {_count(report.files, 'file')}:"]
    if not report.diagnostics:
        parts.append(painter.paint("no problems", "32;1"))
    else:
        counts = [_count(report.errors, "error"), _count(report.warnings, "warning")]
        notes = report.count(Severity.INFO)
        parts.append(", ".join(counts + ([_count(notes, "note")] if notes else [])))
    if report.repaired:
        parts.append(f"({_count(len(report.repaired), 'repair')} made)")
    if report.repairable:
        parts.append(f"({report.repairable} can be repaired: run again with --fix, or --diff to look first)")
    if strict and report.warnings and not report.errors:
        parts.append("(warnings fail because of --strict)")
    return " ".join(parts)
