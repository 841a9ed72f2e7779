"""The hosted MCP server spoken to by the official client in memory: lists, calls, changes, refusals."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.message import SessionMessage

from compozy.model.tool import ToolArtifact, ToolContent, ToolDescriptor, ToolResult
from compozy.tools.hosted.server import CallRefused, HostedServer
from tests.kit.tools import make_tool

pytestmark = pytest.mark.anyio


class _Desk:
    """What a session would answer."""

    def __init__(self) -> None:
        self.tools: list[ToolDescriptor] = [make_tool("a__read"), make_tool("a__write", risk="destructive")]
        self.result = ToolResult(bytes=1, duration_ms=1, truncated=False)
        self.calls: list[tuple[str, dict[str, object]]] = []

    async def list_tools(self) -> Sequence[ToolDescriptor]:
        return self.tools

    async def call_tool(self, name: str, arguments: dict[str, object]) -> ToolResult:
        self.calls.append((name, arguments))
        if name == "a__write":
            raise CallRefused("not today")
        return self.result


class _Transport:
    """Carries the client's messages as the relay does: as JSON texts."""

    def __init__(self, server: HostedServer) -> None:
        self._server = server

    async def __aenter__(self) -> object:
        self._context = self._open()
        return await self._context.__aenter__()

    async def __aexit__(self, *given: object) -> None:
        await self._context.__aexit__(*given)  # type: ignore[arg-type]

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[object]:
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](16)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage](16)

        async def up() -> None:
            async for message in from_client:
                await self._server.feed(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

        async def down() -> None:
            async for line in self._server.messages():
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                await to_client.send(SessionMessage(message))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._server.run)
            tasks.start_soon(up)
            tasks.start_soon(down)
            yield from_server, to_server
            self._server.close()
            tasks.cancel_scope.cancel()
        for stream in (to_client, from_server, to_server, from_client):
            stream.close()


@pytest.fixture
def desk() -> _Desk:
    return _Desk()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_list_and_calls_reach_the_desk_in_both_protocol_eras(desk: _Desk, mode: str) -> None:
    desk.result = ToolResult(
        bytes=9,
        duration_ms=1,
        truncated=True,
        structured={"found": 1},
        artifacts=(ToolArtifact(uri="compozy-artifact:art_1", bytes=7),),
    )
    with anyio.fail_after(30):
        async with Client(_Transport(HostedServer(desk, version="1.2")), mode=mode) as client:  # type: ignore[arg-type]
            assert (client.server_info.name, client.server_info.version) == ("compozy-hosted-tools", "1.2")
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["a__read", "a__write"]
            assert listed[1].annotations is not None and listed[1].annotations.destructive_hint is True
            done = await client.call_tool("a__read", {"text": "x"})
            assert done.structured_content == {"found": 1} and not done.is_error
            texts = [block.text for block in done.content if isinstance(block, types.TextContent)]
            assert json.loads(texts[0]) == {"found": 1} and "compozy-artifact:art_1" in texts[1]
            assert done.meta is not None and done.meta["compozy/artifacts"][0]["bytes"] == 7
            refused = await client.call_tool("a__write", {})
            assert refused.is_error and isinstance(refused.content[0], types.TextContent)
            assert refused.content[0].text == "not today"
    assert desk.calls == [("a__read", {"text": "x"}), ("a__write", {})]


async def test_a_changed_list_is_told(desk: _Desk) -> None:
    server = HostedServer(desk, version="1")
    told = anyio.Event()

    async def note(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    with anyio.fail_after(30):
        async with Client(_Transport(server), mode="legacy", message_handler=note) as client:  # type: ignore[arg-type]
            await client.list_tools()
            desk.tools.append(make_tool("b__new"))
            await server.tools_changed()
            await told.wait()
            assert "b__new" in [tool.name for tool in (await client.list_tools()).tools]


async def test_blocks_of_every_kind_pass(desk: _Desk) -> None:
    desk.result = ToolResult(
        bytes=9,
        duration_ms=1,
        truncated=False,
        content=(
            ToolContent(type="text", text="hello"),
            ToolContent(type="image", data="aGk=", mime_type="image/png"),
            ToolContent(type="resource_link", metadata={"uri": "x://y"}),
        ),
        metadata={"is_error": True},
    )
    with anyio.fail_after(30):
        async with Client(_Transport(HostedServer(desk, version="1")), mode="legacy") as client:  # type: ignore[arg-type]
            done = await client.call_tool("a__read", {})
    assert done.is_error and [block.type for block in done.content] == ["text", "image", "text"]


async def test_what_is_no_message_leaves_the_connection_alive(desk: _Desk) -> None:
    server = HostedServer(desk, version="1")
    with anyio.fail_after(30):
        async with Client(_Transport(server), mode="legacy") as client:  # type: ignore[arg-type]
            for line in (b"not json", b"[1]", b'{"jsonrpc": "1.0"}', b"\xff"):
                await server.feed(line)
            assert len((await client.list_tools()).tools) == 2


async def test_a_closed_connection_takes_messages_in_silence(desk: _Desk) -> None:
    server = HostedServer(desk, version="1")
    with anyio.fail_after(30):
        async with Client(_Transport(server), mode="legacy") as client:  # type: ignore[arg-type]
            await client.list_tools()
        await server.feed(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
        assert [line async for line in server.messages()] == []
