"""An MCP server of the official SDK over streamable http: `python -m tests.kit.mcp_http PORT KEY`.

With a KEY only requests whose header X-Key says it are answered.
"""

import sys

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.types import ASGIApp, Receive, Scope, Send

PORT, KEY = int(sys.argv[1]), sys.argv[2]


def make() -> MCPServer:
    server = MCPServer("far")

    @server.tool()
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    @server.tool()
    def huge() -> str:
        """Say far too much."""
        return "h" * (50 << 20)

    return server


def guarded(app: ASGIApp) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and KEY and (b"x-key", KEY.encode()) not in scope["headers"]:
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return serve


if __name__ == "__main__":
    application = guarded(make().streamable_http_app())
    uvicorn.Server(uvicorn.Config(application, host="127.0.0.1", port=PORT, log_level="error")).run()
