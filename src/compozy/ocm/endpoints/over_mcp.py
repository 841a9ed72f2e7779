"""Protocol `mcp`: one tool call to a Streamable HTTP server, by the official SDK. Imported late: it takes a second.

Which tool: the one the manifest names under `metadata.mcp`, the caller's, or the only one. Its arguments are the
caller's, or the task itself where the tool takes one text. Servers that are programs are wired by an operator.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from compozy.ocm.endpoints.calls import Call, Options, Reply
from compozy.ocm.endpoints.connection import Connection
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused, own_error

if TYPE_CHECKING:
    import httpx2
    from mcp.types import CallToolResult, Tool

    from compozy.ocm.endpoints.guard import Guard

# What the SDK logs of an answer it cannot read is in our error; where nobody set up logging it would be said twice.
logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("client").addHandler(logging.NullHandler())
_SHOWN_TOOLS = 20
_MOST_PAGES = 20


async def ask(connection: Connection, call: Call, options: Options) -> Reply:
    """Call the tool.

    Raises:
        EndpointFailed, EndpointRefused: there is no answer, or no way to call the tool.
    """
    client, guard = connection.open()
    async with client:
        work = asyncio.ensure_future(_converse(connection, client, call, options))
        # The SDK retries what our guard refuses; whichever comes first ends the call.
        refused = asyncio.ensure_future(guard.refused.wait())
        try:
            await asyncio.wait({work, refused}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                assert guard.failure is not None
                raise guard.failure
            result = work.result()
        except (EndpointFailed, EndpointRefused):
            raise
        except Exception as error:
            # The SDK has no one base: every other end of its call is a failure over there.
            raise _failure(connection, guard, error) from error
        finally:
            for task in (work, refused):
                task.cancel()
            await asyncio.gather(work, refused, return_exceptions=True)
    return _reply(connection, result, guard.attempts)


async def _converse(
    connection: Connection, client: "httpx2.AsyncClient", call: Call, options: Options
) -> "CallToolResult":
    limit = options.max_answer_bytes
    transport = streamable_http_client(connection.address.url, http_client=client, max_sse_event_size=limit)
    async with Client(transport, read_timeout_seconds=options.timeout) as server:
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await server.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        tool = choose_tool(connection, tools, options.tool)
        arguments = dict(call.arguments) if call.arguments is not None else arguments_for(tool, call.task)
        return await server.call_tool(tool.name, arguments)


def choose_tool(connection: Connection, tools: "list[Tool]", wanted: str) -> "Tool":
    """Return the tool to call.

    Raises:
        EndpointRefused: code `endpoint_tool`; the wanted one is not there, or several are and none is wanted.
    """
    for tool in tools:
        if tool.name == wanted:
            return tool
    if not wanted and len(tools) == 1:
        return tools[0]
    names = ", ".join(connection.masked(tool.name)[:80] for tool in tools[:_SHOWN_TOOLS]) or "none"
    what = f"has no tool {wanted!r}" if wanted else "offers several tools, and none is named"
    raise EndpointRefused(
        f"{connection.address.origin} {what}: it has {names}; name one, in metadata.mcp.name or for this call",
        code="endpoint_tool",
    )


def arguments_for(tool: "Tool", task: str) -> dict[str, object]:
    """Return the arguments of a tool that takes one text, or none.

    Raises:
        EndpointRefused: code `endpoint_arguments`; it takes more than that.
    """
    schema: Mapping[str, object] = tool.input_schema
    properties = schema.get("properties")
    known: Mapping[str, object] = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    needed = [str(name) for name in required] if isinstance(required, list) else []
    texts = [
        str(name) for name, one in known.items() if isinstance(one, Mapping) and one.get("type", "string") == "string"
    ]
    if not needed and len(known) != 1:
        candidates = [name for name in texts if name in _TASK_NAMES]
    else:
        candidates = [name for name in texts if not needed or name in needed]
    if not known and not needed:
        return {}
    if len(candidates) == 1 and set(needed) <= {candidates[0]}:
        return {candidates[0]: task}
    if not needed and not candidates:
        return {}
    raise EndpointRefused(
        f"the tool {tool.name[:80]!r} takes {', '.join(map(str, known)) or 'arguments'}: give them as a JSON object",
        code="endpoint_arguments",
    )


# Under these names a tool with several optional arguments takes the request itself.
_TASK_NAMES = ("task", "query", "prompt", "text", "input", "question", "message", "request")


def _reply(connection: Connection, result: "CallToolResult", attempts: int) -> Reply:
    texts = [text for part in result.content if isinstance(text := getattr(part, "text", None), str)]
    text = connection.masked("\n".join(texts))
    if result.is_error:
        raise EndpointFailed(
            f"{connection.address.origin}: the tool reports an error: {text[:200] or 'without words'}",
            code="endpoint_error",
        )
    data = connection.masked_value(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    return Reply(text=text, data=data, attempts=attempts)


def _failure(connection: Connection, guard: "Guard", error: BaseException) -> EndpointFailed | EndpointRefused:
    found = own_error(error) or guard.failure
    if found is not None:
        return found
    told = connection.masked(str(_first_leaf(error)))[:200]
    try:
        connection.check_status(guard.last_status or 200, {}, told.encode("utf-8", "replace"))
    except EndpointFailed as failed:
        return failed
    return EndpointFailed(
        f"{connection.address.origin} does not answer as an MCP server: {told}", code="endpoint_answer"
    )


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
