"""Real agents with an MCP client of their own call the daemon's tools through the hosted server (issue 7)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Prepared
from tests.e2e.test_through_the_daemon import User
from tests.kit.leftovers import left_after

pytestmark = pytest.mark.e2e
# Those that take MCP servers over ACP and whose model we script.
_WITH_MCP = ("agentao", "fast-agent", "claude-agent-acp", "opencode")


@pytest.fixture
def user(prepared: Prepared, tmp_path: Path) -> Iterator[User]:
    if prepared.agent.name not in _WITH_MCP:
        pytest.skip(f"{prepared.agent.name} has no model, so nothing decides to call a tool")
    person = User(prepared, tmp_path)
    yield person
    person.compozy("daemon", "stop")
    assert left_after(prepared.marker) == [], "the daemon stopped, so nothing may live"


def test_a_real_agent_finds_and_calls_hosted_tools(user: User) -> None:
    wanted = {"scope": "workspace", "name": "made-by-agent", "prompt": "Say hello."}
    task = f"""[[tool compozy__tool_search {json.dumps({"query": "create an agent"})}]]
[[tool compozy__agent_create {json.dumps(wanted)}]]
[[say The agent is there]]"""
    report = user.run(task, "--permissions", "approve-all", "--timeout", "2m")
    made = user.prepared.workspace / ".compozy" / "agents" / "made-by-agent" / "AGENT.md"
    assert made.is_file(), report
    assert "The agent is there" in str(report["text"])
