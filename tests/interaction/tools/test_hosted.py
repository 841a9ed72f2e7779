"""Hosted tools over a real daemon, a scripted agent and the real relay (contract §5.6, §6.4)."""

from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World


def test_an_agent_gets_exactly_one_server_and_calls_tools_through_it(world: World) -> None:
    agent = ToolAgent(world)
    names = agent.tools()
    assert {"compozy__tool_search", "compozy__session_list", "compozy__skill_view"} <= set(names)
    (server,) = agent.given_servers()
    assert server["name"] == "compozy-hosted-tools"
    assert server["args"][-5:-1] == ["mcp", "--session", agent.session["id"], "--bind-nonce"]
    assert server["env"] == [{"name": "COMPOZY_HOME", "value": str(world.daemon.home.root)}]
    found = agent.structured("compozy__session_status")
    assert (found["session_id"], found["badge"]) == (agent.session["id"], "running")
