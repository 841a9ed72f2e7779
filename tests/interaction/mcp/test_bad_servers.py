"""MCP servers that hang, die, flood, answer nonsense or far too much: a stated error each, all else unharmed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interaction.mcp.stage import Stage, said
from tests.kit.daemons import wait_until
from tests.kit.hosted import ToolAgent

KINDS = (
    "dies",
    "dies_on_call",
    "floods",
    "long_line",
    "huge",
    "large",
    "bad_schema",
    "no_schema",
    "collide",
    "noisy",
    "no_list",
    "fails",
)
PLANTED = "Qw8-planted-server-key-51"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One daemon with a server of every kind, and one that is well."""
    kinds = {**{kind: kind for kind in KINDS}, "well": "good", "my-shop": "good", "my_shop": "good"}
    ghost = {"ghost": {"command": "no-such-mcp-server"}}
    stage = Stage(
        tmp_path_factory.mktemp("bad"), {**kinds, "well": "good", "my-shop": "good", "my_shop": "good"}, ghost
    )
    yield stage
    stage.end()


def agent_of(stage: Stage, *servers: str) -> ToolAgent:
    """Return an agent that is given these servers alone."""
    tools = ", ".join([*(f"mcp__{name}__*" for name in servers), "compozy__*"])
    return stage.agent(tools=f"[{tools}]")


def test_a_server_that_dies_at_once_is_started_again_with_growing_pauses_and_says_why(shared: Stage) -> None:
    made, agent = shared, agent_of(shared, "dies", "well")
    assert [name for name in agent.tools() if name.startswith("mcp__")] == ["mcp__well__echo"]
    wait_until(lambda: made.status("dies")["restarts"] >= 1, "it was started again")
    status = made.wait_state("dies", "backoff", "failed")
    assert "exited with code 4; it wrote: cannot open the database" in status["last_error"]
    assert agent.call("mcp__well__echo", text="still")["content"][0]["text"] == "echo: still"
    assert agent.world.refresh(agent.session)["state"] == "active"


def test_what_a_server_prints_of_its_secrets_is_shown_nowhere(tmp_path: Path) -> None:
    made = Stage(tmp_path, {})
    try:
        made.world.end()
        made.world.daemon.environment["PLANTED_KEY"] = PLANTED
        made.define({"broken": {**made.scripted("dies"), "secret_env": {"SERVER_KEY": "env:PLANTED_KEY"}}})
        made.world.start()
        made.agent().tools()
        status = made.wait_state("broken", "backoff", "failed")
        assert "cannot open the database with" in status["last_error"]
        assert PLANTED not in str(status)
        home = made.world.daemon.home.root
        files = [path for path in home.rglob("*") if path.is_file()]
        assert not [path for path in files if PLANTED.encode() in path.read_bytes()]
    finally:
        made.end()


def test_a_server_that_dies_during_a_call_fails_that_call_and_is_there_for_the_next(shared: Stage) -> None:
    agent = agent_of(shared, "dies_on_call")
    dead = agent.call("mcp__dies_on_call__echo", text="die")
    assert dead["isError"] and "MCP server 'dies_on_call'" in said(dead)
    assert said(agent.call("mcp__dies_on_call__echo", text="again")) == "echo: again"
    assert shared.status("dies_on_call")["restarts"] == 1


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("floods", "flood", "it floods: more messages that nobody asked for than are read"),
        ("long_line", "long", "it sent a message of more than 16777216 bytes"),
        ("huge", "huge", "it sent a message of more than 16777216 bytes"),
    ],
)
def test_a_server_that_sends_too_much_is_ended_and_says_so(shared: Stage, kind: str, text: str, why: str) -> None:
    agent = agent_of(shared, kind, "well")
    refused = agent.call(f"mcp__{kind}__echo", text=text)
    assert refused["isError"] and why in said(refused)
    assert said(agent.call("mcp__well__echo", text="fine")) == "echo: fine"
    assert said(agent.call(f"mcp__{kind}__echo", text="again")) == "echo: again"
    assert why in shared.status(kind)["last_error"]


def test_a_large_result_is_kept_as_an_artifact_and_read_in_pages(shared: Stage) -> None:
    agent = agent_of(shared, "large")
    result = agent.call("mcp__large__echo", text="large")
    (artifact,) = result["_meta"]["compozy/artifacts"]
    assert artifact["bytes"] == 2 << 20 and not result.get("isError")
    name = artifact["uri"].removeprefix("compozy-artifact:")
    page = agent.structured("compozy__tool_artifact_read", artifact_id=name, offset=(2 << 20) - 10)
    assert (page["bytes"], page["eof"]) == (10, True)


def test_tools_with_unusable_schemas_are_shown_with_the_reason_and_the_others_work(shared: Stage) -> None:
    agent = agent_of(shared, "bad_schema", "no_schema")
    found = [name for name in agent.tools() if name.startswith("mcp__")]
    assert found == ["mcp__bad_schema__echo", "mcp__no_schema__echo"]
    broken = agent.structured("compozy__tool_info", tool_id="mcp__bad_schema__broken")
    assert "schema_invalid" in str(broken)
    notes = shared.status("no_schema")["notes"]
    assert any("tool 3 has no name" in note for note in notes)
    assert any("'bare': its input schema is no JSON object" in note for note in notes)


def test_names_that_become_one_id_can_be_called_by_nobody(shared: Stage) -> None:
    agent = agent_of(shared, "collide")
    assert [name for name in agent.tools() if name.startswith("mcp__")] == ["mcp__collide__echo"]
    refused = agent.call("mcp__collide__get_it", text="x")
    assert refused["isError"] and "conflicted_sanitized_name" in said(refused)
    notes = shared.status("collide")["notes"]
    assert any("'get-it', 'Get It' become one id, 'mcp__collide__get_it'" in note for note in notes)
    assert any("is left out: id_too_long" in note for note in notes)


def test_two_servers_whose_names_become_one_conflict(shared: Stage) -> None:
    agent = agent_of(shared, "my_shop")
    assert not [name for name in agent.tools() if name.startswith("mcp__")]
    assert "conflicted_sanitized_name" in said(agent.call("mcp__my_shop__echo", text="x"))


def test_a_server_that_prints_beside_its_messages_works(shared: Stage) -> None:
    assert said(agent_of(shared, "noisy").call("mcp__noisy__echo", text="hi")) == "echo: hi"


def test_a_list_that_is_no_list_is_stated(shared: Stage) -> None:
    agent_of(shared, "no_list").tools()
    status = shared.wait_state("no_list", "backoff", "failed")
    assert status["last_error"] == "its list of tools is no list of tools"


def test_a_tool_that_reports_its_own_failure_is_a_result(shared: Stage) -> None:
    result = agent_of(shared, "fails").call("mcp__fails__echo", text="x")
    assert result["isError"] and said(result) == "cannot"


def test_a_program_that_does_not_exist_is_stated_and_the_doctor_names_it(shared: Stage) -> None:
    agent_of(shared, "ghost").tools()
    status = shared.wait_state("ghost", "backoff", "failed")
    assert "'no-such-mcp-server' was not found" in status["last_error"]
    report = shared.world.client.request("GET", "/api/doctor", query={"only": "mcp"}).json()
    assert any("'ghost' does not work" in item["message"] for item in report["items"])
