"""`compozy mcp serve` and `/mcp`: the official SDK's client uses the fleet over both transports (issue 7; D16)."""

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from compozy.client.errors import ApiError
from compozy.runtime.tools.outside import CHANGING, READING
from tests.kit.daemons import clean_environment, wait_until
from tests.kit.sessions import World

pytestmark = pytest.mark.anyio
PAGE = Path(__file__).resolve().parents[3] / "docs" / "mcp-serve.md"
TRANSPORTS = ("stdio", "http")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world whose daemon listens on TCP too, with an agent that declares a capability."""
    made = World(tmp_path_factory.mktemp("served"), http=True).start()
    made.agent("builder")
    folder = made.daemon.home.agents / "builder"
    record = {"id": "build-site", "summary": "Build the landing page.", "outcome": "A finished landing page."}
    (folder / "capabilities.json").write_text(json.dumps({"capabilities": [record]}))
    made.create("builder")
    yield made
    made.end()


def _command(world: World, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "compozy", "mcp", "serve", *options],
        env=clean_environment(world.daemon.home),
    )


def _address(world: World) -> str:
    assert world.daemon.record is not None
    return f"http://{world.daemon.record.host}:{world.daemon.record.port}/mcp"


@asynccontextmanager
async def _client(world: World, transport: str, *options: str, mode: str = "auto") -> AsyncIterator[Client]:
    server = stdio_client(_command(world, *options)) if transport == "stdio" else _address(world)
    async with Client(server, mode=mode) as client:
        yield client


async def _call(client: Client, name: str, /, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(f"compozy__{name}", arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_client_outside_finds_an_agent_gives_it_work_and_reads_the_answer(
    served: World, transport: str, mode: str
) -> None:
    place = str(served.workspace)
    async with _client(served, transport, mode=mode) as client:
        assert client.server_info is not None and client.server_info.name == "compozy"
        agents = (await _call(client, "agent_list", workspace=place))["agents"]
        assert "builder" in [agent["name"] for agent in agents]
        (capability,) = (await _call(client, "agent_info", name="builder", workspace=place))["agent"]["capabilities"]
        assert capability["id"] == "build-site" and capability["digest"].startswith("sha256:")
        chosen = await _call(client, "agent_select", task="build a landing page", workspace=place)
        assert chosen["agent"] == "builder"
        session = (await _call(client, "session_create", agent="builder", workspace=place))["session"]
        assert session["workspace_path"] == place
        await _call(client, "session_prompt", session_id=session["id"], message="build it")
        await _call(client, "session_wait", session_id=session["id"], timeout_seconds=60)
        status = await _call(client, "session_status", session_id=session["id"])
        assert status["state"] == "active"
        said = json.dumps(await _call(client, "session_history", session_id=session["id"]))
        assert "build it" in said
        events = (await _call(client, "session_events", session_id=session["id"]))["events"]
        assert {"user_message", "done"} <= {event["type"] for event in events}
        await _call(client, "session_stop", session_id=session["id"])
        assert (await _call(client, "session_status", session_id=session["id"]))["state"] == "stopped"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_exactly_what_is_stated_is_offered_and_nothing_that_only_people_decide(
    served: World, transport: str
) -> None:
    async with _client(served, transport) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {*READING, *CHANGING}
        for name in ("compozy__session_approve", "compozy__agent_create", "compozy__invented"):
            refused = await client.call_tool(name, {})
            assert refused.is_error and "not offered here" in refused.content[0].text
        unknown = await client.call_tool("compozy__session_status", {"session_id": "sess-0000000000000000"})
        assert unknown.is_error and "sess-0000000000000000" in unknown.content[0].text


async def test_read_only_offers_what_changes_nothing_and_a_workspace_is_the_place_to_look(served: World) -> None:
    async with _client(served, "stdio", "--read-only", "--workspace", str(served.workspace)) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == set(READING)
        assert all(tool.annotations.read_only_hint for tool in tools)
        found = (await _call(client, "workspace_info"))["workspace"]
        assert found["root_dir"] == str(served.workspace)


async def test_a_workspace_that_goes_away_under_a_client_is_told_in_the_answer_of_the_next_call(
    served: World, tmp_path: Path
) -> None:
    made = served.client.request("POST", "/api/workspaces", body={"root_dir": str(tmp_path)}).json()
    async with _client(served, "stdio", "--workspace", str(tmp_path)) as client:
        assert (await _call(client, "workspace_info"))["workspace"]["root_dir"] == str(tmp_path)
        served.client.request("DELETE", f"/api/workspaces/{made['workspace']['id']}")
        refused = await client.call_tool("compozy__workspace_info", {})
        assert refused.is_error and "is not registered" in refused.content[0].text


def test_an_unknown_workspace_is_a_stated_error(served: World) -> None:
    command = _command(served, "--workspace", "nowhere")
    done = subprocess.run(
        [command.command, *command.args], input=b"", capture_output=True, env=command.env, timeout=60, check=False
    )
    assert done.returncode != 0 and b"nowhere" in done.stderr and not done.stdout


async def test_the_command_starts_the_daemon_where_none_runs(tmp_path: Path) -> None:
    world = World(tmp_path)
    try:
        async with _client(world, "stdio") as client:
            assert "agents" in await _call(client, "agent_list")
    finally:
        subprocess.run(
            [sys.executable, "-m", "compozy", "daemon", "stop"],
            env=clean_environment(world.daemon.home),
            capture_output=True,
            timeout=60,
            check=True,
        )


def test_the_address_is_that_of_the_daemon_and_missing_without_a_port(served: World, tmp_path: Path) -> None:
    def ask(asked: World) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "compozy", "mcp", "serve", "--http", "-o", "json"],
            env=clean_environment(asked.daemon.home),
            capture_output=True,
            timeout=60,
            check=False,
        )

    assert json.loads(ask(served).stdout) == {"url": _address(served), "transport": "streamable-http"}
    world = World(tmp_path).start()
    try:
        without = ask(world)
    finally:
        world.end()
    assert without.returncode == 69 and b"[http] enabled = true" in without.stderr


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}],
    ids=["host", "origin", "null origin"],
)
def test_a_foreign_host_or_origin_is_refused_before_anything_is_read(served: World, headers: dict[str, str]) -> None:
    assert served.daemon.record is not None
    connection = http.client.HTTPConnection("127.0.0.1", served.daemon.record.port, timeout=30)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    connection.request("POST", "/mcp", body, given)
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff" * 100])
def test_what_is_no_mcp_message_is_an_error_and_the_daemon_goes_on(served: World, body: bytes) -> None:
    assert served.daemon.record is not None
    connection = http.client.HTTPConnection("127.0.0.1", served.daemon.record.port, timeout=30)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", body, given)
    assert 400 <= connection.getresponse().status < 500
    connection.close()
    assert served.client.request("GET", "/api/status/identity").status == 200


def test_a_connection_belongs_to_the_process_that_opened_it_and_does_not_exist_on_tcp(served: World) -> None:
    with pytest.raises(ApiError) as refused:
        served.client.request("POST", "/api/internal/mcp-serve/messages", body={"bind_id": "x", "message": "{}"})
    assert refused.value.status == 403
    with served.daemon.tcp_client() as tcp, pytest.raises(ApiError) as missing:
        tcp.request("POST", "/api/internal/mcp-serve/open", body={})
    assert missing.value.status == 404


async def test_a_daemon_that_ends_does_not_wait_for_its_mcp_clients(tmp_path: Path) -> None:
    world = World(tmp_path, http=True).start()
    try:
        async with _client(world, "http", mode="legacy") as client:
            await client.list_tools()
            world.daemon.stop()
            wait_until(lambda: not world.daemon.is_alive(), "the daemon is gone")
    finally:
        world.end()


def test_the_page_offers_what_the_program_offers_and_its_program_runs(served: World) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for label, names in (("reading", READING), ("changing", CHANGING)):
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {label} |"))
        assert re.findall(r"`(\w+)`", row) == [name.removeprefix("compozy__") for name in names]
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "MCP_URL": _address(served), "PROJECT": str(served.workspace)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "assistant\n"), done.stderr
    (settings,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (server,) = json.loads(settings)["mcpServers"].values()
    assert server["args"][:2] == ["mcp", "serve"]
