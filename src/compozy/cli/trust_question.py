"""Asking a person to trust what a workspace brings, with everything that would run in view (decisions D15).

Only a terminal is asked. Everywhere else the refusal stands, and its `try:` line is the command that grants it.
"""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from compozy.cli.connection import JsonObject, fetch, objects, text_of
from compozy.cli.invocation import Invocation
from compozy.cli.output import clean, one_line
from compozy.model.errors import LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client

TRUST_REQUIRED = "trust_required"
_KINDS = {
    "agent_command": "agent program",
    "mcp_server": "MCP server",
    "hook": "hook",
    "skill_mcp_server": "MCP server of a skill",
    "skill_hook": "hook of a skill",
    "provider": "provider setting",
    "config": "setting",
    "permissions": "permissions",
    "program": "file that is run",
}


def kind_of(item: Mapping[str, object]) -> str:
    """Return what an item is, in words."""
    kind = text_of(item, "kind")
    return _KINDS.get(kind, kind)


def with_trust(client: "Client", invocation: Invocation, create: Callable[[], JsonObject]) -> JsonObject:
    """Do what needs trust; when it is refused for that and a person is there, ask and try once more.

    Raises:
        ApiError: refused, and nobody could be asked or the answer was no.
    """
    from compozy.client import ApiError  # noqa: PLC0415 - start-up cost

    try:
        return create()
    except ApiError as error:
        if error.code != TRUST_REQUIRED or not invocation.can_ask:
            raise
        found = error.facts.get("evidence")
        evidence: Mapping[str, object] = found if isinstance(found, Mapping) else {}
        workspace, agent = text_of(evidence, "workspace"), text_of(evidence, "agent")
        report = fetch(client, "GET", "/api/trust", query={"workspace": workspace, "agent": agent})
        ask_and_grant(client, report, f"Agent {agent!r} uses what this workspace brings:")
    return create()


def ask_and_grant(client: "Client", answer: JsonObject, title: str) -> JsonObject:
    """Show a report, ask, and grant exactly what was shown.

    Raises:
        LocalError: the answer was no.
    """
    report = answer.get("trust")
    facts: Mapping[str, object] = report if isinstance(report, Mapping) else {}
    sys.stderr.write(clean(f"{title}\n{items_text(facts)}"))
    sys.stderr.flush()
    if not click.confirm("Trust these files as they are now?", default=False, err=True):
        raise LocalError("not trusted; nothing was started", code=TRUST_REQUIRED)
    body = {"workspace": text_of(facts, "root_dir"), "agent": text_of(facts, "agent"), "digest": facts.get("digest")}
    return fetch(client, "POST", "/api/trust", body=body)


def items_text(report: Mapping[str, object]) -> str:
    """Return the items that are not trusted yet, each with what would run and where that stands."""
    lines: list[str] = []
    for item in objects(report.get("items")):
        if item.get("trusted"):
            continue
        lines.append(f"  {kind_of(item)} {one_line(text_of(item, 'name'))}: {one_line(text_of(item, 'runs'))}")
        references = item.get("references")
        for reference in references if isinstance(references, list) else []:
            lines.append(f"    receives {one_line(str(reference))}")
        lines.append(f"    from {text_of(item, 'path')} (sha256 {text_of(item, 'digest')[:12]})")
    return "\n".join(lines) + "\n"
