"""A tiny ACP agent that tells the time: each answer carries when it got the prompt and when it began to reply.

Text of the one update: ``RECEIVED SENT`` in nanoseconds of the system's monotonic clock, which all processes share.
What lies outside of the two is not the agent's. A prompt whose last line is ``tick COUNT SECONDS`` is answered with
that many updates, one every so many seconds, each ``@SENT@``. Stdlib only; imports nothing of compozy.
"""

import json
import sys
import time


def send(message: dict[str, object]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tick(session: str, count: int, seconds: float) -> None:
    """Send the time, again and again, at even steps."""
    due = time.monotonic()
    for _ in range(count):
        text = {"type": "text", "text": f"@{time.monotonic_ns()}@ "}
        update = {"sessionUpdate": "agent_message_chunk", "content": text}
        send({"method": "session/update", "params": {"sessionId": session, "update": update}})
        due += seconds
        time.sleep(max(0.0, due - time.monotonic()))


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        received = time.monotonic_ns()
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "session/prompt":
            session = message["params"]["sessionId"]
            words = message["params"]["prompt"][0]["text"].splitlines()[-1].split()
            if words and words[0] == "tick":
                tick(session, int(words[1]), float(words[2]))
                send({"id": number, "result": {"stopReason": "end_turn"}})
                continue
            text = {"type": "text", "text": f"{received} {time.monotonic_ns()}"}
            update = {"sessionUpdate": "agent_message_chunk", "content": text}
            send({"method": "session/update", "params": {"sessionId": session, "update": update}})
            send({"id": number, "result": {"stopReason": "end_turn"}})
        elif method == "initialize":
            send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif method == "session/new":
            send({"id": number, "result": {"sessionId": "clock-1"}})
        elif number is not None:
            send({"id": number, "result": {}})


if __name__ == "__main__":
    main()
