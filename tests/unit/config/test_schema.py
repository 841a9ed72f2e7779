"""The JSON Schemas that editors use (issue 3 item 6)."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.schema import all_schemas, schema_of
from compozy.documents.agent_header import read_header
from compozy.documents.source import SourceText
from compozy.model.errors import InvalidRequest

ROOT = Path(__file__).resolve().parents[3]


def errors(name: str, value: object) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema_of(name))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


@pytest.mark.parametrize("name", all_schemas())
def test_every_schema_is_a_valid_2020_12_schema_with_an_identity(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:compozy:schema:{name}"
    assert json.loads(json.dumps(schema)) == schema


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(InvalidRequest, match="did you mean 'agent'"):
        schema_of("agnet")
    with pytest.raises(InvalidRequest, match="config"):
        schema_of("nothing-like-it")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", {"name": "a", "modle": "x"}),
        ("agent", {"name": "Upper"}),
        ("agent", {"name": "coordinator"}),
        ("agent", {}),
        ("agent", {"name": "a", "tools": "a__b"}),
        ("agent", {"name": "a", "tools": ["a*"]}),
        ("agent", {"name": "a", "tools": ["a___b"]}),
        ("agent", {"name": "a", "permissions": "all"}),
        ("agent", {"name": "a", "category_path": ["a/b"]}),
        ("agent", {"name": "a", "mcp_servers": [{"name": "x", "command": "y", "cwd": "/"}]}),
        ("agent", {"name": "a", "mcp_servers": [{"name": "x", "secret_env": {"A": "plain"}}]}),
        ("agent", {"name": "a", "hooks": [{"name": "x", "event": "turn.stop", "command": "y"}]}),
        ("agent", {"name": "a", "hooks": [{"name": "x", "event": "turn.end", "timeout": "soon"}]}),
        ("agent", {"name": "a", "hooks": [{"name": "x", "event": "turn.end", "matcher": {"autonomy": {}}}]}),
        ("capabilities", {"capabilities": [{"id": "a", "summary": "b"}]}),
        ("capabilities", {"capabilities": [], "more": 1}),
        ("capability", {"id": "a", "summary": "b", "outcome": " "}),
        ("mcp", {"mcpServers": {"a": {"command": "x", "type": "stdio"}}}),
        ("heartbeat", {"version": 2}),
        ("heartbeat", {"preferences": {"active_hours": [{"timezone": "UTC", "start": "25:00", "end": "1:00"}]}}),
        ("soul", {"tools": []}),
        ("skill", {"description": "x"}),
        ("skill", {"name": "a", "metadata": {"compozy": {"when": {"platform": ["linux"]}}}}),
        ("config", {"http": {"prot": 1}}),
        ("config", {"http": {"port": 70000}}),
        ("config", {"permissions": {"mode": "all"}}),
        ("config", {"session": {"supervision": {"inactivity_timeout": 5}}}),
        ("config", {"nonsense": {}}),
    ],
)  # fmt: skip
def test_a_schema_refuses_what_the_reader_refuses(name: str, value: object) -> None:
    assert errors(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", {"name": "a", "tools": ["a__*", "a__b_*", "a__b__*", "a__b_c__d1"], "toolsets": ["a__b"]}),
        ("agent", {"name": "a", "hooks": [{"name": "x", "event": "turn.end", "timeout": "1h2m3.5s"}]}),
        ("agent", {"name": "a", "mcp_servers": [{"name": "x", "secret_env": {"A": "env: B", "C": "vault:mcp/x/Y"}}]}),
        ("mcp", {"mcpServers": {"a": {"command": "x"}}, "inputs": []}),
        ("capabilities", {}),
        ("soul", {"version": 1, "tone": "calm", "principles": ["x"]}),
        ("heartbeat", {"version": 1, "context": {"include": "inbox"}, "preferences": {"min_interval": "30m"}}),
        ("skill", {"name": "a", "license": "MIT", "metadata": {"o": 1, "compozy": {"when": {"platforms": ["x"]}}}}),
        ("config", {"http": {"port": 2124}, "network": {"anything": 1}, "roles": {"dream": {"enabled": False}}}),
        ("config", {"providers": {"mine": {"command": "x --acp", "models": {"default": "m"}}}}),
    ],
)  # fmt: skip
def test_a_schema_accepts_what_the_reader_accepts(name: str, value: object) -> None:
    assert errors(name, value) == []


# Where an editor should point at what the loader lets pass: another spelling says the same more clearly.
STRICTER = {
    "agent-by-name-reserved-loads",
    "agent-scalars-trimmed",
    "hooks-priority-float-truncated",
    "hooks-toml-timeout-integer-nanoseconds",
    "mcp-inline-env-padded-name-kept",
}


def test_the_schema_of_agents_denies_nothing_the_loader_takes_from_the_recorded_cases() -> None:
    cases = [json.loads(line) for line in (ROOT / "tests/data/format_cases.jsonl").read_text().split("\n") if line]
    checked, denied = 0, set()
    for case in cases:
        text = next((text for path, text in case["files"].items() if path.endswith("AGENT.md")), "")
        if case["op"] != "load_agent" or read_header(SourceText(text), "AGENT.md").definition is None:
            continue
        value = _header_value(text)
        if value is not None:
            checked += 1
            if errors("agent", value):
                denied.add(case["id"])
    assert checked > 50
    assert denied == STRICTER


def _header_value(text: str) -> object:
    """The header as an editor's parser reads it: nulls left out, words that look like other types kept as text."""
    header = text.replace("\r\n", "\n").split("\n---", 1)[0].removeprefix("---\n")
    try:
        return tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        pass
    try:
        value = yaml.load(header, Loader=yaml.CBaseLoader)
    except yaml.YAMLError:
        return None
    return _typed(value) if isinstance(value, dict) else None


def _typed(value: object, key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _typed(item, name) for name, item in value.items() if item not in ("null", "")}
    if isinstance(value, list):
        return [_typed(item, key) for item in value]
    if key in ("enabled", "required", "tool_read_only", "priority") and isinstance(value, str):
        return yaml.load(value, Loader=yaml.CSafeLoader)
    return value


def test_a_home_written_by_the_program_satisfies_the_config_schema(tmp_path: Path) -> None:
    from compozy.config.install import install_home

    home = Home(tmp_path / "home")
    install_home(home, provider="offline")
    text = home.config_file.read_text()
    assert load_config(home).defaults.provider == "offline"
    assert errors("config", tomllib.loads(text)) == []
