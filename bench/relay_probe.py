"""An MCP client of nothing but pipes, in the place of an agent's: starts the hosted server and takes the times.

Run by the scripted agent with the session's servers as JSON on its input; prints one JSON line in milliseconds: from
the start of the relay to the answer of the first `tools/list`, and each of the calls that follow.
"""

import json
import os
import subprocess
import sys
import time

CALLS = 50


def main() -> None:
    """Measure and print."""
    server = json.load(sys.stdin)[0]
    env = {**os.environ, **{pair["name"]: pair["value"] for pair in server["env"]}}
    began = time.perf_counter()
    relay = subprocess.Popen(
        [server["command"], *server["args"]], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert relay.stdin is not None and relay.stdout is not None

    def send(message: dict[str, object]) -> None:
        assert relay.stdin is not None
        relay.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        relay.stdin.flush()

    def ask(number: int, method: str, params: dict[str, object]) -> bytes:
        assert relay.stdout is not None
        send({"id": number, "method": method, "params": params})
        return relay.stdout.readline()

    client = {"name": "bench", "version": "1"}
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    send({"method": "notifications/initialized"})
    listed = ask(2, "tools/list", {})
    first = (time.perf_counter() - began) * 1000
    assert b"compozy__tool_list" in listed, listed
    calls = []
    for number in range(CALLS):
        asked = time.perf_counter()
        answer = ask(3 + number, "tools/call", {"name": "compozy__workspace_info", "arguments": {}})
        calls.append((time.perf_counter() - asked) * 1000)
        assert b"root_dir" in answer, answer
    relay.stdin.close()
    relay.wait(30)
    print(json.dumps({"first": first, "calls": calls}))


if __name__ == "__main__":
    main()
