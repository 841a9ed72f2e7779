"""Hosted tools over a real daemon, a scripted agent and the real relay (contract §5.6, §6.4)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client.errors import ApiError
from tests.kit.daemons import clean_environment, wait_until
from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World

_ROOT = Path(__file__).resolve().parents[3]
_BIND = "/api/internal/hosted-mcp/bind"


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


@pytest.mark.parametrize("mode", ["handshake", "auto"])
def test_the_official_client_lists_and_calls_through_the_relay(world: World, mode: str) -> None:
    agent = ToolAgent(world, f"official-{mode}")
    answer = world.folder / "probe.json"
    program = [sys.executable, "-m", "tests.kit.mcp_probe", mode]
    # From the root of the sources, where the kit can be imported.
    command = ["sh", "-c", f'cd {_ROOT} && exec "$@"', "sh", *program]
    agent.run([{"mcp_program": command}, {"touch": str(answer), "content": "{last}"}])
    report = json.loads(answer.read_text())
    assert report["name"] == "compozy-hosted-tools" and report["list_changed"] is True
    assert report["tools"]["compozy__session_stop"]["destructiveHint"] is True
    assert report["tools"]["compozy__tool_list"]["readOnlyHint"] is True
    assert "compozy__session_stop" in [row["tool_id"] for row in report["found"]["tools"]]
    assert json.loads(report["text"]) == report["found"]
    assert report["refused"]["is_error"] is True and "does not stop itself" in report["refused"]["text"]


def _nonce(agent: ToolAgent) -> str:
    return str(agent.given_servers()[0]["args"][-1])


def _bind(world: World, session: str, nonce: str) -> ApiError:
    with pytest.raises(ApiError) as refused:
        world.client.request("POST", _BIND, body={"session_id": session, "bind_nonce": nonce})
    return refused.value


def test_a_nonce_is_good_for_one_bind(world: World) -> None:
    agent = ToolAgent(world)
    assert "compozy__tool_list" in agent.tools()
    agent.ask("close")
    again = agent.ask("list_ids")
    assert "exited with code" in again["error"]["message"]
    assert agent.world.refresh(agent.session)["state"] == "active"


def test_a_nonce_stolen_by_another_process_is_refused_and_still_good_for_the_agent(world: World) -> None:
    agent = ToolAgent(world)
    agent.run([{"text": "I started nothing yet"}])
    nonce = _nonce(agent)
    error = _bind(world, agent.session["id"], nonce)
    assert (error.status, error.code) == (403, "hosted_mcp_bind_refused")
    relay = subprocess.run(
        [sys.executable, "-m", "compozy", "tool", "mcp", "--session", agent.session["id"], "--bind-nonce", nonce],
        input=b"",
        capture_output=True,
        env=clean_environment(world.daemon.home),
        timeout=60,
        check=False,
    )
    assert relay.returncode == 77 and b"does not belong" in relay.stderr
    assert "compozy__tool_list" in agent.tools()


@pytest.mark.parametrize("session", ["own", "sess-0000000000000000"])
def test_a_wrong_nonce_or_session_is_refused(world: World, session: str) -> None:
    agent = ToolAgent(world)
    agent.run([{"text": "started"}])
    error = _bind(world, agent.session["id"] if session == "own" else session, "0" * 64)
    assert error.status == 403 and "nonce" in error.message


def test_a_bind_without_its_fields_or_with_an_invented_binding_is_refused(world: World) -> None:
    assert _bind(world, "", "").status == 400
    for path, body in (
        ("tools/call", {"bind_id": "invented", "tool_name": "compozy__tool_list"}),
        ("messages", {"bind_id": "invented", "message": "{}"}),
        ("release", {"bind_id": "invented"}),
    ):
        with pytest.raises(ApiError) as refused:
            world.client.request("POST", f"/api/internal/hosted-mcp/{path}", body=body)
        assert refused.value.status == 403
    with pytest.raises(ApiError) as refused:
        world.client.request("GET", "/api/internal/hosted-mcp/projection", query={"bind_id": "invented"})
    assert refused.value.status == 403


def test_the_internal_routes_do_not_exist_on_tcp(tmp_path: Path) -> None:
    world = World(tmp_path, http=True).start()
    try:
        with world.daemon.tcp_client() as tcp, pytest.raises(ApiError) as refused:
            tcp.request("POST", _BIND, body={"session_id": "s", "bind_nonce": "n"})
        assert refused.value.status == 404
    finally:
        world.end()


def test_the_relay_ends_with_its_session(world: World) -> None:
    agent = ToolAgent(world)
    pid = world.folder / "pid"
    agent.run([{"mcp": "list_ids"}, {"touch": str(pid), "content": "{pid}"}])
    parent = int(pid.read_text())
    relays = [int(text) for text in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    assert relays, "the agent started its relay"
    world.post(agent.session, "/stop")
    wait_until(lambda: not any(Path(f"/proc/{relay}").exists() for relay in relays), "the relay is gone")


def test_a_message_that_is_unknown_or_too_large_hurts_nobody(world: World) -> None:
    agent = ToolAgent(world)
    assert "compozy__tool_list" in agent.tools()
    answer = world.folder / "big.json"
    call = {"name": "compozy__tool_search", "arguments": {}}
    request = {"mcp": "tools/call", "params": call, "pad": ["query", 5 << 20]}
    agent.run([request, {"touch": str(answer), "content": "{last}"}])
    assert "too large" in json.loads(answer.read_text())["error"]["message"]
    unknown = agent.ask("no/such/method")
    assert unknown["error"]["code"] == -32601
    assert agent.structured("compozy__tool_list")["total"] > 10


# --- what may be called


def _tools_of(world: World, session: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {view["descriptor"]["tool_id"]: view for view in world.get(session, "/tools")["tools"]}


def test_an_agents_lists_decide_what_it_sees_and_why_is_explained(world: World) -> None:
    agent = ToolAgent(
        world,
        "narrow",
        tools="[compozy__session_*]",
        toolsets="[compozy__bootstrap]",
        deny_tools="[compozy__session_stop]",
    )
    names = agent.tools()
    assert "compozy__session_list" in names and "compozy__tool_search" in names
    assert "compozy__session_stop" not in names and "compozy__agent_list" not in names
    refused = agent.call("compozy__agent_list")
    assert refused["isError"] and "agent_allow" in refused["content"][0]["text"]
    views = _tools_of(world, agent.session)
    assert views["compozy__session_stop"]["decision"]["reason_codes"] == ["policy_denied"]
    asked = {"session_id": agent.session["id"]}
    explained = world.client.request("GET", "/api/tools/compozy__session_stop", query=asked).json()["tool"]
    last = explained["decision"]["layers"][-1]
    assert (last["layer"], last["detail"]) == ("agent_deny", "compozy__session_stop")
    found = agent.structured("compozy__tool_search", query="stop a session")
    denied = [row for row in found["tools"] if row["tool_id"] == "compozy__session_stop"]
    assert denied[0]["callable"] is False and denied[0]["reason_codes"] == ["policy_denied"]


def test_tools_off_leaves_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, config="[tools]\nenabled = false\n").start()
    try:
        world.agent("plain", {})
        session = world.create("plain")
        assert {tuple(v["decision"]["reason_codes"]) for v in _tools_of(world, session).values()} == {
            ("source_disabled",)
        }
        world.agent("tooled", {}, tools="[compozy__tool_list]")
        with pytest.raises(ApiError) as refused:
            world.create("tooled")
        assert refused.value.code == "hosted_mcp_unavailable" and "enabled is false" in refused.value.message
    finally:
        world.end()


@pytest.fixture
def no_mcp(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, config='[providers.bare]\ncommand = "true"\nsession_mcp = false\n').start()
    yield made
    made.end()


def test_a_provider_without_session_mcp_cannot_have_required_tools(no_mcp: World) -> None:
    no_mcp.agent("tooled", {}, provider="bare", toolsets="[compozy__sessions]")
    with pytest.raises(ApiError) as refused:
        no_mcp.create("tooled")
    assert (refused.value.status, refused.value.code) == (422, "hosted_mcp_unavailable")
    assert "'bare'" in refused.value.message and "compozy__sessions" in refused.value.message


@pytest.mark.parametrize(
    "fields",
    [{"tools": "[compozy__nope]"}, {"toolsets": "[compozy__nope]"}, {"tools": "[compozy__*, mcp__none__tool]"}],
    ids=["tool", "toolset", "server"],
)
def test_a_required_name_that_does_not_exist_fails_at_creation(world: World, fields: dict[str, str]) -> None:
    world.agent("wanting", {}, **fields)
    with pytest.raises(ApiError) as refused:
        world.create("wanting")
    assert (refused.value.status, refused.value.code) == (422, "hosted_mcp_unavailable")


def test_a_wildcard_that_matches_nothing_is_a_system_event(world: World) -> None:
    agent = ToolAgent(world, "hopeful", tools="[compozy__tool_*, elsewhere__*]")
    assert agent.tools() == [
        "compozy__tool_artifact_read",
        "compozy__tool_info",
        "compozy__tool_list",
        "compozy__tool_search",
    ]
    told = [event["content"]["text"] for event in world.events(agent.session, type="system")]
    assert "tools: 'elsewhere__*' matches no tool" in told
