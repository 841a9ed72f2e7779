"""Asking a person to trust what a workspace brings, with everything that would run in view (decisions D15).

Only a terminal is asked. Everywhere else the refusal stands, and its `try:` line is the command that grants it.
"""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import click

from compozy.cli.connection import text_of
from compozy.cli.invocation import Invocation
from compozy.cli.output import clean, one_line
from compozy.model.errors import LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.trust import TrustReport

T = TypeVar("T")
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


def with_trust(client: "Client", invocation: Invocation, create: Callable[[], T]) -> T:
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
        ask_and_grant(
            client, client.trust.show(workspace, agent), f"Agent {agent!r} uses what this workspace brings:"
        )
    return create()


def ask_and_grant(client: "Client", report: "TrustReport", title: str) -> "TrustReport":
    """Show a report, ask, and grant exactly what was shown.

    Raises:
        LocalError: the answer was no.
    """
    sys.stderr.write(clean(f"{title}\n{items_text(report)}"))
    sys.stderr.flush()
    if not click.confirm("Trust these files as they are now?", default=False, err=True):
        raise LocalError("not trusted; nothing was started", code=TRUST_REQUIRED)
    return client.trust.grant(report.root_dir, report.digest, report.agent)


def items_text(report: "TrustReport") -> str:
    """Return the items that are not trusted yet, each with what would run and where that stands."""
    lines: list[str] = []
    for item in report.items:
        if item.trusted:
            continue
        lines.append(f"  {_KINDS.get(item.kind, item.kind)} {one_line(item.name)}: {one_line(item.runs)}")
        lines += [f"    receives {one_line(reference)}" for reference in item.references]
        lines.append(f"    from {item.path} (sha256 {item.digest[:12]})")
    return "\n".join(lines) + "\n"
