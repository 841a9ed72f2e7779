"""Who does the daemon's own jobs, for every way to configure it (contract §9)."""

import msgspec
import pytest

from compozy.config.config import Config
from compozy.config.role_sections import AgentRole, CoordinatorRole, Fallback, RolesSection
from compozy.config.sections import DefaultsSection
from compozy.model.definition import AgentDefinition
from compozy.model.errors import NotFound
from compozy.model.provider import CuratedModel, Provider
from compozy.model.role import ROLES, Role
from compozy.runtime.roles import resolve_role, resolve_roles

PROVIDERS = {
    "house": Provider(
        id="house",
        command="house --acp",
        default_model="m1",
        curated=(CuratedModel(id="m1", default_reasoning_effort="low", reasoning_efforts=("low",)),),
    ),
    "other": Provider(id="other", command="other", default_model="m2"),
    "pi": Provider(id="pi", command="pi"),
}
WRITER = AgentDefinition(name="writer", prompt="p", provider="other", model="mine")


def _role(name: str, **roles: object) -> Role:
    config = Config(
        defaults=DefaultsSection(provider="house"),
        providers=PROVIDERS,
        roles=msgspec.structs.replace(RolesSection(), **roles),  # type: ignore[arg-type]
    )
    return resolve_role(name, config, {"writer": WRITER})


@pytest.mark.parametrize(
    ("name", "mode", "agent", "enabled"),
    [
        ("coordinator", "builtin", "coordinator", False),
        ("dream", "builtin", "dreaming-curator", True),
        ("checkpoint_summary", "builtin", "dreaming-curator", True),
        ("memory_extractor", "inherit", None, True),
        ("auto_title", "inherit", None, True),
        ("memory_controller", "builtin", None, True),
    ],
)
def test_without_settings_the_roles_are_filled_as_the_contract_says(
    name: str, mode: str, agent: str | None, enabled: bool
) -> None:
    role = _role(name)
    assert (role.resolution_mode, role.agent, role.enabled, role.diagnostics) == (mode, agent, enabled, ())
    assert role.provenance["enabled"] == "default"


def test_all_six_roles_are_listed_in_their_order() -> None:
    config = Config(providers=PROVIDERS, defaults=DefaultsSection(provider="house"))
    assert tuple(role.role for role in resolve_roles(config, {})) == ROLES


def test_a_built_in_agent_runs_with_the_defaults() -> None:
    role = _role("dream")
    assert (role.provider, role.model, role.reasoning_effort) == ("house", "m1", "low")
    assert role.provenance == {
        "enabled": "default",
        "agent": "builtin",
        "provider": "project_default",
        "model": "provider_default",
        "reasoning_effort": "model_default",
    }


def test_a_role_routed_to_an_agent_takes_what_that_agent_says() -> None:
    role = _role("auto_title", auto_title=AgentRole(agent="writer"))
    assert (role.resolution_mode, role.agent, role.provider, role.model) == ("catalog", "writer", "other", "mine")
    assert role.provenance["agent"] == "roles.auto_title.agent" and role.provenance["provider"] == "agent"


def test_what_the_role_says_wins_and_a_new_provider_brings_its_own_model() -> None:
    role = _role("auto_title", auto_title=AgentRole(agent="writer", provider="house", reasoning_effort="high"))
    assert (role.provider, role.model, role.reasoning_effort) == ("house", "m1", "high")
    assert role.provenance["provider"] == "roles.auto_title.provider"
    assert role.provenance["model"] == "provider_default"
    model = _role("auto_title", auto_title=AgentRole(model="small"))
    assert (model.provider, model.model) == (None, "small")
    assert model.provenance["provider"] == "invoking_agent"


def test_a_role_may_name_a_built_in_agent() -> None:
    role = _role("auto_title", auto_title=AgentRole(agent="dreaming-curator"))
    assert (role.resolution_mode, role.agent) == ("builtin", "dreaming-curator")


def test_an_agent_that_is_not_there_is_a_diagnostic() -> None:
    role = _role("coordinator", coordinator=CoordinatorRole(enabled=True, agent="ghost"))
    assert (role.resolution_mode, role.agent, role.enabled) == ("catalog", "ghost", True)
    assert [(row.code, row.agent) for row in role.diagnostics] == [("role_agent_not_found", "ghost")]


def test_unknown_providers_are_diagnostics() -> None:
    chain = (Fallback(provider="claude-code", model="x"), Fallback(provider="house", model="m1"))
    role = _role("dream", dream=AgentRole(provider="nobody", fallback_chain=chain))
    assert [row.code for row in role.diagnostics] == ["role_resolution_failed", "role_resolution_failed"]
    assert "'nobody'" in role.diagnostics[0].message
    assert [(entry.provider, entry.model) for entry in role.fallback_chain] == [("claude", "x"), ("house", "m1")]


def test_the_memory_controller_is_a_model_call_with_a_time() -> None:
    role = _role("memory_controller")
    assert (role.provider, role.model, role.timeout) == ("pi", "anthropic/claude-haiku-4", "250ms")


def test_an_unknown_role_names_the_nearest() -> None:
    with pytest.raises(NotFound, match="did you mean 'auto_title'") as refused:
        _role("auto_titel")
    assert refused.value.code == "role_unknown"
