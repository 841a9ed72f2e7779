"""A client on the official MCP SDK that uses one stdio server; started by the scripted agent (verb ``mcp_program``).

    python -m tests.kit.mcp_probe handshake|auto        reads ACP's list of servers as JSON from its input

Prints one JSON object: what the server said of itself, its tools with annotations, one call that works and one that
is refused.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(mode: str) -> None:
    server = json.load(sys.stdin)[0]
    env = {**os.environ, **{pair["name"]: pair["value"] for pair in server["env"]}}
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=env)
    async with Client(parameters, mode="legacy" if mode == "handshake" else "auto") as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("compozy__tool_search", {"query": "stop a session", "limit": 3})
        refused = await client.call_tool("compozy__session_stop", {"session_id": os.environ["COMPOZY_SESSION_ID"]})
        report = {
            "name": client.server_info.name,
            "protocol": client.protocol_version,
            "list_changed": client.server_capabilities.tools.list_changed,
            "tools": {tool.name: tool.annotations.model_dump(by_alias=True, exclude_none=True) for tool in tools},
            "found": found.structured_content,
            "text": found.content[0].text,
            "refused": {"is_error": refused.is_error, "text": refused.content[0].text},
        }
    print(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
