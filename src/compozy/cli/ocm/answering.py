"""A command's answer in a structured format; where only findings are asked for, it stays unsaid (issue 8 item 4)."""

from collections.abc import Mapping

import click
import msgspec

from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import wants_findings
from compozy.cli.output import write, write_json, write_json_line


def answer(invocation: Invocation, record: object) -> None:
    """Print a record or a list of them, unless the format is one of findings: JSON, a line each, or toon."""
    if wants_findings(invocation):
        return
    told = spelled_out(record)
    if invocation.format == "jsonl":
        for one in told if isinstance(told, list) else [told]:
            write_json_line(one)
    elif invocation.format == "toon":
        write(_toon(told))
    else:
        write_json(told)


def spelled_out(value: object) -> object:
    """Return records as plain data with every default: a program should not have to know them."""
    if isinstance(value, msgspec.Struct):
        return {field: spelled_out(getattr(value, field)) for field in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(key): spelled_out(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [spelled_out(one) for one in value]
    return value


def _toon(told: object) -> str:
    from compozy.cli import toon  # noqa: PLC0415 - start-up cost

    name = str(click.get_current_context().info_name)
    if isinstance(told, Mapping):
        return toon.render_object(name, told)
    rows = [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
    return toon.render_rows(name, rows, dict.fromkeys(str(field) for row in rows for field in row))
