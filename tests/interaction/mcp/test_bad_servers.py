"""MCP servers that hang, die, flood, answer nonsense or far too much: a stated error each, all else unharmed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interaction.mcp.stage import Stage, said
from tests.kit.daemons import wait_until

Make = Callable[..., Stage]
PLANTED = "Qw8-planted-server-key-51"


def test_a_server_that_dies_at_once_is_started_again_with_growing_pauses_and_says_why(stage: Make) -> None:
    made = stage(broken="dies", well="good")
    agent = made.agent()
    assert [name for name in agent.tools() if name.startswith("mcp__")] == ["mcp__well__echo"]
    wait_until(lambda: made.status("broken")["restarts"] >= 1, "it was started again")
    status = made.wait_state("broken", "backoff", "failed")
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


def test_a_server_that_dies_during_a_call_fails_that_call_and_is_there_for_the_next(stage: Make) -> None:
    made = stage(frail="dies_on_call")
    agent = made.agent()
    dead = agent.call("mcp__frail__echo", text="die")
    assert dead["isError"] and "MCP server 'frail'" in said(dead)
    assert said(agent.call("mcp__frail__echo", text="again")) == "echo: again"
    assert len(made.pids) == 2


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("floods", "flood", "it floods: more messages that nobody asked for than are read"),
        ("long_line", "long", "it sent a message of more than 16777216 bytes"),
        ("huge", "huge", "it sent a message of more than 16777216 bytes"),
    ],
)
def test_a_server_that_sends_too_much_is_ended_and_says_so(stage: Make, kind: str, text: str, why: str) -> None:
    made = stage(bad=kind, well="good")
    agent = made.agent()
    refused = agent.call("mcp__bad__echo", text=text)
    assert refused["isError"] and why in said(refused)
    assert said(agent.call("mcp__well__echo", text="fine")) == "echo: fine"
    assert said(agent.call("mcp__bad__echo", text="again")) == "echo: again"
    assert why in made.status("bad")["last_error"]


def test_a_large_result_is_kept_as_an_artifact_and_read_in_pages(stage: Make) -> None:
    agent = stage(big="large").agent()
    result = agent.call("mcp__big__echo", text="large")
    (artifact,) = result["_meta"]["compozy/artifacts"]
    assert artifact["bytes"] == 2 << 20 and not result.get("isError")
    name = artifact["uri"].removeprefix("compozy-artifact:")
    page = agent.structured("compozy__tool_artifact_read", artifact_id=name, offset=(2 << 20) - 10)
    assert (page["bytes"], page["eof"]) == (10, True)


def test_tools_with_unusable_schemas_are_shown_with_the_reason_and_the_others_work(stage: Make) -> None:
    made = stage(one="bad_schema", two="no_schema")
    agent = made.agent()
    assert [name for name in agent.tools() if name.startswith("mcp__")] == ["mcp__one__echo", "mcp__two__echo"]
    broken = agent.structured("compozy__tool_info", tool_id="mcp__one__broken")
    assert "schema_invalid" in str(broken)
    notes = made.status("two")["notes"]
    assert any("tool 3 has no name" in note for note in notes)
    assert any("'bare': its input schema is no JSON object" in note for note in notes)


def test_names_that_become_one_id_can_be_called_by_nobody(stage: Make) -> None:
    made = stage(shop="collide")
    agent = made.agent()
    assert [name for name in agent.tools() if name.startswith("mcp__")] == ["mcp__shop__echo"]
    refused = agent.call("mcp__shop__get_it", text="x")
    assert refused["isError"] and "conflicted_sanitized_name" in said(refused)
    notes = made.status("shop")["notes"]
    assert any("'get-it', 'Get It' become one id, 'mcp__shop__get_it'" in note for note in notes)
    assert any("is left out: id_too_long" in note for note in notes)


def test_two_servers_whose_names_become_one_conflict(stage: Make) -> None:
    made = stage(**{"my-shop": "good", "my_shop": "good"})
    agent = made.agent()
    assert not [name for name in agent.tools() if name.startswith("mcp__")]
    assert "conflicted_sanitized_name" in said(agent.call("mcp__my_shop__echo", text="x"))


def test_a_server_that_prints_beside_its_messages_works(stage: Make) -> None:
    assert said(stage(loud="noisy").agent().call("mcp__loud__echo", text="hi")) == "echo: hi"


def test_a_list_that_is_no_list_is_stated(stage: Make) -> None:
    made = stage(odd="no_list")
    made.agent().tools()
    assert made.wait_state("odd", "backoff", "failed")["last_error"] == "its list of tools is no list of tools"


def test_a_tool_that_reports_its_own_failure_is_a_result(stage: Make) -> None:
    result = stage(sad="fails").agent().call("mcp__sad__echo", text="x")
    assert result["isError"] and said(result) == "cannot"


def test_a_program_that_does_not_exist_is_stated(tmp_path: Path) -> None:
    made = Stage(tmp_path, {}, {"ghost": {"command": "no-such-mcp-server"}})
    try:
        made.agent().tools()
        status = made.wait_state("ghost", "backoff", "failed")
        assert "'no-such-mcp-server' was not found" in status["last_error"]
    finally:
        made.end()
