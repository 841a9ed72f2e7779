"""`compozy mcp list|explain`: which file won per server and per key (reports P35, P37; decisions D1, D19)."""

import json
from collections.abc import Iterator

import pytest

from tests.kit.cli import Cli, sequence, write_agent

HOME = """
[[mcp_servers]]
name = "b"
command = "home-b"
args = ["--token", "tok_hidden_51"]
[mcp_servers.env]
MODE = "${RUN_MODE}"
API_TOKEN = "literal-value-77"
[mcp_servers.secret_env]
THERE = "env:PATH"
GONE = "env:NOT_SET_ANYWHERE"
"""


@pytest.fixture
def defined(shared: Cli) -> Iterator[Cli]:
    """Servers b in the home's settings, b and d in a workspace that nobody trusted, r remote, c of an agent."""
    before = shared.home.config_file.read_text()
    shared.home.config_file.write_text(f"{before}{HOME}")
    remote = {"r": {"url": "https://tools.example/mcp"}}
    shared.home.mcp_file.write_text(json.dumps({"mcpServers": remote}, indent=1))
    own = '[{name: c, command: own-c, env: {A: "1"}}]'
    agent = write_agent(shared.folder / ".compozy", "picky", f"---\nname: picky\nmcp_servers: {own}\n---\nHello.\n")
    agent.with_name("mcp.json").write_text('{"mcpServers": {"c": {"command": "beside-c"}}}')
    lone = "---\nname: lone\ndeny_tools: ['mcp__*']\n---\nHello.\n"
    write_agent(shared.folder / ".compozy", "lone", lone)
    servers = {"b": {"command": "repo-b"}, "d": {"command": "repo-d"}}
    (shared.folder / ".compozy" / "mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=1))
    assert shared("workspace", "add", ".").code == 0
    yield shared
    shared.home.config_file.write_text(before)
    shared.home.mcp_file.unlink()


def by_name(rows: object) -> dict[str, dict[str, object]]:
    return {str(row["name"]): row for row in sequence(rows)}


def test_each_server_says_which_file_won_and_what_is_hidden(defined: Cli) -> None:
    report = defined("mcp", "list", "--agent", "picky", "-o", "json").object()
    servers = by_name(report["servers"])
    folder = defined.folder / ".compozy"
    assert {name: row["state"] for name, row in servers.items()} == {
        "b": "untrusted",
        "r": "in_force",
        "d": "untrusted",
        "c": "untrusted",
    }
    assert servers["b"]["at"] == f"{folder}/mcp.json:3"
    hidden = [source for source in sequence(servers["b"]["sources"]) if source["standing"] == "replaced"]
    assert [source["level"] for source in hidden] == ["home"] and "across levels" in str(hidden[0]["why"])
    assert str(hidden[0]["at"]).startswith(f"{defined.home.config_file}:")
    assert servers["c"]["at"] == f"{folder}/agents/picky/mcp.json:1"
    assert sequence(servers["c"]["sources"])[0]["at"] == f"{folder}/agents/picky/AGENT.md:3"
    assert servers["r"]["transport"] == "http" and servers["r"]["tools"] == "mcp__r__*"
    assert str(defined.home.mcp_file) in report["looked"]  # type: ignore[operator]


def test_each_key_says_where_it_stands_and_no_value_of_a_secret_is_shown(defined: Cli) -> None:
    (defined.folder / ".compozy" / "mcp.json").unlink()
    server = defined("mcp", "explain", "b", "-o", "json")
    keys = {str(key["key"]): key for key in sequence(server.object()["keys"])}
    at = str(defined.home.config_file)
    line = defined.home.config_file.read_text().splitlines().index('command = "home-b"') + 1
    assert keys["command"]["value"] == "home-b"
    assert keys["command"]["place"] == f"{at}:{line}"
    assert keys["env.API_TOKEN"]["state"] == "redacted" and keys["env.API_TOKEN"]["value"] == "[REDACTED]"
    assert keys["env.MODE"]["state"] == "set" and "value" not in keys["env.MODE"]
    assert "nothing is expanded" in str(keys["env.MODE"]["note"])
    assert (keys["secret_env.THERE"]["state"], keys["secret_env.GONE"]["state"]) == ("set", "unset")
    assert keys["secret_env.GONE"]["value"] == "variable NOT_SET_ANYWHERE"
    for words in (("mcp", "explain"), ("mcp", "explain", "b"), ("mcp", "list", "-o", "json"), ("mcp", "list")):
        call = defined(*words)
        assert call.code == 0
        for secret in ("literal-value-77", "tok_hidden_51", "RUN_MODE"):
            assert secret not in call.out + call.err, words


def test_an_agent_that_denies_all_servers_is_given_none_and_the_list_says_why(defined: Cli) -> None:
    call = defined("mcp", "list", "--agent", "lone")
    assert call.code == 0 and call.out.count("denied") == 3
    assert "deny_tools of agent 'lone' has 'mcp__*'" in call.err


def test_a_person_reads_where_each_part_comes_from(defined: Cli) -> None:
    call = defined("mcp", "explain", "b", "--workspace", str(defined.folder))
    assert call.code == 0
    assert "needs trust: nobody trusted" in call.out and "repo-b" in call.out
    assert "Hidden" in call.out and "nothing is mixed" in call.out
    unknown = defined("mcp", "explain", "nobody")
    assert unknown.code == 69 and "defined are: b, " in unknown.err


def test_a_file_that_does_not_load_is_named_and_the_others_are_listed(defined: Cli) -> None:
    path = defined.folder / ".compozy" / "mcp.json"
    path.write_text('{"mcpServers": {"bell": {"command": "x",\n "descrption": "y"}}}')
    call = defined("mcp", "list")
    assert call.code == 0 and f"not read: {path}:2: unknown field" in call.err
    assert "home-b" not in call.out and "\nb " in call.out
