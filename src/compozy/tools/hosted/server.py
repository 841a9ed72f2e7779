"""Our MCP server: the official SDK's low-level server over a pair of streams (contract §6.4).

Imports the SDK: load this module when it is first needed. Who may call what is decided by the `Desk` behind it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from compozy.model.tool import ToolContent, ToolDescriptor, ToolResult

SERVER_NAME = "compozy-hosted-tools"
INSTRUCTIONS = "Tools of the compozy runtime. Start with compozy__tool_search when you look for one."
# Messages the agent sends ahead of our reading; more and it waits.
_BUFFERED = 64


class CallRefused(Exception):
    """A call that did not happen; the message is for the agent."""


class Desk(Protocol):
    """What stands behind the server."""

    async def list_tools(self) -> Sequence[ToolDescriptor]:
        """Return the tools that may be called now."""
        ...

    async def call_tool(self, name: str, arguments: dict[str, object]) -> ToolResult:
        """Run one call.

        Raises:
            CallRefused: it may not be, or failed.
        """
        ...


class HostedServer:
    """One MCP connection, fed with JSON texts and read as JSON texts."""

    def __init__(
        self, desk: Desk, *, version: str, name: str = SERVER_NAME, instructions: str = INSTRUCTIONS
    ) -> None:
        self._desk = desk
        self._bus = InMemorySubscriptionBus()
        self._session: ServerSession | None = None
        self._server: Server[dict[str, object]] = Server(
            name,
            version=version,
            instructions=instructions,
            on_list_tools=self._on_list,
            on_call_tool=self._on_call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        self._to_server, self._from_client = anyio.create_memory_object_stream[SessionMessage | Exception](_BUFFERED)
        self._to_client, self._from_server = anyio.create_memory_object_stream[SessionMessage](_BUFFERED)

    @property
    def lowlevel(self) -> Server[dict[str, object]]:
        """The SDK's server, for a transport of the SDK."""
        return self._server

    async def run(self) -> None:
        """Serve until `close`."""
        options = self._server.create_initialization_options(NotificationOptions(tools_changed=True))
        await self._server.run(self._from_client, self._to_client, options)

    async def feed(self, line: bytes) -> None:
        """Take one message of the client; what is no message becomes an error answer of the protocol."""
        message: SessionMessage | Exception
        try:
            message = SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            message = error
        # The end of a connection is told by the end of `messages`.
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._to_server.send(message)

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the server's messages until it ends."""
        with contextlib.suppress(anyio.ClosedResourceError, anyio.EndOfStream):
            async for message in self._from_server:
                yield message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()

    async def tools_changed(self) -> None:
        """Tell the client that its list of tools is out of date."""
        await self._bus.publish(ToolsListChanged())
        if self._session is not None:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError):
                await self._session.send_tool_list_changed()

    def close(self) -> None:
        """End the connection."""
        self._to_server.close()
        self._from_server.close()

    async def _on_list(
        self, ctx: ServerRequestContext[dict[str, object]], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._session = ctx.session
        return types.ListToolsResult(tools=[_tool(tool) for tool in await self._desk.list_tools()])

    async def _on_call(
        self, ctx: ServerRequestContext[dict[str, object]], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self._session = ctx.session
        try:
            result = await self._desk.call_tool(params.name, dict(params.arguments or {}))
        except CallRefused as refused:
            return types.CallToolResult(content=[_text(str(refused))], is_error=True)
        except asyncio.CancelledError:
            raise
        return _result(result)


def _tool(tool: ToolDescriptor) -> types.Tool:
    return types.Tool(
        name=tool.tool_id,
        title=tool.display_title or None,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.display_title or None,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            open_world_hint=tool.open_world,
        ),
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _result(result: ToolResult) -> types.CallToolResult:
    """Return the result: structured content with its text, else the blocks; artifacts as text and in `_meta`."""
    blocks: list[types.ContentBlock] = [_block(block) for block in result.content]
    structured = result.structured if isinstance(result.structured, dict) else None
    if result.structured is not None and not blocks:
        blocks.append(_text(msgspec.json.encode(result.structured).decode()))
    blocks.extend(_text(f"artifact: {artifact.uri} ({artifact.bytes} bytes)") for artifact in result.artifacts)
    meta = {"compozy/artifacts": msgspec.to_builtins(result.artifacts)} if result.artifacts else None
    return types.CallToolResult(
        content=blocks,
        structured_content=structured,
        is_error=bool(result.metadata.get("is_error")),
        _meta=meta,
    )


def _block(block: ToolContent) -> types.ContentBlock:
    if block.type == "text":
        return _text(block.text)
    data = block.data if isinstance(block.data, str) else ""
    if block.type == "image" and data:
        return types.ImageContent(type="image", data=data, mime_type=block.mime_type or "image/png")
    if block.type == "audio" and data:
        return types.AudioContent(type="audio", data=data, mime_type=block.mime_type or "audio/wav")
    return _text(block.text or msgspec.json.encode(block).decode())
