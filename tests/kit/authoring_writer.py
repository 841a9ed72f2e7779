"""A program that edits one agent through a daemon: compare-and-swap with retry, a line in the prompt each time.

Usage: python -m tests.kit.authoring_writer HOME NAME WHO COUNT. Prints how many refusals it met.
"""

import random
import sys
import time
from pathlib import Path

from compozy.client import ApiError, connect
from compozy.config.home import Home

_FIELDS = ("name", "prompt", "provider", "tools")


def main(home: Path, name: str, who: int, count: int) -> int:
    """Make `count` changes; every read on the way must be a definition that loads."""
    draw = random.Random(who)
    refused = 0
    with connect(Home(home)) as client:
        for number in range(count):
            while True:
                agent = client.request("GET", f"/api/agents/{name}").json()["agent"]
                assert agent["definition_digest"] and not agent.get("diagnostics"), agent
                payload = {field: agent[field] for field in _FIELDS if field in agent}
                payload["prompt"] = f"{payload['prompt']}\nwriter {who} change {number}"
                body = {"agent": payload, "expected_digest": agent["definition_digest"]}
                try:
                    client.request("PUT", f"/api/agents/{name}", body=body)
                    break
                except ApiError as error:
                    if error.status != 409:
                        raise
                    refused += 1
                    # Others are writing: step back for a moment, so that one of us gets through.
                    time.sleep(draw.uniform(0, 0.15))
    return refused


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
