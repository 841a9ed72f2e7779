"""`compozy roles` and what a reserved name means (contract §3.6, §9)."""

import pytest

from tests.kit.cli import Cli, sequence, write_agent


def test_every_role_is_listed_and_no_built_in_agent_is(shared: Cli) -> None:
    rows = {row["role"]: row for row in sequence(shared("roles", "list", "-o", "json").json())}
    assert len(rows) == 6
    assert rows["coordinator"]["agent"] == "coordinator" and rows["coordinator"]["enabled"] is False
    assert rows["dream"]["agent"] == "dreaming-curator"
    names = {row["name"] for row in sequence(shared("agent", "list", "--all", "-o", "json").json())}
    assert not names & {"coordinator", "dreaming-curator"}
    table = shared("roles", "list").out
    assert "(the invoking agent)" in table


def test_a_role_shows_where_each_value_comes_from(shared: Cli) -> None:
    shown = shared("roles", "show", "dream").out
    assert "dreaming-curator (from builtin)" in shown and "scripted (from project default)" in shown
    found = shared("roles", "show", "dream", "-o", "json").object()
    assert found["provenance"] and found["diagnostics"] == []


def test_an_unknown_role_is_refused_with_the_nearest(shared: Cli) -> None:
    refused = shared("roles", "show", "dreem")
    assert refused.code == 71 and "did you mean 'dream'" in refused.err


def test_a_workspace_routes_a_role_to_its_own_agent(shared: Cli) -> None:
    write_agent(shared.folder / ".compozy", "scribe", "---\nname: scribe\nprovider: offline\n---\nYou name things.\n")
    (shared.folder / ".compozy" / "config.toml").write_text('[roles.auto_title]\nagent = "scribe"\n')
    assert shared("workspace", "add", ".").code == 0
    role = shared("roles", "show", "auto_title", "-o", "json").object()
    assert (role["agent"], role["provider"], role["resolution_mode"]) == ("scribe", "offline", "catalog")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[roles.dreem]\nagent = "x"\n', "did you mean 'dream'"),
        ('[roles.dream]\nagnet = "x"\n', "did you mean 'agent'"),
        ('[roles.memory_controller]\nagent = "x"\n', "roles.memory_controller.agent"),
        ("[roles.coordinator]\nmax_children = 9\n", "roles.coordinator.max_children"),
        ('[roles.coordinator]\nttl = "30s"\n', "roles.coordinator.ttl must be 1m to 24h"),
        ('[roles.dream]\nreasoning_effort = "huge"\n', "roles.dream.reasoning_effort"),
    ],
)
def test_a_mistake_in_a_role_is_named_with_file_and_line(cli: Cli, text: str, words: str) -> None:
    cli.home.config_file.write_text(cli.home.config_file.read_text() + text)
    refused = cli("daemon", "start")
    assert refused.code == 78 and words in refused.err and "config.toml:" in refused.err
