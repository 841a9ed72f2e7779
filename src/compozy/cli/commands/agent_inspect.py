"""`compozy agent inspect`: what a definition on disk says, without a daemon (issue 3 item 5)."""

from pathlib import Path

import click

from compozy.catalog.checking.inspection import Inspection, inspect
from compozy.catalog.checking.run import CheckReport
from compozy.catalog.checking.targets import NothingToCheck
from compozy.cli.checking.report import as_json, shown_path
from compozy.cli.groups import command as make_command
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import clean, write, write_json, write_json_line

# Long prompts are cut in the human form; json has the whole text.
_SHOWN_PROMPT_LINES = 8


@make_command(
    "inspect",
    examples=(
        "compozy agent inspect .compozy/agents/reviewer",
        "compozy agent inspect .compozy/agents/reviewer/mcp.json -o json",
    ),
)
@click.argument("path", type=click.Path(path_type=Path))
@pass_invocation
def command(invocation: Invocation, path: Path) -> int:
    """Show what the definition at PATH says: values, capabilities, servers, digests, and where each was written.

    PATH is an agent folder, an AGENT.md, a capability file or folder, or an mcp.json. Exit code 1 when it does not
    load; the findings are shown instead.
    """
    try:
        found = inspect(path)
    except NothingToCheck as error:
        raise click.UsageError(error.message) from error
    if invocation.is_human:
        _show(invocation, found)
    else:
        record = {
            "kind": found.kind,
            "path": found.path,
            "value": found.value,
            "diagnostics": [as_json(one) for one in found.diagnostics],
        }
        (write_json_line if invocation.format == "jsonl" else write_json)(record)
    return 0 if found.value is not None else 1


def _show(invocation: Invocation, found: Inspection) -> None:
    from compozy.cli.checking.human import render  # noqa: PLC0415 - start-up cost

    if found.value is not None:
        origins = found.value.get("origins")
        for name, value in found.value.items():
            if name not in ("origins", "path"):
                _show_field(name, value, origins if isinstance(origins, dict) else {})
    if found.diagnostics:
        report = CheckReport(files=1, diagnostics=found.diagnostics, texts=found.texts)
        write(("\n" if found.value is not None else "") + render(report, colour=invocation.has_colour, strict=False))


def _show_field(name: str, value: object, origins: dict[str, object]) -> None:
    origin = origins.get(name)
    place = f"   ({clean(shown_path(str(origin)))})" if origin else ""
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        write(f"{name}:{place}\n")
        for item in value:
            _show_record(item)
    elif name == "prompt":
        lines = clean(str(value)).split("\n")
        write(f"{name}:{place}\n")
        write("".join(f"  | {line}\n" for line in lines[:_SHOWN_PROMPT_LINES]))
        if len(lines) > _SHOWN_PROMPT_LINES:
            write(f"  | … {len(lines) - _SHOWN_PROMPT_LINES} more lines\n")
    elif value not in ([], {}, ""):
        write(f"{name}: {_flat(value)}{place}\n")


def _show_record(item: object) -> None:
    pairs = item.items() if isinstance(item, dict) else ()
    for index, (key, value) in enumerate(pairs):
        write(f"  {'- ' if index == 0 else '  '}{key}: {_flat(shown_path(value) if key == 'source' else value)}\n")


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return clean(", ".join(f"{key}={_flat(item)}" for key, item in value.items()))
    if isinstance(value, list):
        return clean(", ".join(_flat(item) for item in value))
    return " ".join(clean(str(value)).split())
