"""The seam between sessions and hosted tools: what a session requires, and the one server its agent gets.

Implements the session's side of contract §5.6 and decision D18; who stands behind it is `runtime/tools/hosted.py`.
Sessions know nothing of tools; without a surface every requirement fails and configured servers are handed on.
"""

from dataclasses import dataclass
from typing import Protocol

from compozy.config.config import Config
from compozy.model.errors import Unprocessable
from compozy.model.provider import Provider
from compozy.model.tool import ToolAccess
from compozy.runtime.sessions.spawning.limits import EVERY_TOOL
from compozy.store.interface import SessionRecord


@dataclass(frozen=True, kw_only=True)
class HostedLaunch:
    """The server for `session/new`, and what the transcript should say about the surface.

    `covers_servers` says that configured servers are reached through it; else they are handed on beside it.
    """

    server: dict[str, object]
    covers_servers: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolReach:
    """What a session's toolsets come to, and which tools exist for it (None: nobody knows)."""

    members: frozenset[str] = frozenset()
    known: frozenset[str] | None = None


class ToolSurface(Protocol):
    """Hosted tools as sessions see them."""

    async def reach(self, record: SessionRecord) -> ToolReach:
        """Return what the session's toolsets come to, and which tools exist for it."""
        ...

    async def require(self, record: SessionRecord, provider: Provider, config: Config) -> None:
        """Refuse a session whose required tools cannot be projected, as far as that is known now.

        Raises:
            Unprocessable: naming what is missing.
        """
        ...

    async def launch(
        self, record: SessionRecord, provider: Provider, config: Config, marker: str
    ) -> HostedLaunch | None:
        """Return the server for the agent that starts under `marker`; None when hosted MCP is off for it.

        Raises:
            Unprocessable: required tools cannot be projected.
        """
        ...

    def arm(self, marker: str, pid: int) -> None:
        """The agent answered `initialize`: it may bind from now on, for a short while."""
        ...

    def forget(self, marker: str) -> None:
        """The agent of that launch has ended."""
        ...


class NoSurface:
    """No hosted tools at all."""

    async def reach(self, record: SessionRecord) -> ToolReach:
        return ToolReach()

    async def require(self, record: SessionRecord, provider: Provider, config: Config) -> None:
        required = required_of(record)
        if required:
            raise unavailable(record, provider, required, "this daemon hosts no tools")

    async def launch(
        self, record: SessionRecord, provider: Provider, config: Config, marker: str
    ) -> HostedLaunch | None:
        await self.require(record, provider, config)
        return None

    def arm(self, marker: str, pid: int) -> None:
        """Do nothing."""

    def forget(self, marker: str) -> None:
        """Do nothing."""


def required_of(record: SessionRecord) -> tuple[str, ...]:
    """Return what the session cannot do without: its agent's tools and toolsets, and a child's given tools."""
    access: ToolAccess = record.tool_access
    session = record.session
    given: tuple[str, ...] = ()
    if session.type in ("spawned", "coordinator") and session.lineage is not None:
        # What a parent may altogether is a limit, not a wish.
        given = tuple(tool for tool in session.lineage.permission_policy.tools if tool != EVERY_TOOL)
    return tuple(dict.fromkeys((*access.tools, *access.toolsets, *given)))


def unavailable(
    record: SessionRecord, provider: Provider, required: tuple[str, ...] | list[str], why: str
) -> Unprocessable:
    """Return the error of a session whose tools cannot be projected (contract §5.6, decision D18)."""
    return Unprocessable(
        f"session: required hosted MCP is unavailable: agent {record.session.agent_name!r} asks for "
        f"{', '.join(required)}, and {why}",
        code="hosted_mcp_unavailable",
        category="tools",
        evidence={"required": list(required), "provider": provider.id},
        diagnostic=True,
    )
