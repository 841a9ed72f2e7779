"""The cascade from definition and configuration to what runs; what a workspace may not do (contract §2.5, D15)."""

import pytest

from compozy.config.config import Config
from compozy.config.sections import DefaultsSection, PermissionsSection, TrustSection
from compozy.model.definition import AgentDefinition
from compozy.model.errors import InvalidRequest
from compozy.model.provider import CuratedModel, Provider
from compozy.model.workspace import Workspace
from compozy.runtime.resolution import resolve_agent_name, resolve_runtime
from compozy.runtime.sessions.mode import session_mode

PROVIDERS = {
    "house": Provider(
        id="house",
        command="house --acp",
        default_model="m1",
        curated=(CuratedModel(id="m1", default_reasoning_effort="medium"),),
    ),
    "bare": Provider(id="bare", command=""),
    "claude": Provider(id="claude", command="claude-acp"),
}


def _config(
    provider: str = "house", agent: str = "general", mode: str = "approve-reads", trust: str = "required"
) -> Config:
    return Config(
        defaults=DefaultsSection(agent=agent, provider=provider),
        permissions=PermissionsSection(mode=mode),  # type: ignore[arg-type]
        trust=TrustSection(mode=trust),  # type: ignore[arg-type]
        providers=PROVIDERS,
    )


def _definition(**fields: object) -> AgentDefinition:
    return AgentDefinition(**{"name": "ann", "prompt": "p", **fields})  # type: ignore[arg-type]


def test_defaults_fill_what_the_agent_leaves_open() -> None:
    found = resolve_runtime(_definition(), _config())
    assert (found.provider.id, found.command, found.model, found.reasoning_effort) == (
        "house",
        "house --acp",
        "m1",
        "medium",
    )
    assert (found.provider_source, found.model_source, found.effort_source) == (
        "project_default",
        "provider_default",
        "model_default",
    )


def test_what_the_agent_says_wins() -> None:
    authored = _definition(provider="claude-code", command="mine", model="x", reasoning_effort="low")
    found = resolve_runtime(authored, _config())
    assert (found.provider.id, found.command, found.model, found.reasoning_effort) == ("claude", "mine", "x", "low")
    assert {found.provider_source, found.model_source, found.effort_source} == {"agent"}


@pytest.mark.parametrize(
    ("definition", "config", "words"),
    [
        (_definition(), _config(provider=""), "agent provider is required"),
        (_definition(provider="nobody"), _config(), "provider 'nobody'"),
        (_definition(provider="bare"), _config(), 'provider "bare" command is required'),
    ],
)
def test_what_cannot_be_resolved_says_so(definition: AgentDefinition, config: Config, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        resolve_runtime(definition, config)


def test_the_agents_name_comes_from_request_workspace_or_home() -> None:
    workspace = Workspace(
        id="ws", name="w", root_dir="/", add_dirs=(), created_at="", updated_at="", default_agent="local"
    )
    assert resolve_agent_name(" asked ", workspace, _config()) == "asked"
    assert resolve_agent_name("", workspace, _config()) == "local"
    assert resolve_agent_name("", None, _config()) == "general"
    with pytest.raises(InvalidRequest, match="agent name is required"):
        resolve_agent_name("", None, _config(agent=""))


MODES = ("deny-all", "approve-reads", "approve-all")


@pytest.mark.parametrize("authored", MODES)
@pytest.mark.parametrize("home", MODES)
def test_a_workspace_never_exceeds_the_home(authored: str, home: str) -> None:
    config = _config(mode=home)
    definition = _definition(permissions=authored)
    capped = session_mode(definition, config, is_capped=True).mode
    assert MODES.index(capped) == min(MODES.index(authored), MODES.index(home))
    assert session_mode(definition, config).mode == authored


@pytest.mark.parametrize("authored", MODES)
@pytest.mark.parametrize("asked", MODES)
def test_a_request_only_narrows_what_was_authored(authored: str, asked: str) -> None:
    mode = session_mode(_definition(permissions=authored), _config(), requested=asked).mode
    assert MODES.index(mode) == min(MODES.index(authored), MODES.index(asked))


def test_a_request_replaces_the_homes_default_where_nothing_was_authored() -> None:
    assert session_mode(_definition(), _config(mode="approve-all")).mode == "approve-all"
    assert session_mode(_definition(), _config(mode="approve-all"), requested="approve-reads").mode == "approve-reads"
