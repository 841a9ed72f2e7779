"""A command's answer in a structured format; where only findings are asked for, it stays unsaid (issue 8 item 4)."""

from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import wants_findings
from compozy.cli.output import write_json


def answer(invocation: Invocation, record: object) -> None:
    """Print a record as JSON, unless the format is one of findings."""
    if not wants_findings(invocation):
        write_json(record)
