"""Findings as workflow commands, which GitHub shows beside the lines of a pull request."""

from compozy.catalog.checking.run import CheckReport
from compozy.cli.checking.hiding import hide_secrets
from compozy.cli.checking.report import shown_path
from compozy.cli.output import clean
from compozy.model.diagnostic import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: CheckReport) -> str:
    """Return one workflow command a finding."""
    return "".join(command(one) + "\n" for one in report.diagnostics)


def command(one: Diagnostic) -> str:
    """Return the workflow command of one finding; everything in it is escaped, so that no file can add commands."""
    properties = [f"file={_property(clean(shown_path(one.path)))}"]
    if one.position is not None:
        properties += [f"line={one.position.line}", f"col={one.position.column}"]
        if one.position.length:
            properties.append(f"endColumn={one.position.column + one.position.length}")
    properties.append(f"title={_property(one.code)}")
    message = hide_secrets(one.message) + (f"\nfix: {one.repair.title}" if one.repair else "")
    return f"::{_COMMANDS[one.severity]} {','.join(properties)}::{_data(clean(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
