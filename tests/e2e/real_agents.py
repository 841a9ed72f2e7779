"""The real agents of `make e2e`: how each is configured for the scripted model, and what it is known to do.

`scripts/install_agents.py` installs them and leaves one record each; an agent without a usable record is skipped by
name. Each gets a HOME of its own and only the variables named here.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("COMPOZY_E2E_CACHE", ROOT / ".cache" / "agents"))

SERVERS = ("mcp-filesystem", "mcp-time")
Configure = Callable[[str, Path], dict[str, str]]


class RealAgent(NamedTuple):
    """One agent and its habits.

    `asks` are the kinds it asks permission for in the scripted turn, in the mode `mode` (its own default when empty).
    `asks_a_person`: under `approve-reads` it asks before a command; else it refuses by itself.
    `stays_inside`: what it asks for lies in the workspace; else the daemon refuses.
    """

    name: str
    configure: Configure
    asks: frozenset[str]
    has_model: bool = True
    asks_a_person: bool = True
    stays_inside: bool = True
    mode: str = ""
    writes_through_client: bool = False
    reads_through_client: bool = False
    uses_terminal: bool = False
    # How many models and efforts it offers at least, over ACP, that a test may choose.
    models: int = 0
    efforts: int = 0


class Installed(NamedTuple):
    """What the installer recorded: `reason` says why an agent is not there."""

    version: str
    argv: tuple[str, ...]
    reason: str


def installed(name: str) -> Installed:
    """Read the installer's record of an agent."""
    path = CACHE / f"{name}.json"
    if not path.is_file():
        return Installed("", (), "not installed: run scripts/install_agents.py")
    record = json.loads(path.read_text())
    argv = tuple(record["argv"])
    if record["installed"] and not all(Path(part).exists() for part in argv if part.startswith("/")):
        return Installed(record["version"], (), "its files are gone: run scripts/install_agents.py")
    return Installed(record["version"], argv if record["installed"] else (), record["reason"])


def _sdk_example(_base: str, _home: Path) -> dict[str, str]:
    return {}


def _agentao(base: str, _home: Path) -> dict[str, str]:
    return {"OPENAI_API_KEY": "fake", "OPENAI_BASE_URL": f"{base}/v1", "OPENAI_MODEL": "fake-model"}


def _fast_agent(base: str, _home: Path) -> dict[str, str]:
    return {"GENERIC_BASE_URL": f"{base}/v1", "GENERIC_API_KEY": "fake"}


def _claude(base: str, _home: Path) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }


def _opencode(base: str, home: Path) -> dict[str, str]:
    limit = {"context": 100_000, "output": 8_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{base}/v1", "apiKey": "fake"},
        "models": {"fake-model": {"name": "Fake", "limit": limit}},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "permission": {"edit": "ask", "bash": "ask"},
        "provider": {"fake": provider},
    }
    path = home / ".config" / "opencode" / "opencode.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config))
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


AGENTS: Mapping[str, RealAgent] = {
    agent.name: agent
    for agent in (
        RealAgent(
            "sdk-example", _sdk_example, frozenset({"edit"}), has_model=False, asks_a_person=False, stays_inside=False
        ),
        RealAgent("agentao", _agentao, frozenset({"execute"}), asks_a_person=False),
        RealAgent(
            "fast-agent",
            _fast_agent,
            frozenset({"read", "edit", "execute"}),
            writes_through_client=True,
            reads_through_client=True,
            uses_terminal=True,
        ),
        RealAgent("claude-agent-acp", _claude, frozenset({"edit", "execute"}), mode="default", models=2, efforts=2),
        RealAgent("opencode", _opencode, frozenset({"edit", "execute"}), writes_through_client=True, models=1),
    )
}


def chosen() -> tuple[str, ...]:
    """Return the agents this run is about: COMPOZY_E2E_AGENTS (names separated by spaces), else all."""
    names = tuple(os.environ.get("COMPOZY_E2E_AGENTS", "").split()) or tuple(AGENTS)
    # MCP servers are installed by the same names, and are no agents.
    names = tuple(name for name in names if name not in SERVERS)
    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        raise ValueError(f"COMPOZY_E2E_AGENTS names {unknown[0]!r}; known are {', '.join(AGENTS)}")
    return names
