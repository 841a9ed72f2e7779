"""Reading every place of MCP servers, with positions for what is wrong (reports P35, P41; decisions D10, D19)."""

import json
from pathlib import Path

import pytest

from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.mcp.layers import settings_layers
from compozy.config.mcp.merge import merge_layers
from compozy.config.mcp.origin_lines import Lines

STDIO = '[[{0}mcp_servers]]\nname = "{1}"\ncommand = "{2}"\n[{0}mcp_servers.env]\nMODE = "${{RUN_MODE}}"\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".compozy").mkdir(parents=True)
    return tmp_path / "repo"


def test_every_place_is_read_in_order_and_values_stay_as_they_are_written(home: Home, repo: Path) -> None:
    server = {"command": "x", "env": {"MODE": "${RUN_MODE}"}}
    home.config_file.write_text(STDIO.format("", "a", "x") + STDIO.format("providers.claude.", "e", "x"))
    home.mcp_file.write_text(json.dumps({"mcpServers": {"b": server}}))
    (repo / ".compozy/config.toml").write_text(
        STDIO.format("", "c", "x") + STDIO.format("providers.claude-code.", "f", "x")
    )
    (repo / ".compozy/mcp.json").write_text(json.dumps({"mcp_servers": {"d": server}}))
    layers, problems = settings_layers(home, repo, "claude")
    assert problems == []
    assert [(one.place, one.level, one.servers[0].name, bool(one.digest)) for one in layers] == [
        ("config.toml", "home", "a", False),
        ("mcp.json", "home", "b", False),
        ("config.toml", "workspace", "c", True),
        ("mcp.json", "workspace", "d", True),
        ("provider", "home", "e", False),
        ("provider", "workspace", "f", True),
    ]
    assert all(one.servers[0].env == {"MODE": "${RUN_MODE}"} for one in layers)
    assert [one.place for one in settings_layers(home, repo, "codex")[0]].count("provider") == 0


def test_a_typing_mistake_is_named_with_file_line_server_and_the_nearest_key(home: Home) -> None:
    home.config_file.write_text('[[mcp_servers]]\nname = "bell"\ncomand = "bell-srv"\ntype = "stdio"\n')
    with pytest.raises(ConfigError) as refused:
        load_config(home)
    text = refused.value.message
    assert f"{home.config_file}:3: unknown field" in text and "did you mean 'command'" in text.replace('"', "'")
    assert f"{home.config_file}:4: unknown field" in text and "transport" in text


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[[mcp_servers]]\nname = "m"\n', 1, "command is required"),
        ('[[mcp_servers]]\nname = "m"\ncommand = "x"\nurl = "https://x.example"\n', 3, "only valid for stdio"),
        ('[[mcp_servers]]\nname = "m"\ncommand = "x"\n[mcp_servers.secret_env]\nK = "plain"\n', 5, "secret ref"),
        ('[[mcp_servers]]\nname = "m"\ncommand = "x"\n[mcp_servers.env]\nNODE_OPTIONS = "x"\n', 5, "forbidden"),
        ('[[mcp_servers]]\nname = "m"\ncommand = 7\n', 3, "must be a string"),
        ('[[mcp_servers]]\nname = "m"\ncommand = "x"\n[[mcp_servers]]\nname = " m"\ncommand = "y"\n', 5, "above"),
        ('[[providers.claude.mcp_servers]]\nname = "m"\ncomand = "x"\n', 3, "unknown field"),
    ],
)
def test_a_server_that_cannot_be_is_named_with_file_and_line(home: Home, text: str, line: int, words: str) -> None:
    home.config_file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_config(home)
    assert f"{home.config_file}:{line}: " in refused.value.message and words in refused.value.message


def test_a_broken_file_gives_no_layer_and_is_named_while_the_others_are_read(home: Home, repo: Path) -> None:
    home.mcp_file.write_text('{"mcpServers": {"a": {"command": "x"}}}')
    (repo / ".compozy/mcp.json").write_text('{"mcpServers": {"bell": {\n"command": "x", "descrption": "y"}}}')
    (repo / ".compozy/config.toml").write_text("[[mcp_servers]\n")
    layers, problems = settings_layers(home, repo, "")
    assert [one.level for one in layers] == ["home"]
    assert len(problems) == 2
    assert problems[0].startswith(f"{repo}/.compozy/config.toml:1: invalid TOML")
    assert problems[1].startswith(f"{repo}/.compozy/mcp.json:2: unknown field")


def test_each_key_is_found_on_the_line_where_it_was_written(home: Home) -> None:
    home.config_file.write_text('[[mcp_servers]]\nname = "a"\ncommand = "x"\n\n[mcp_servers.env]\nB = "1"\n')
    home.mcp_file.write_text('{"mcpServers": {\n "b": {\n  "command": "y",\n  "env": {\n   "C": "1"}}}}')
    merged, lines = merge_layers(settings_layers(home, None, "")[0]), Lines()
    a, b = merged["a"], merged["b"]
    assert lines.at(a.winner, "a", "command") == f"{home.config_file}:3"
    assert lines.at(a.winner, "a", "env.B") == f"{home.config_file}:6"
    assert lines.at(b.winner, "b") == f"{home.mcp_file}:2"
    assert lines.at(b.winner, "b", "env.C") == f"{home.mcp_file}:5"
