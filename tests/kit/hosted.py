"""Drive hosted tools in tests: a scripted agent whose prompts call tools over MCP; answers come back as files."""

import json
from pathlib import Path
from typing import Any

from tests.kit.daemons import wait_until
from tests.kit.sessions import World


class ToolAgent:
    """An agent of a world with one session; `ask` lets it speak to its MCP server."""

    def __init__(self, world: World, name: str = "tooled", **fields: str) -> None:
        self.world = world
        self.record = world.folder / f"{name}.record"
        self._answers = world.folder / f"{name}.answers"
        self._answers.mkdir()
        self._count = 0
        world.agent(name, {"record": str(self.record)}, **fields)
        self.session = world.create(name)

    def ask(self, method: str, params: dict[str, object] | None = None) -> dict[str, Any]:
        """Let the agent make one MCP request in a turn; return the answer."""
        path = self.start(method, params)
        self.world.prompt(self.session, self._text)
        answer: dict[str, Any] = json.loads(path.read_text())
        return answer

    def start(self, method: str, params: dict[str, object] | None = None) -> Path:
        """Prepare the prompt of `ask` and return the file its answer will be in."""
        self._count += 1
        path = self._answers / f"{self._count}.json"
        steps = [{"mcp": method, "params": params or {}}, {"touch": str(path), "content": "{last}"}]
        self._text = "!steps " + json.dumps(steps)
        return path

    @property
    def text(self) -> str:
        """The prompt that was prepared."""
        return self._text

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; return the result, or the error."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result: dict[str, Any] = answer.get("result", answer)
        return result

    def structured(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that must succeed; return its structured content."""
        result = self.call(tool, **arguments)
        assert not result.get("isError") and "structuredContent" in result, result
        found: dict[str, Any] = result["structuredContent"]
        return found

    def tools(self) -> list[str]:
        """Return the names of the tools the agent sees."""
        return [str(name) for name in self.ask("list_ids")]

    def run(self, steps: list[dict[str, object]]) -> None:
        """Let the agent do other steps."""
        self.world.prompt(self.session, "!steps " + json.dumps(steps))

    def given_servers(self) -> list[dict[str, Any]]:
        """Return what the last session/new gave the agent."""
        wait_until(self.record.exists, "the agent started")
        messages = [json.loads(line) for line in self.record.read_text().splitlines()]
        opened = [m["params"] for m in messages if m.get("method") in ("session/new", "session/load")]
        servers: list[dict[str, Any]] = opened[-1]["mcpServers"]
        return servers
