"""The whole cascade as one table: who says what, which value results, from which source and file (contract §2.5)."""

from pathlib import Path

import pytest

from compozy.config.home import Home
from compozy.config.load import load_config, read_layers
from compozy.config.places import Places
from compozy.model.definition import AgentDefinition
from compozy.model.errors import InvalidRequest
from compozy.model.resolution import DerivedValue
from compozy.runtime.derivation import derive

HOME = """[defaults]
provider = "house"
[permissions]
mode = "approve-reads"
[providers.house]
command = "house --acp"
[providers.house.models]
default = "m1"
[[providers.house.models.curated]]
id = "m1"
reasoning_efforts = ["low", "high"]
default_reasoning_effort = "low"
[providers.plain]
command = "plain"
"""
AGENT = "/ws/ann/AGENT.md"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.root.mkdir(mode=0o700)
    return made


def _derive(
    home: Home, text: str, workspace: str = "", *, is_trusted: bool = False, is_capped: bool = False, **fields: object
) -> dict[str, DerivedValue]:
    home.config_file.write_text(text)
    root = home.root.parent / "ws"
    (root / ".compozy").mkdir(parents=True, exist_ok=True)
    (root / ".compozy" / "config.toml").write_text(workspace)
    definition = AgentDefinition(**{"name": "ann", "prompt": "p", **fields})  # type: ignore[arg-type]
    config = load_config(home, root, is_trusted=lambda source: is_trusted)
    places = Places(read_layers(home, root, is_trusted=lambda source: is_trusted))
    return {value.name: value for value in derive(definition, AGENT, config, places, is_capped=is_capped)}


def _line(number: int, place: str = "home/config.toml") -> str:
    return f"{place}:{number}"


@pytest.mark.parametrize(
    ("name", "fields", "value", "source", "place"),
    [
        ("agent", {}, "ann", "request", AGENT),
        ("provider", {}, "house", "project_default", _line(2)),
        ("provider", {"provider": "plain"}, "plain", "agent", AGENT),
        ("provider", {"provider": "claude-code"}, "claude", "agent", AGENT),
        ("command", {}, "house --acp", "provider", _line(6)),
        ("command", {"command": "mine -x"}, "mine -x", "agent", AGENT),
        ("command", {"provider": "gemini"}, "gemini --acp", "provider", "built in"),
        ("model", {}, "m1", "provider_default", _line(8)),
        ("model", {"model": "own"}, "own", "agent", AGENT),
        ("model", {"provider": "plain"}, "", "none", ""),
        ("model", {"provider": "claude"}, "claude-sonnet-5", "provider_default", "built in"),
        ("reasoning_effort", {}, "low", "model_default", _line(9)),
        ("reasoning_effort", {"reasoning_effort": "high"}, "high", "agent", AGENT),
        ("reasoning_effort", {"model": "own"}, "", "none", ""),
        ("reasoning_effort", {"provider": "plain"}, "", "none", ""),
        ("permissions", {}, "approve-reads", "project_default", _line(4)),
        ("permissions", {"permissions": "deny-all"}, "deny-all", "agent", AGENT),
        ("permissions", {"permissions": "approve-all"}, "approve-all", "agent", AGENT),
        ("tools", {"tools": ("a__b",)}, ("a__b",), "agent", AGENT),
        ("tools", {}, (), "none", ""),
        ("toolsets", {"toolsets": ("a__b",)}, ("a__b",), "agent", AGENT),
        ("deny_tools", {"deny_tools": ("a__b",)}, ("a__b",), "agent", AGENT),
    ],
)
def test_each_value_has_its_source_and_its_file(
    home: Home, name: str, fields: dict[str, object], value: object, source: str, place: str
) -> None:
    found = _derive(home, HOME, **fields)[name]
    assert (found.value, found.source) == (value, source)
    assert found.place.endswith(place) and bool(found.place) == bool(place)


@pytest.mark.parametrize(
    ("name", "workspace", "is_trusted", "value", "place"),
    [
        ("provider", '[defaults]\nprovider = "plain"\n', False, "plain", "ws/.compozy/config.toml:2"),
        ("model", '[providers.house.models]\ndefault = "m9"\n', False, "m9", "ws/.compozy/config.toml:2"),
        ("command", '[providers.house]\ncommand = "theirs"\n', False, "house --acp", "home/config.toml:6"),
        ("command", '[providers.house]\ncommand = "theirs"\n', True, "theirs", "ws/.compozy/config.toml:2"),
        ("permissions", '[permissions]\nmode = "deny-all"\n', False, "deny-all", "ws/.compozy/config.toml:2"),
        ("permissions", '[permissions]\nmode = "approve-all"\n', True, "approve-all", "ws/.compozy/config.toml:2"),
        ("permissions", '[permissions]\nmode = "approve-all"\n', False, "approve-reads", "config.toml:2"),
    ],
)
def test_a_workspace_overlays_what_it_may(
    home: Home, name: str, workspace: str, is_trusted: bool, value: str, place: str
) -> None:
    found = _derive(home, HOME, workspace, is_trusted=is_trusted)[name]
    assert found.value == value and found.place.endswith(place)


def test_a_mode_that_is_capped_says_what_was_asked_for(home: Home) -> None:
    found = _derive(home, HOME, is_capped=True, permissions="approve-all")["permissions"]
    assert (found.value, found.source) == ("approve-reads", "project_default")
    assert "approve-all" in found.note


def test_defaults_of_the_program_are_built_in(home: Home) -> None:
    found = _derive(home, "", provider="codex")
    assert found["permissions"].value == "approve-all" and found["permissions"].place == "built in"
    assert found["model"].place == "built in" and found["reasoning_effort"].place == "built in"


@pytest.mark.parametrize(
    ("text", "fields", "words"),
    [
        ("", {}, "agent provider is required"),
        (HOME, {"provider": "nobody"}, "provider 'nobody'"),
    ],
)
def test_what_cannot_be_resolved_is_the_contracts_error(
    home: Home, text: str, fields: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidRequest, match=words):
        _derive(home, text, **fields)
