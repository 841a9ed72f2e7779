"""`compozy schema`: JSON Schemas of the authored files for editors (issue 3 item 6)."""

import click

from compozy.cli.groups import command as make_command
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import write, write_json, write_json_line


@make_command(
    "schema",
    examples=(
        "compozy schema agent",
        "compozy schema mcp > .compozy/schemas/mcp.json",
    ),
)
@click.argument("name", required=False, default="")
@pass_invocation
def command(invocation: Invocation, name: str) -> None:
    """Print the JSON Schema (2020-12) of a kind of file; without NAME, list the names."""
    from compozy.config.schema import all_schemas, schema_of  # noqa: PLC0415 - start-up cost
    from compozy.model.errors import EXIT_USAGE, InvalidRequest, LocalError  # noqa: PLC0415 - start-up cost
    from compozy.ocm.schema import TITLE, manifest_schema  # noqa: PLC0415 - start-up cost

    if name == "ocm":
        _write(invocation, manifest_schema())
        return
    if name:
        try:
            _write(invocation, schema_of(name, ("ocm",)))
        except InvalidRequest as error:
            raise LocalError(error.message, exit_code=EXIT_USAGE, hint="compozy schema") from error
        return
    names = {**all_schemas(), "ocm": TITLE}
    if invocation.is_human:
        width = max(map(len, names))
        for key, title in names.items():
            write(f"{key.ljust(width)}  {title}\n")
    else:
        write_json([{"name": key, "title": title} for key, title in names.items()])


def _write(invocation: Invocation, schema: object) -> None:
    (write_json_line if invocation.format == "jsonl" else write_json)(schema)
