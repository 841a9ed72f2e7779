"""An MCP server of the official SDK over Streamable HTTP on loopback, as a program: prints its address, then serves.

Arguments: `one` offers one tool, `many` three, one of which fails and one takes two arguments.
"""

import sys

from mcp.server.mcpserver import MCPServer


def make(which: str) -> MCPServer:
    server = MCPServer("test tools")

    @server.tool()
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    if which == "many":

        @server.tool()
        def fail(text: str) -> str:
            """Never works."""
            raise ValueError(f"cannot do {text}")

        @server.tool()
        def add(left: int, right: int) -> str:
            """Add two numbers."""
            return str(left + right)

    return server


if __name__ == "__main__":
    import socket

    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = make(sys.argv[1]).streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
