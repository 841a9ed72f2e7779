"""One merge table for every place an MCP server comes from (decisions D19; contract §2.1, §2.4; reports P37)."""

from itertools import pairwise

import pytest

from compozy.config.mcp.merge import McpLayer, merge_layers
from compozy.model.definition import McpAuth, McpServer
from compozy.model.mcp import McpLevel, McpPlace

LOW = McpServer(name="b", command="low", args=("1",), env={"A": "low", "B": "low"})
HIGH = McpServer(name="b", command="high", env={"B": "high", "C": "high"})


def layer(place: McpPlace, level: McpLevel, *servers: McpServer, path: str = "") -> McpLayer:
    return McpLayer(place=place, level=level, path=path or f"{level}/{place}", servers=servers)


# In the order in which they are read.
PLACES: tuple[tuple[McpPlace, McpLevel], ...] = (
    ("config.toml", "home"),
    ("mcp.json", "home"),
    ("config.toml", "workspace"),
    ("mcp.json", "workspace"),
    ("provider", "home"),
    ("provider", "workspace"),
    ("agent", "home"),
    ("agent", "workspace_agent"),
    ("agent", "extension"),
    ("skill", "skill"),
)


@pytest.mark.parametrize("low", PLACES, ids="-".join)
@pytest.mark.parametrize("high", PLACES, ids="-".join)
def test_of_any_two_places_the_later_wins_and_fields_mix_within_one_level_only(
    low: tuple[McpPlace, McpLevel], high: tuple[McpPlace, McpLevel]
) -> None:
    merged = merge_layers([layer(*low, LOW), layer(*high, HIGH, path="second")])["b"]
    assert merged.winner.path == "second" and merged.server.command == "high"
    is_mixed = low[1] == high[1] and high[0] != "mcp.json"
    if is_mixed:
        assert merged.server.args == ("1",)
        assert merged.server.env == {"A": "low", "B": "high", "C": "high"}
        assert [standing for _, standing in merged.sources] == ["merged", "effective"]
        assert {key: one.path == "second" for key, one in merged.keys.items()} == {
            "command": True,
            "args": False,
            "env.A": False,
            "env.B": True,
            "env.C": True,
        }
    else:
        assert merged.server == HIGH
        assert [standing for _, standing in merged.sources] == ["replaced", "effective"]
        assert {one.path for one in merged.keys.values()} == {"second"}


def test_what_a_repository_replaced_does_not_come_back_through_a_later_place() -> None:
    secret = McpServer(name="b", command="trusted", secret_env={"KEY": "env:HOME_KEY"})
    theirs = McpServer(name="b", command="theirs")
    mine = McpServer(name="b", env={"A": "1"})
    merged = merge_layers(
        [
            layer("config.toml", "home", secret),
            layer("mcp.json", "workspace", theirs),
            layer("provider", "home", mine),
        ]
    )["b"]
    assert merged.server == theirs and merged.winner.place == "mcp.json"
    assert [standing for _, standing in merged.sources] == ["replaced", "effective", "replaced"]


def test_servers_of_different_names_all_stay_and_an_empty_place_changes_nothing() -> None:
    a, c = McpServer(name="a", command="a"), McpServer(name="c", url="https://c.example")
    merged = merge_layers(
        [layer("mcp.json", "home", a, LOW), layer("mcp.json", "workspace"), layer("agent", "home", c)]
    )
    assert list(merged) == ["a", "b", "c"] and [one.server for one in merged.values()] == [a, LOW, c]


def test_another_transport_replaces_the_whole_server_also_within_a_level() -> None:
    remote = McpServer(name="b", url="https://b.example", headers={"X-Team": "blue"})
    for first, second in pairwise((LOW, remote, LOW)):
        merged = merge_layers([layer("config.toml", "home", first), layer("provider", "home", second)])["b"]
        assert merged.server == second


def test_a_key_is_either_literal_or_a_reference_whichever_is_said_later() -> None:
    literal = McpServer(name="b", command="b", env={"K": "1"})
    secret = McpServer(name="b", command="b", secret_env={"K": "env:K"})
    up = merge_layers([layer("config.toml", "home", literal), layer("agent", "home", secret)])["b"].server
    assert (up.env, up.secret_env) == ({}, {"K": "env:K"})
    down = merge_layers([layer("config.toml", "home", secret), layer("agent", "home", literal)])["b"].server
    assert (down.env, down.secret_env) == ({"K": "1"}, {})


def test_headers_are_one_whatever_their_case_and_a_blank_sign_in_says_nothing() -> None:
    low = McpServer(name="r", url="https://r.example", headers={"X-Team": "a"}, auth=McpAuth(registration="auto"))
    high = McpServer(name="r", url="https://r.example", headers={"x-team": "b"}, auth=McpAuth())
    server = merge_layers([layer("config.toml", "home", low), layer("agent", "home", high)])["r"].server
    assert server.headers == {"x-team": "b"} and server.auth == McpAuth(registration="auto")
