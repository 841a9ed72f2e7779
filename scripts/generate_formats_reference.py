"""Writes the generated parts of docs/formats.md: field tables, events and codes, from the tables the readers use.

Run it after changing a field or code: .venv/bin/python scripts/generate_formats_reference.py
"""

import re
import sys
from pathlib import Path

from compozy.documents.codes import CODES
from compozy.documents.fields import (
    AGENT,
    CAPABILITY,
    HOOK,
    MCP_AUTH,
    MCP_JSON_SERVER,
    MCP_SERVER,
    Field,
    Kind,
    Table,
)
from compozy.documents.hook_events import (
    ASYNC_EVENTS,
    SYNC_EVENTS,
    matcher_fields,
    usable_in_agents,
)

TARGET = Path(__file__).resolve().parents[1] / "docs" / "formats.md"
_BLOCK = re.compile(r"(<!-- generated: ([a-z. ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def field_table(*tables: tuple[str, Table]) -> str:
    """A table of fields; nested ones are written with a dot."""
    rows = ["| field | holds | meaning |", "|---|---|---|"]
    for prefix, table in tables:
        for field in table.fields.values():
            rows.append(f"| `{prefix}{field.name}` | {_holds(field)} | {_meaning(field, table)} |")
    return "\n".join(rows) + "\n"


def _holds(field: Field) -> str:
    if field.choices:
        return ", ".join(f"`{choice}`" for choice in field.choices)
    return field.kind.value if field.kind is not Kind.DURATION else "a duration"


def _meaning(field: Field, table: Table) -> str:
    return f"{field.doc} (required)" if field.name in table.required else field.doc


def events() -> str:
    """The events a hook of an agent can wait for, by what their matcher may name."""
    rows = ["| event | sync | matcher fields |", "|---|---|---|"]
    for event in sorted(filter(usable_in_agents, SYNC_EVENTS + ASYNC_EVENTS)):
        names = sorted(matcher_fields(event).intersection(HOOK.fields["matcher"].table.fields) - {"agent_name"})
        shown = ", ".join(f"`{name}`" for name in names) or "–"
        rows.append(f"| `{event}` | {'yes' if event in SYNC_EVENTS else 'no'} | {shown} |")
    return "\n".join(rows) + "\n"


def codes() -> str:
    """Every code with its anchor."""
    rows = ["| code | severity | what it says | why |", "|---|---|---|---|"]
    rows += [
        f'| <a id="code-{code.code}"></a>`{code.code}` | {code.severity.value} | {code.title} | {code.cause} |'
        for code in CODES
    ]
    return "\n".join(rows) + "\n"


def render(text: str) -> str:
    """The page with its generated parts renewed."""
    parts = {
        "agent fields": field_table(("", AGENT), ("skills.", AGENT.fields["skills"].table)),
        "server fields": field_table(("", MCP_SERVER), ("auth.", MCP_AUTH)),
        "hook fields": field_table(("", HOOK), ("executor.", HOOK.fields["executor"].table)),
        "events": events(),
        "mcp.json fields": field_table(("", MCP_JSON_SERVER)),
        "capability fields": field_table(("", CAPABILITY)),
        "codes": codes(),
    }
    return _BLOCK.sub(lambda match: match[1] + parts[match[2]] + match[4], text)


def main() -> int:
    """Rewrite the page."""
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
