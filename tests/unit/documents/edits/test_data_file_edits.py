"""Edits of TOML and JSON files: capability catalogs, mcp.json, config.toml (decisions D3, P30)."""

import json

import pytest

from compozy.documents.edits import EditRefused, edit_json, edit_toml

CONFIG = """# home configuration

[http]   # where to listen
port = 2123 # the usual
host = 'localhost'

[defaults]
agent = "general"

[[hooks.declarations]]
name = "a"

[[hooks.declarations]]
name = "b"
"""


def test_one_value_of_a_config_file_changes_one_line() -> None:
    after = edit_toml(CONFIG, {("http", "port"): 2124}).text
    assert after == CONFIG.replace("port = 2123 #", "port = 2124 #")


def test_a_key_is_added_to_its_table_and_a_table_is_made_when_missing() -> None:
    after = edit_toml(CONFIG, {("defaults", "provider"): "offline"}).text
    assert after == CONFIG.replace('agent = "general"\n', 'agent = "general"\nprovider = "offline"\n')
    made = edit_toml(CONFIG, {("trust", "mode"): "off"}).text
    assert made == CONFIG + '\n[trust]\nmode = "off"\n'
    assert edit_toml(made, {("trust", "mode"): "off"}).text == made


def test_tables_in_tables_get_headers_of_their_own_after_everything_else() -> None:
    changes = {
        ("providers", "claude", "models", "default"): "m",
        ("defaults", "provider"): "claude",
        ("hooks", "declarations", 1, "event"): "turn.end",
    }
    after = edit_toml(CONFIG, changes).text
    expected = CONFIG.replace('agent = "general"\n', 'agent = "general"\nprovider = "claude"\n')
    assert after == expected + 'event = "turn.end"\n\n[providers.claude.models]\ndefault = "m"\n'
    assert edit_toml("", {("a", "b"): 1, "c": 2}).text == "c = 2\n\n[a]\nb = 1\n"


def test_a_table_of_a_list_is_removed_alone() -> None:
    after = edit_toml(CONFIG, {("hooks", "declarations", 0): None}).text
    assert after == CONFIG.replace('[[hooks.declarations]]\nname = "a"\n', "")


def test_a_value_without_final_newline_stays_without_one() -> None:
    assert edit_toml("a = 1", {"a": 2}).text == "a = 2"
    assert edit_toml("a = 1", {"b": 2}).text == "a = 1\nb = 2"
    assert edit_toml("", {"b": 2}).text == "b = 2\n"
    assert edit_toml("\ufeffa = 1\r\n", {"b": 2}).text == "\ufeffa = 1\r\nb = 2\r\n"


def test_toml_1_1_text_is_edited_in_place() -> None:
    before = 'a = {\n  x = 1, # one\n  y = "\\e",\n}\n'
    assert edit_toml(before, {("a", "x"): 3}).text == before.replace("x = 1", "x = 3")


def test_a_broken_file_is_refused() -> None:
    with pytest.raises(EditRefused, match="does not parse"):
        edit_toml("a = = 1", {"a": 1})
    with pytest.raises(EditRefused, match="does not parse"):
        edit_json('{"a": 1,}', {"a": 1})


CATALOG = """[[capabilities]]
id = "chart-tides"   # stable
summary = "Chart the tides."
outcome = "A chart."

# second
[[capabilities]]
id = "read-gauges"
summary = "Read."
outcome = "Numbers."
"""


def test_a_capability_changes_arrives_and_leaves_without_touching_the_other() -> None:
    changed = edit_toml(CATALOG, {("capabilities", 0, "summary"): "Draw the tides."}).text
    assert changed == CATALOG.replace("Chart the tides.", "Draw the tides.")
    gone = edit_toml(CATALOG, {("capabilities", 1): None}).text
    assert gone == CATALOG[: CATALOG.index('[[capabilities]]\nid = "read')]
    added = edit_toml(CATALOG, {("capabilities", 0, "requirements"): ["read-gauges"]}).text
    assert added == CATALOG.replace(
        'outcome = "A chart."\n', 'outcome = "A chart."\nrequirements = ["read-gauges"]\n'
    )


MCP = """{
    "mcpServers": {
        "bell": {"command": "bell", "args": ["-y",   "x"]},
        "remote": {
            "url": "https://h.example/mcp"
        }
    }
}"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_server_is_changed_added_and_removed_in_place(newline: str) -> None:
    before = MCP.replace("\n", newline)
    changed = edit_json(before, {("mcpServers", "bell", "command"): "b\u00e4ll"}).text
    assert changed == before.replace('"command": "bell"', '"command": "b\u00e4ll"')
    removed = edit_json(before, {("mcpServers", "bell"): None}).text
    assert removed == before.replace(f'        "bell": {{"command": "bell", "args": ["-y",   "x"]}},{newline}', "")
    last = edit_json(before, {("mcpServers", "remote"): None}).text
    assert json.loads(last) == {"mcpServers": {"bell": {"command": "bell", "args": ["-y", "x"]}}}
    assert '["-y",   "x"]' in last
    added = edit_json(before, {("mcpServers", "new"): {"command": "n"}}).text
    row = (
        f',{newline}        "new": {{{newline}            "command": "n"{newline}        }}{newline}    }}{newline}}}'
    )
    assert added == before.removesuffix(f"{newline}    }}{newline}}}") + row


def test_a_compact_file_stays_compact() -> None:
    before = '{"mcpServers":{"a":{"command":"x"}}}'
    after = edit_json(before, {("mcpServers", "a", "args"): ["1", "2"]}).text
    assert after == '{"mcpServers":{"a":{"command":"x", "args":["1","2"]}}}'


def test_an_empty_file_and_an_empty_object_gain_their_first_member() -> None:
    assert json.loads(edit_json("", {("mcpServers", "a", "command"): "x"}).text) == {
        "mcpServers": {"a": {"command": "x"}}
    }
    assert edit_json("{}", {"a": 1}).text == '{"a": 1}'


def test_escapes_and_numbers_that_are_not_concerned_stay_as_written() -> None:
    before = '{"a": "\\u00e4\\/", "n": 1.50e0, "b": 1}'
    assert edit_json(before, {"b": 2}).text == '{"a": "\\u00e4\\/", "n": 1.50e0, "b": 2}'
