"""One connection to a configured server through the official SDK's client: open, list, call, hear of changes.

Imports the SDK: load this module when it is first needed. What a server answers is handed on as plain data.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import httpx2
import mcp_types as types
import msgspec
from mcp.client.session import ClientRequestContext, ClientSession, IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import FileUrl, ValidationError

from compozy.acp.child import Child
from compozy.model.tool import ToolContent
from compozy.runtime.mcp.bounds import McpBounds
from compozy.runtime.mcp.streams import ServerPipes, Streams
from compozy.tools.source import ToolFailed, ToolOutput

# The SDK writes tracebacks about servers that misbehave; what matters is stated where the server is supervised.
logging.getLogger("mcp").setLevel(logging.CRITICAL)
_TIMED_OUT = 408
_UNAUTHORIZED = 401
_READ_SECONDS = 300.0
_CONNECT_SECONDS = 10.0


@dataclass(kw_only=True)
class Signals:
    """What the connection tells the one who supervises it."""

    changed: Callable[[], None]
    """The server's tools may have changed."""
    ended: Callable[[str], None]
    """The connection is over; the reason where it was ours."""


@dataclass(kw_only=True)
class Reach:
    """How a remote server is reached, and what was met on the way."""

    url: str
    headers: Mapping[str, str]
    auth: httpx2.Auth | None = None
    met_401: bool = field(default=False, init=False)
    is_too_large: bool = field(default=False, init=False)


class Connection:
    """An open connection."""

    def __init__(self, session: ClientSession, wire: JSONRPCDispatcher, bounds: McpBounds) -> None:
        self._session, self._wire, self._bounds = session, wire, bounds

    async def tools(self) -> tuple[object, ...]:
        """Return the server's tools as plain JSON.

        Raises:
            ToolFailed: it does not answer, or gives more pages or tools than are read.
        """
        found: list[object] = []
        cursor: str | None = None
        offers = self._session.server_capabilities
        if offers is None or offers.tools is None:
            return ()
        for _ in range(self._bounds.most_pages):
            page = await self._page(cursor)
            tools = page.get("tools")
            if not isinstance(tools, list):
                raise ToolFailed("its list of tools is no list of tools")
            found += tools
            if len(found) > self._bounds.most_tools:
                raise ToolFailed(f"it offers more than {self._bounds.most_tools} tools")
            after = page.get("nextCursor")
            if not isinstance(after, str) or not after:
                return tuple(found)
            cursor = after
        raise ToolFailed(f"its list of tools has more than {self._bounds.most_pages} pages")

    async def _page(self, cursor: str | None) -> Mapping[str, object]:
        # Past the session, which checks the answer as a whole: one bad tool must not hide the others.
        options: CallOptions = {"headers": {MCP_PROTOCOL_VERSION_HEADER: self._session.protocol_version or ""}}
        try:
            return await self._wire.send_raw_request("tools/list", {"cursor": cursor} if cursor else None, options)
        except MCPError as error:
            raise ToolFailed(f"it refused to list its tools: {error.error.message[:500]}") from error

    async def call(self, name: str, arguments: Mapping[str, object], seconds: float) -> ToolOutput:
        """Call a tool.

        Raises:
            ToolFailed: there is no output.
        """
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        request = types.CallToolRequest(params=params)
        try:
            result = await self._session.send_request(
                request, types.CallToolResult, request_read_timeout_seconds=seconds
            )
        except MCPError as error:
            if error.error.code in (_TIMED_OUT, types.REQUEST_TIMEOUT):
                raise ToolFailed(
                    f"it did not answer within {seconds:g} s", code="tool_timed_out", reason="call_timed_out"
                ) from error
            raise ToolFailed(f"it refused the call: {error.error.message[:2000]}") from error
        except ValidationError as error:
            raise ToolFailed("its answer is no result of a tool") from error
        except Exception as error:
            raise ToolFailed(f"the call failed: {str(error)[:500]}") from error
        return _output(result)


@contextlib.asynccontextmanager
async def connect_child(child: Child, folder: str, bounds: McpBounds, signals: Signals) -> AsyncIterator[Connection]:
    """Speak with a started server over its pipes."""
    pipes = ServerPipes(child, bounds, signals.ended)
    async with _open(pipes.open(), folder, bounds, signals) as connection:
        yield connection


@contextlib.asynccontextmanager
async def connect_remote(reach: Reach, folder: str, bounds: McpBounds, signals: Signals) -> AsyncIterator[Connection]:
    """Speak with a server over streamable http."""

    async def note(response: httpx2.Response) -> None:
        if response.status_code == _UNAUTHORIZED:
            reach.met_401 = True

    def too_large() -> None:
        reach.is_too_large = True
        signals.ended(f"it sent an answer of more than {bounds.message_bytes} bytes")

    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    async with httpx2.AsyncClient(
        headers=dict(reach.headers),
        auth=reach.auth,
        timeout=timeout,
        transport=_BoundedTransport(bounds.message_bytes, too_large),
        event_hooks={"response": [note]},
    ) as http:
        transport = streamable_http_client(reach.url, http_client=http, max_sse_event_size=bounds.message_bytes)
        # The SDK names its streams by protocols that anyio's meet.
        streams = cast("contextlib.AbstractAsyncContextManager[Streams]", transport)
        async with _open(streams, folder, bounds, signals) as connection:
            yield connection


@contextlib.asynccontextmanager
async def _open(
    transport: contextlib.AbstractAsyncContextManager[Streams], folder: str, bounds: McpBounds, signals: Signals
) -> AsyncIterator[Connection]:
    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        uris = [types.Root(uri=FileUrl(Path(folder).as_uri()))] if folder else []
        return types.ListRootsResult(roots=uris)

    async def hear(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            signals.changed()

    async with transport as (read, write):
        wire = JSONRPCDispatcher(read, write)
        async with ClientSession(dispatcher=wire, message_handler=hear, list_roots_callback=roots) as session:
            # The handshake that every server knows; it is also the one whose announcements need no subscription.
            await session.initialize()
            yield Connection(session, wire, bounds)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit: int, too_large: Callable[[], None]) -> None:
        self._inner, self._limit, self._too_large = inner, limit, too_large

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._limit:
                self._too_large()
                raise httpx2.ReadError(f"the answer has more than {self._limit} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """Reads no answer that is larger than a message may be."""

    def __init__(self, limit: int, too_large: Callable[[], None]) -> None:
        super().__init__()
        self._limit, self._too_large = limit, too_large

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream, self._limit, self._too_large)
        return response


def _output(result: types.CallToolResult) -> ToolOutput:
    return ToolOutput(
        content=tuple(_content(block) for block in result.content),
        structured=result.structured_content,
        is_error=bool(result.is_error),
    )


def _content(block: types.ContentBlock) -> ToolContent:
    if isinstance(block, types.TextContent):
        return ToolContent(type="text", text=block.text)
    if isinstance(block, types.ImageContent | types.AudioContent):
        return ToolContent(type=block.type, mime_type=block.mime_type, data=block.data)
    if isinstance(block, types.EmbeddedResource) and isinstance(block.resource, types.TextResourceContents):
        return ToolContent(
            type="text", text=block.resource.text, mime_type=block.resource.mime_type or "", metadata=_uri(block)
        )
    whole: object = block.model_dump(mode="json", by_alias=True, exclude_none=True)
    return ToolContent(type="text", text=msgspec.json.encode(whole).decode(), metadata=_uri(block))


def _uri(block: types.ResourceLink | types.EmbeddedResource) -> dict[str, object]:
    return {"uri": str(block.uri if isinstance(block, types.ResourceLink) else block.resource.uri)}
