"""A configured MCP server that nobody uses any more is ended, and started again when somebody does."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import anyio
import pytest

from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model.definition import McpServer
from compozy.runtime.mcp.bounds import McpBounds
from compozy.runtime.mcp.journal import ProcessJournal
from compozy.runtime.mcp.oauth.kept import KeptLogins
from compozy.runtime.mcp.server import Backing
from compozy.runtime.mcp.source import McpSource
from compozy.runtime.mcp.wanted import WantedServer, wanted
from compozy.tools.source import ToolScope

pytestmark = pytest.mark.anyio
SCRIPTED = Path(__file__).resolve().parents[2] / "kit" / "mcp_stdio.py"
IDLE = 0.5
SESSION, PLACE = ToolScope(session_id="sess-1", workspace_id="ws_1"), ToolScope(workspace_id="ws_1")


class Given:
    """Gives every scope the same server; sessions keep it until they end."""

    def __init__(self, folder: Path) -> None:
        env = {"START_LOG": str(folder / "starts")}
        server = McpServer(name="tracker", command=sys.executable, args=(str(SCRIPTED), "good"), env=env)
        self._one = (wanted(server, "ws_1", str(folder), str(folder / "mcp.json")),)
        self.by_session: Mapping[str, tuple[WantedServer, ...]] = {}

    async def of(self, scope: ToolScope) -> tuple[WantedServer, ...]:
        if scope.session_id:
            self.by_session = {**self.by_session, scope.session_id: self._one}
        return self._one

    def forget(self, session_id: str) -> None:
        self.by_session = {known: one for known, one in self.by_session.items() if known != session_id}


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[McpSource]:
    home, redactor = Home(tmp_path / "home"), Redactor()
    home.create()
    backing = Backing(
        secrets=Secrets(home, redactor),
        redactor=redactor,
        journal=ProcessJournal(home.root),
        logins=KeptLogins(home, redactor),
        bounds=McpBounds(idle=IDLE, look=0.05),
    )
    made = McpSource(Given(tmp_path), backing)  # type: ignore[arg-type]  # asked for three things, which it has
    yield made
    await made.close()


async def ended(source: McpSource, pid: int) -> None:
    with anyio.fail_after(30):
        while source.status().servers or Path(f"/proc/{pid}").exists():
            await anyio.sleep(0.02)


async def started(source: McpSource, scope: ToolScope) -> int:
    listing = await source.list(scope, settle=True)
    assert [entry.descriptor.tool_id for entry in listing.entries] == ["mcp__tracker__echo"]
    (row,) = source.status().servers
    os.kill(row.pid, 0)
    return row.pid


async def test_a_server_that_an_operator_looked_at_is_ended_when_nobody_uses_it(source: McpSource) -> None:
    heard: list[bool] = []
    source.watch(lambda: heard.append(not source.status().servers))
    pid = await started(source, PLACE)
    await ended(source, pid)
    assert heard[-1], "whoever shows its tools is told that they have gone"
    assert await started(source, PLACE) != pid


async def test_a_server_of_a_running_session_stays_until_the_session_has_ended(source: McpSource) -> None:
    pid = await started(source, SESSION)
    # Long enough for many looks.
    await anyio.sleep(IDLE * 3)
    assert [row.pid for row in source.status().servers] == [pid]
    source.session_ended("sess-1")
    await ended(source, pid)
