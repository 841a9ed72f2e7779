"""Give tests an agent program: the argv (or the shell-quoted command line) of the scripted fake agent."""

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

FAKE_AGENT = Path(__file__).with_name("fake_agent.py")


def fake_agent(folder: Path, script: Mapping[str, object] | None = None, *, name: str = "script") -> tuple[str, ...]:
    """Write the script into the folder and return the argv of the agent that follows it (see fake_agent.py)."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(dict(script or {}), ensure_ascii=False))
    # Isolated and without site: starts in about 20 ms and sees nothing of the environment's packages.
    return (sys.executable, "-I", "-S", str(FAKE_AGENT), str(path))


def fake_agent_command(folder: Path, script: Mapping[str, object] | None = None, *, name: str = "script") -> str:
    """Return the same as one command line, as it stands in the `command` field of an AGENT.md."""
    return shlex.join(fake_agent(folder, script, name=name))


def received(record: Path) -> list[dict[str, object]]:
    """Return the messages a fake agent with ``record`` has received so far (whole lines only)."""
    if not record.exists():
        return []
    return [json.loads(line) for line in record.read_bytes().split(b"\n")[:-1]]
