"""Configured MCP servers through a real daemon: lazily started, reached as tools, ended with the daemon (issue 7)."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

from tests.interaction.mcp.stage import Stage, said
from tests.kit.daemons import wait_until

Make = Callable[..., Stage]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


def test_an_agent_gets_one_server_and_calls_configured_ones_through_it(stage: Make) -> None:
    made = stage(tracker="good", other="good")
    agent = made.agent()
    assert made.pids == []
    assert {"mcp__tracker__echo", "mcp__other__echo"} <= set(agent.tools())
    (server,) = agent.given_servers()
    assert server["name"] == "compozy-hosted-tools"
    assert said(agent.call("mcp__tracker__echo", text="hello")) == "echo: hello"
    status = made.status("tracker")
    assert (status["state"], status["sessions"], status["restarts"]) == ("ready", 1, 0)
    assert status["pid"] in made.pids and status["tools"] == ["mcp__tracker__echo"]


def test_sessions_of_one_workspace_share_an_instance_and_other_workspaces_have_their_own(stage: Make) -> None:
    made = stage(tracker="good")
    for _ in range(2):
        assert "mcp__tracker__echo" in made.agent().tools()
    assert len(made.pids) == 1 and made.status("tracker")["sessions"] == 2
    elsewhere = made.world.folder / "elsewhere"
    elsewhere.mkdir()
    made.world.workspace = elsewhere
    assert "mcp__tracker__echo" in made.agent().tools()
    assert len(made.pids) == 2


def test_a_server_that_is_denied_is_never_started(stage: Make) -> None:
    made = stage(tracker="good", other="good")
    none = made.agent(deny_tools='["mcp__*"]')
    assert not [name for name in none.tools() if name.startswith("mcp__")]
    one = made.agent(deny_tools='["mcp__tracker__*"]')
    assert [name for name in one.tools() if name.startswith("mcp__")] == ["mcp__other__echo"]
    assert len(made.pids) == 1 and made.status("tracker") == {}


def test_a_server_sees_the_base_and_its_own_keys_and_nothing_else(tmp_path: Path) -> None:
    made = Stage(tmp_path, {"seer": "environment"})
    try:
        world = made.world
        world.end()
        world.daemon.environment["UNRELATED_SECRET"] = "plain-words-1"
        world.start()
        env = made.agent().structured("mcp__seer__variables")["env"]
    finally:
        made.end()
    assert "UNRELATED_SECRET" not in env and env["START_LOG"] == str(made.starts)
    assert {"PATH", "HOME"} <= set(env) and not [name for name in env if name == "COMPOZY_HOME"]


def test_tools_appear_and_disappear_in_a_running_session(stage: Make) -> None:
    made = stage(shop="changes")
    agent = made.agent()
    assert "mcp__shop__echo" in agent.tools()
    agent.call("mcp__shop__echo", text="+second")
    wait_until(lambda: "mcp__shop__second" in agent.tools(), "the new tool is there")
    assert said(agent.call("mcp__shop__second", text="x")) == "second: x"
    agent.call("mcp__shop__echo", text="-second")
    wait_until(lambda: "mcp__shop__second" not in agent.tools(), "the tool is gone")
    assert len(made.pids) == 1


def test_servers_end_with_the_daemon_also_those_that_will_not(stage: Make) -> None:
    made = stage(will_not="stubborn", parent="leaves_child")
    made.agent().tools()
    made.wait_state("will_not", "ready")
    made.wait_state("parent", "ready")
    pids = made.pids
    assert len(pids) == 2
    made.end()
    assert not [pid for pid in pids if is_alive(pid)]
    assert json.loads((made.world.daemon.home.root / "mcp-processes.json").read_text()) == []


def test_servers_that_a_killed_daemon_left_are_ended_by_the_next_one(stage: Make) -> None:
    made = stage(will_not="stubborn")
    made.agent().tools()
    (pid,) = made.pids
    os.kill(made.status("will_not")["pid"], signal.SIGCONT)
    made.world.daemon.kill()
    assert is_alive(pid)
    made.world.end()
    made.world.start()
    wait_until(lambda: not is_alive(pid), "the server that was left is ended")


def test_a_person_calls_a_tool_of_a_server(stage: Make) -> None:
    made = stage(tracker="good")
    made.agent()
    found = made.invoke("mcp__tracker__echo", {"text": "by hand"}, agent_name="tooled1")
    assert found["result"]["content"][0]["text"] == "echo: by hand"


def test_arguments_are_checked_before_the_server_sees_them(stage: Make) -> None:
    agent = stage(tracker="good").agent()
    refused = agent.call("mcp__tracker__echo", text=7)
    assert refused["isError"] and "is not of type 'string'" in said(refused)


def test_without_hosted_tools_the_agent_is_given_the_resolved_set(tmp_path: Path) -> None:
    made = Stage(tmp_path, {"tracker": "good"}, config="[tools]\nhosted_mcp_enabled = false\n")
    try:
        agent = made.agent()
        agent.run([{"text": "hi"}])
        assert [server["name"] for server in agent.given_servers()] == ["tracker"]
    finally:
        made.end()
