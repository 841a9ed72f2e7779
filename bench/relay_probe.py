"""An MCP client of nothing but pipes: starts a server of ours and takes the times.

    python relay_probe.py TOOL ARGUMENTS EXPECTED

Run in the place of an agent's or of a foreign client, with the servers as JSON on its input; calls TOOL, whose
answers have EXPECTED in them. Prints one JSON line in milliseconds: from the start of the first server to the answer
of the first `tools/list`, and each of the calls that follow.
"""

import json
import os
import subprocess
import sys
import time

CALLS = 50


def main() -> None:
    """Measure and print."""
    tool, arguments, expected = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode()
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
    assert tool.encode() in listed, listed
    calls = []
    for number in range(CALLS):
        asked = time.perf_counter()
        answer = ask(3 + number, "tools/call", {"name": tool, "arguments": arguments})
        calls.append((time.perf_counter() - asked) * 1000)
        assert expected in answer, answer
    relay.stdin.close()
    relay.wait(30)
    print(json.dumps({"first": first, "calls": calls}))


if __name__ == "__main__":
    main()
