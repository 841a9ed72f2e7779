"""Published MCP servers through a real daemon: one from npm, one from PyPI, each in an environment of its own.

`scripts/install_agents.py` installs them; one that cannot be had is skipped by name.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.real_agents import installed
from tests.kit.daemons import wait_until
from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World

pytestmark = pytest.mark.e2e
CONFIG = '[permissions]\nmode = "approve-all"\n'


def argv_of(name: str) -> tuple[str, ...]:
    record = installed(name)
    if not record.argv:
        pytest.skip(f"{name} {record.version}: {record.reason}".replace(" :", ":"))
    return record.argv


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, config=CONFIG)
    yield made
    made.end()


def start(world: World, name: str, argv: tuple[str, ...]) -> ToolAgent:
    servers = {name: {"command": argv[0], "args": list(argv[1:])}}
    world.daemon.home.mcp_file.write_text(json.dumps({"mcpServers": servers}))
    world.start()
    return ToolAgent(world)


def text_of(result: dict[str, Any]) -> str:
    assert not result.get("isError"), result
    return "\n".join(block.get("text", "") for block in result["content"])


def offered(agent: ToolAgent, tool: str) -> None:
    # Node may take longer than a list waits; then the tools come with a change.
    wait_until(lambda: tool in agent.tools(), f"{tool} is offered")


def test_the_filesystem_server_of_npm_reads_a_file_of_the_workspace(world: World) -> None:
    argv = (*argv_of("mcp-filesystem"), str(world.workspace))
    (world.workspace / "hello.txt").write_text("hello from the workspace\n")
    agent = start(world, "files", argv)
    offered(agent, "mcp__files__read_text_file")
    result = agent.call("mcp__files__read_text_file", path=str(world.workspace / "hello.txt"))
    assert "hello from the workspace" in text_of(result)
    outside = agent.call("mcp__files__read_text_file", path=str(world.daemon.home.config_file))
    assert outside["isError"]


def test_the_time_server_of_pypi_converts_a_time(world: World) -> None:
    agent = start(world, "clock", argv_of("mcp-time"))
    offered(agent, "mcp__clock__convert_time")
    result = agent.call("mcp__clock__convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
    assert "21:00" in text_of(result)
    wrong = agent.call("mcp__clock__convert_time", source_timezone="UTC")
    assert wrong["isError"] and "is a required property" in wrong["content"][0]["text"]
