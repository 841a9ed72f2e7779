"""A report in the formats for programs: SARIF, annotations of pull requests, lines of JSON, TOON.

Whoever prints a report adds what is its own: the JSON object and what people see.
"""

from compozy.catalog.checking.run import CheckReport
from compozy.cli.checking.report import as_json, summary
from compozy.cli.output import write, write_json, write_json_line

_COLUMNS = ("path", "line", "column", "severity", "code", "message")


def write_for_programs(chosen: str, report: CheckReport, *, tool: str = "") -> bool:
    """Print a report if `chosen` is one of these formats; `tool` names who found it. Return whether it was."""
    if chosen == "sarif":
        from compozy.cli.checking.sarif import document  # noqa: PLC0415 - start-up cost

        write_json(document(report, tool=tool) if tool else document(report))
    elif chosen == "github":
        from compozy.cli.checking.github import render  # noqa: PLC0415 - start-up cost

        write(render(report))
    elif chosen == "jsonl":
        for one in report.diagnostics:
            write_json_line({"type": "diagnostic", **as_json(one)})
        write_json_line({"type": "summary", **summary(report)})
    elif chosen == "toon":
        from compozy.cli import toon  # noqa: PLC0415 - start-up cost

        write(toon.render_rows("diagnostics", [as_json(one) for one in report.diagnostics], list(_COLUMNS)))
    else:
        return False
    return True
