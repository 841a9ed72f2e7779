"""A scripted MCP server on stdio, on the standard library alone: good, or bad in one way that its argument names.

    python tests/kit/mcp_stdio.py KIND

Every start appends its pid to the file that START_LOG names, so that tests can say how often it was started.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

KIND = sys.argv[1]
MEBIBYTE = 1 << 20


def tool(name: str, **more: object) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    hints = {"readOnlyHint": True, "openWorldHint": False}
    return {"name": name, "description": f"{name} it", "inputSchema": schema, "annotations": hints, **more}


TOOLS: dict[str, list[Any]] = {
    "bad_schema": [tool("echo"), tool("broken", inputSchema={"type": "object", "properties": 7})],
    "no_schema": [tool("echo"), {"name": "bare"}, {"description": "nameless"}, tool("text", inputSchema="none")],
    "collide": [tool("echo"), tool("get-it"), tool("Get It"), tool("x" * 90)],
    "environment": [{**tool("variables"), "inputSchema": {"type": "object"}}],
}
tools = TOOLS.get(KIND, [tool("echo")])


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def call(number: object, name: str, arguments: dict[str, Any]) -> None:
    said = str(arguments.get("text", ""))
    if KIND == "dies_on_call" and said == "die":
        os._exit(3)
    if KIND == "hangs_on_call" and said == "hang":
        return
    if KIND == "floods" and said == "flood":
        line = json.dumps(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
        )
        while True:
            sys.stdout.write((line + "\n") * 500)
    if KIND == "long_line" and said == "long":
        sys.stdout.write("x" * (50 * MEBIBYTE))
        sys.stdout.flush()
        time.sleep(600)
    if KIND == "large" and said == "large":
        send({"id": number, "result": text("y" * (2 * MEBIBYTE))})
        return
    if KIND == "huge" and said == "huge":
        send({"id": number, "result": text("z" * (50 * MEBIBYTE))})
        return
    if KIND == "changes" and said.startswith("+"):
        tools.append(tool(said[1:]))
        send({"method": "notifications/tools/list_changed"})
    if KIND == "changes" and said.startswith("-"):
        tools[:] = [one for one in tools if one["name"] != said[1:]]
        send({"method": "notifications/tools/list_changed"})
    if KIND == "fails":
        send({"id": number, "result": {**text("cannot"), "isError": True}})
        return
    if name == "variables":
        send({"id": number, "result": {**text("set"), "structuredContent": {"env": dict(os.environ)}}})
        return
    send({"id": number, "result": text(f"{name}: {said}")})


def answer(message: dict[str, Any]) -> None:
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        if KIND == "silent":
            return
        info = {"name": "scripted", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        version = params["protocolVersion"]
        send({"id": number, "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": "none" if KIND == "no_list" else tools}})
    elif method == "tools/call":
        call(number, params["name"], params.get("arguments") or {})
    elif number is not None and "result" not in message and "error" not in message:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})


def main() -> None:
    log = os.environ.get("START_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
    if KIND == "dies":
        sys.stderr.write(f"cannot open the database with {os.environ.get('SERVER_KEY', 'no key')}\n")
        sys.exit(4)
    if KIND == "noisy":
        sys.stdout.write("starting up...\n\n[1, 2]\n")
    if KIND == "leaves_child":
        # Out of the group and the session, as a background helper of a real server would be.
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    for line in sys.stdin:
        answer(json.loads(line))
    if KIND == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main()
