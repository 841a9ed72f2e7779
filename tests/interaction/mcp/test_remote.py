"""Remote MCP servers over streamable http: headers, death and return, answers that are too large (issue 7 item 3)."""

from pathlib import Path

import pytest

from compozy.client import ApiError
from tests.interaction.mcp.stage import CONFIG, Stage, said
from tests.kit.daemons import free_port, wait_until
from tests.kit.mcp_remote import program

PLANTED = "Zp5-planted-header-key-77"


def test_a_remote_server_that_goes_and_comes_back_is_reached_again(tmp_path: Path) -> None:
    port = free_port()
    words = (str(port), "")
    stage = Stage(tmp_path, {}, {"far": {"url": f"http://127.0.0.1:{port}/mcp"}})
    try:
        with program("tests.kit.mcp_http", *words, port=port):
            agent = stage.agent()
            assert said(agent.call("mcp__far__shout", text="hi")) == "HI"
        gone = agent.call("mcp__far__shout", text="hi")
        assert gone["isError"] and "MCP server 'far'" in said(gone)
        assert agent.world.refresh(agent.session)["state"] == "active"
        with program("tests.kit.mcp_http", *words, port=port):
            wait_until(lambda: "mcp__far__shout" in agent.tools(), "the server is reached again")
            assert said(agent.call("mcp__far__shout", text="back")) == "BACK"
    finally:
        stage.end()


def test_headers_reach_the_server_and_their_secrets_nobody_else(tmp_path: Path) -> None:
    port = free_port()
    config = f"""{CONFIG}
[[mcp_servers]]
name = "far"
url = "http://127.0.0.1:{port}/mcp"
[mcp_servers.secret_headers]
X-Key = "env:PLANTED_KEY"
"""
    stage = Stage(tmp_path, {}, {}, config=config)
    with program("tests.kit.mcp_http", str(port), PLANTED, port=port):
        try:
            stage.world.end()
            stage.world.daemon.environment["PLANTED_KEY"] = PLANTED
            stage.world.start()
            assert said(stage.agent().call("mcp__far__shout", text="hi")) == "HI"
            home = stage.world.daemon.home.root
            files = [path for path in home.rglob("*") if path.is_file()]
            assert not [path for path in files if PLANTED.encode() in path.read_bytes()]
        finally:
            stage.end()


def test_an_answer_that_is_too_large_ends_the_connection_and_says_so(tmp_path: Path) -> None:
    port = free_port()
    with program("tests.kit.mcp_http", str(port), "", port=port):
        stage = Stage(tmp_path, {}, {"far": {"url": f"http://127.0.0.1:{port}/mcp"}}, config=CONFIG)
        try:
            agent = stage.agent()
            refused = agent.call("mcp__far__huge")
            assert refused["isError"] and "MCP server 'far'" in said(refused)
            assert said(agent.call("mcp__far__shout", text="still")) == "STILL"
        finally:
            stage.end()


def test_a_server_that_is_not_there_is_stated_and_the_session_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, {"well": "good"}, {"far": {"url": f"http://127.0.0.1:{free_port()}/mcp"}})
    try:
        agent = stage.agent()
        assert [name for name in agent.tools() if name.startswith("mcp__")] == ["mcp__well__echo"]
        assert stage.wait_state("far", "backoff", "failed")["last_error"]
    finally:
        stage.end()


def test_a_secret_header_that_leads_nowhere_keeps_a_session_from_being_created(tmp_path: Path) -> None:
    config = """
[[mcp_servers]]
name = "far"
url = "http://127.0.0.1:9/mcp"
[mcp_servers.secret_headers]
X-Key = "env:NOT_SET_ANYWHERE"
"""
    stage = Stage(tmp_path, {}, {}, config=config)
    try:
        with pytest.raises(ApiError) as refused:
            stage.agent()
        assert refused.value.code == "mcp_secret_unresolved" and "NOT_SET_ANYWHERE" in str(refused.value)
    finally:
        stage.end()
