"""What of all MCP definitions an agent gets with its session (reports P35–P38, P41, P42, P70; decisions D19)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.agents import received
from tests.kit.sessions import World

# Without hosted tools the resolved set is what the agent itself is given (decisions D19).
HOME_CONFIG = """
[tools]
hosted_mcp_enabled = false

[[mcp_servers]]
name = "b"
command = "home-b"
[mcp_servers.env]
MODE = "${RUN_MODE}"
[mcp_servers.secret_env]
HOME_KEY = "env:PLANTED_KEY"

[[providers.offline.mcp_servers]]
name = "b"
args = ["--from-provider"]
[providers.offline.mcp_servers.env]
MORE = "1"
"""
PLANTED = "Hk4-planted-home-key-33"


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[World]:
    """A home with servers a and b, and a workspace whose files may add to them."""
    world = World(tmp_path, config=HOME_CONFIG)
    world.daemon.environment["PLANTED_KEY"] = PLANTED
    world.daemon.home.mcp_file.write_text(json.dumps({"mcpServers": {"a": {"command": "home-a", "env": {"A": "1"}}}}))
    (world.workspace / ".compozy").mkdir()
    world.start()
    world.client.request("POST", "/api/workspaces/resolve", body={"path": str(world.workspace)})
    yield world
    world.end()


def write_servers(world: World, **servers: dict[str, object]) -> Path:
    path = world.workspace / ".compozy" / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def opened(record: Path, method: str = "session/new") -> list[dict[str, Any]]:
    """Return the servers that the agent was told of last."""
    params = [message["params"] for message in received(record) if message.get("method") == method]
    assert params, method
    found = params[-1]
    assert isinstance(found, dict)
    servers: list[dict[str, Any]] = found["mcpServers"]
    return servers


def grant(world: World, agent: str = "") -> None:
    """Trust what the workspace brings as it is now."""
    where = {"workspace": str(world.workspace), "agent": agent}
    report = world.client.request("GET", "/api/trust", query=where).json()["trust"]
    world.client.request("POST", "/api/trust", body={**where, "digest": report["digest"]})


def refusal(world: World, agent: str) -> dict[str, Any]:
    with pytest.raises(ApiError) as refused:
        world.create(agent)
    envelope: dict[str, Any] = refused.value.envelope
    return {"status": refused.value.status, **envelope}


def test_the_agent_gets_the_merge_of_home_provider_and_its_own_definition(servers: World) -> None:
    record = servers.folder / "record"
    own = [{"name": "c", "command": "agent-c"}, {"name": "b", "command": "agent-b", "env": {"MORE": "2"}}]
    name = servers.agent("mixed", {"record": str(record)}, provider="offline", mcp_servers=json.dumps(own))
    servers.prompt(servers.create(name))
    assert opened(record) == [
        {
            # One level of trust: fields mix, the later one wins, nothing is expanded.
            "name": "b",
            "command": "agent-b",
            "args": ["--from-provider"],
            "env": [
                {"name": "HOME_KEY", "value": PLANTED},
                {"name": "MODE", "value": "${RUN_MODE}"},
                {"name": "MORE", "value": "2"},
            ],
        },
        {"name": "a", "command": "home-a", "args": [], "env": [{"name": "A", "value": "1"}]},
        {"name": "c", "command": "agent-c", "args": [], "env": []},
    ]


def test_a_session_that_is_loaded_again_gets_the_same_servers(servers: World) -> None:
    record = servers.folder / "record"
    script = {"record": str(record), "capabilities": {"loadSession": True}, "load": True}
    session = servers.create(servers.agent("again", script))
    servers.prompt(session)
    first = opened(record)
    servers.post(session, "/stop")
    servers.daemon.stop()
    servers.end()
    servers.daemon.start()
    servers.prompt(session)
    methods = {str(message.get("method")) for message in received(record)}
    assert opened(record, "session/load" if "session/load" in methods else "session/new") == first
    assert [server["name"] for server in first] == ["b", "a"]


def test_an_empty_map_adds_and_removes_nothing(servers: World) -> None:
    record = servers.folder / "record"
    write_servers(servers)
    servers.prompt(servers.create(servers.agent("empty", {"record": str(record)})))
    assert [server["name"] for server in opened(record)] == ["b", "a"]


def test_a_repository_cannot_put_its_command_under_the_secrets_of_the_home(servers: World) -> None:
    record = servers.folder / "record"
    write_servers(servers, b={"command": "repo-b", "env": {"X": "1"}})
    name = servers.agent("guarded", {"record": str(record)})
    refused = refusal(servers, name)
    assert (refused["status"], refused["diagnostic"]["code"]) == (409, "trust_required")
    assert "repo-b" in refused["error"] and str(servers.workspace / ".compozy/mcp.json") in refused["error"]
    grant(servers, name)
    servers.prompt(servers.create(name))
    given = {server["name"]: server for server in opened(record)}
    assert given["b"] == {"name": "b", "command": "repo-b", "args": [], "env": [{"name": "X", "value": "1"}]}
    assert PLANTED not in json.dumps(opened(record))


def test_a_changed_mcp_json_asks_again_and_one_that_is_trusted_does_not(servers: World) -> None:
    write_servers(servers, d={"command": "repo-d"})
    name = servers.agent("asker")
    grant(servers, name)
    servers.create(name)
    write_servers(servers, d={"command": "repo-d", "args": ["--other"]})
    assert refusal(servers, name)["diagnostic"]["code"] == "trust_required"
    grant(servers, name)
    servers.create(name)


def test_a_server_that_the_agents_own_definition_hides_needs_no_trust(servers: World) -> None:
    record = servers.folder / "record"
    write_servers(servers, d={"command": "repo-d"})
    own = json.dumps([{"name": "d", "command": "mine"}])
    name = servers.agent("hider", {"record": str(record)}, mcp_servers=own)
    servers.prompt(servers.create(name))
    assert {server["name"]: server["command"] for server in opened(record)}["d"] == "mine"


def test_settings_of_a_workspace_bring_servers_only_when_they_are_trusted(servers: World) -> None:
    record = servers.folder / "record"
    path = servers.workspace / ".compozy" / "config.toml"
    path.write_text('[[mcp_servers]]\nname = "e"\ncommand = "repo-e"\n')
    name = servers.agent("settled", {"record": str(record)})
    assert refusal(servers, name)["diagnostic"]["code"] == "trust_required"
    grant(servers, name)
    servers.prompt(servers.create(name))
    assert [server["name"] for server in opened(record)] == ["b", "a", "e"]


@pytest.mark.parametrize(
    ("denied", "left"), [("mcp__*", []), ("mcp__b__*", ["a", "d"]), ("mcp__other__*", ["b", "a", "d"])]
)
def test_an_agent_says_which_inherited_servers_it_does_not_want(servers: World, denied: str, left: list[str]) -> None:
    record = servers.folder / "record"
    write_servers(servers, d={"command": "repo-d"})
    name = servers.agent("plain", {"record": str(record)}, deny_tools=json.dumps([denied]))
    if left:
        grant(servers, name)
    # Without any server nothing of the workspace is needed, so that nothing has to be trusted.
    servers.prompt(servers.create(name))
    assert [server["name"] for server in opened(record)] == left


@pytest.mark.parametrize("place", ["home", "workspace", "agent"])
def test_a_reference_that_leads_nowhere_fails_before_anything_starts(servers: World, place: str) -> None:
    record = servers.folder / "record"
    server: dict[str, object] = {"command": "x", "secret_env": {"API_BASE": "env:NOT_SET_ANYWHERE"}}
    name = servers.agent("needy", {"record": str(record)})
    if place == "home":
        servers.daemon.home.mcp_file.write_text(json.dumps({"mcpServers": {"needs": server}}))
    elif place == "workspace":
        write_servers(servers, needs=server)
        grant(servers, name)
    else:
        (servers.daemon.home.agents / name / "mcp.json").write_text(json.dumps({"mcpServers": {"needs": server}}))
    refused = refusal(servers, name)
    assert (refused["status"], refused["diagnostic"]["code"]) == (422, "mcp_secret_unresolved")
    assert all(word in refused["error"] for word in ("needs", "API_BASE", "NOT_SET_ANYWHERE"))
    assert not record.exists()
    # Denied, it is no hindrance.
    servers.create(servers.agent("content", deny_tools='["mcp__needs__*"]')) if place != "agent" else None


def test_a_remote_server_whose_header_leads_nowhere_fails_as_early(servers: World) -> None:
    own = [{"name": "far", "url": "https://far.example/mcp", "secret_headers": {"X-Key": "env:NOT_SET_ANYWHERE"}}]
    refused = refusal(servers, servers.agent("far", mcp_servers=json.dumps(own)))
    assert (refused["status"], refused["diagnostic"]["code"]) == (422, "mcp_secret_unresolved")
    assert "X-Key" in refused["error"] and "NOT_SET_ANYWHERE" in refused["error"]


@pytest.mark.parametrize("place", ["home", "workspace"])
def test_a_mistake_in_a_shared_file_is_named_with_its_line_and_hurts_nobody_else(servers: World, place: str) -> None:
    home = servers.daemon.home
    path = home.mcp_file if place == "home" else servers.workspace / ".compozy" / "mcp.json"
    before = home.mcp_file.read_text()
    path.write_text('{"mcpServers": {"bell": {"command": "bell-srv",\n "descrption": "x", "type": "stdio"}}}')
    name = servers.agent("reader")
    refused = refusal(servers, name)
    assert refused["status"] == 422 and f"{path}:2: unknown field" in refused["error"]
    report = servers.client.request(
        "GET", "/api/mcp/servers", query={"workspace": str(servers.workspace), "agent": name}
    ).json()["mcp"]
    assert [server["name"] for server in report["servers"]] == (["b"] if place == "home" else ["b", "a"])
    assert [problem.split(":")[0] for problem in report["problems"]] == [str(path)] * 2
    path.write_text(before if place == "home" else "{}")
    servers.create(name)


def test_literal_secrets_of_every_place_reach_the_agent_and_stay_out_of_the_store(servers: World) -> None:
    record = servers.folder / "record"
    literal = "tok_9d2e7-literal-of-the-home"
    home = servers.daemon.home
    home.mcp_file.write_text(json.dumps({"mcpServers": {"a": {"command": "x", "env": {"SERVICE_TOKEN": literal}}}}))
    session = servers.create(servers.agent("tokened", {"record": str(record)}))
    servers.prompt(session)
    assert opened(record)[1]["env"] == [{"name": "SERVICE_TOKEN", "value": literal}]
    servers.daemon.stop()
    found = [path for path in home.root.rglob("*") if path.is_file() and literal.encode() in path.read_bytes()]
    assert found == [home.mcp_file]


def test_a_literal_secret_of_a_file_that_changed_since_is_not_sent(servers: World) -> None:
    record = servers.folder / "record"
    path = write_servers(servers, d={"command": "repo-d", "env": {"D_TOKEN": "first-value-of-the-repo"}})
    name = servers.agent("careful", {"record": str(record)})
    grant(servers, name)
    session = servers.create(name)
    path.write_text(path.read_text().replace("first-value", "other-value"))
    with pytest.raises(ApiError) as refused:
        servers.post(session, "/prompt", servers.prompt_body("go"))
    assert "D_TOKEN" in str(refused.value) and str(path) in str(refused.value)
    assert not record.exists()
