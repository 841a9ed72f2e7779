"""A home with MCP servers for everybody, its daemon, and an agent that calls the daemon's tools."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.kit.daemons import wait_until
from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World

SCRIPTED = Path(__file__).resolve().parents[2] / "kit" / "mcp_stdio.py"
CONFIG = """
[permissions]
mode = "approve-all"
"""


class Stage:
    """`kinds` names scripted servers; `servers` gives whole definitions."""

    def __init__(
        self,
        folder: Path,
        kinds: Mapping[str, str],
        servers: Mapping[str, object] | None = None,
        *,
        config: str = CONFIG,
        http: bool = False,
    ) -> None:
        self.world = World(folder, config=config, http=http)
        self.starts = folder / "starts"
        self.define({name: self.scripted(kind) for name, kind in kinds.items()} | dict(servers or {}))
        self.world.start()
        self._agents = 0

    def scripted(self, kind: str, **more: object) -> dict[str, object]:
        env = {"START_LOG": str(self.starts)}
        return {"command": sys.executable, "args": [str(SCRIPTED), kind], "env": env, **more}

    def define(self, servers: Mapping[str, object]) -> None:
        self.world.daemon.home.mcp_file.write_text(json.dumps({"mcpServers": servers}))

    def agent(self, **fields: str) -> ToolAgent:
        self._agents += 1
        return ToolAgent(self.world, f"tooled{self._agents}", **fields)

    @property
    def pids(self) -> list[int]:
        """The processes of all starts so far."""
        return [int(line) for line in self.starts.read_text().split()] if self.starts.exists() else []

    def status(self, name: str) -> dict[str, Any]:
        rows = self.world.client.request("GET", "/api/mcp/status").json()["mcp"]["servers"]
        found = [row for row in rows if row["name"] == name]
        return found[0] if found else {}

    def wait_state(self, name: str, *states: str) -> dict[str, Any]:
        wait_until(lambda: self.status(name).get("state") in states, f"{name} is {states}")
        return self.status(name)

    def invoke(self, tool: str, arguments: Mapping[str, object] | None = None, **body: object) -> dict[str, Any]:
        """Call a tool as a person, in the workspace."""
        workspace = self.world.client.request(
            "POST", "/api/workspaces/resolve", body={"path": str(self.world.workspace)}
        ).json()["workspace"]["id"]
        asked = {"workspace_id": workspace, "input": dict(arguments or {}), **body}
        found: dict[str, Any] = self.world.client.request("POST", f"/api/tools/{tool}/invoke", body=asked).json()
        return found

    def end(self) -> None:
        self.world.end()


def said(result: Mapping[str, Any]) -> str:
    """Return the text of a result."""
    return "\n".join(block.get("text", "") for block in result["content"])
