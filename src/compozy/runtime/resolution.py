"""The resolution cascade: agent → provider → command → model → effort → permissions, with its messages in one place.

Implements contract §2.5. Pure: it reads a definition and the configuration and starts nothing. Where a value comes
from is kept, because a chosen value must be met exactly and a default may give way (decisions D17).
"""

from dataclasses import dataclass

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.model.agent import AgentRuntime, EffectiveRuntimeSources, ValueSource
from compozy.model.definition import AgentDefinition
from compozy.model.errors import InvalidRequest
from compozy.model.provider import Provider
from compozy.model.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """What a session of an agent would use. `command` is not split."""

    provider: Provider
    command: str
    provider_source: ValueSource
    model: str = ""
    model_source: ValueSource | None = None
    reasoning_effort: str = ""
    effort_source: ValueSource | None = None

    def as_runtime(self) -> AgentRuntime:
        """Return the payload `effective_runtime`."""
        return AgentRuntime(
            provider=self.provider.id,
            model=self.model,
            reasoning_effort=self.reasoning_effort,
            sources=EffectiveRuntimeSources(
                provider=self.provider_source, model=self.model_source, reasoning_effort=self.effort_source
            ),
        )


def resolve_agent_name(requested: str, workspace: Workspace | None, config: Config) -> str:
    """Return the agent to use: the request's, the workspace's default, the home's default.

    Raises:
        InvalidRequest: nobody names one.
    """
    name = requested.strip() or (workspace.default_agent if workspace else "") or config.defaults.agent
    if not name:
        raise InvalidRequest(
            "agent name is required: name an agent, or set [defaults] agent in config.toml",
            code="agent_name_required",
        )
    return name


def resolve_runtime(definition: AgentDefinition, config: Config) -> Resolution:
    """Resolve provider, command, model and effort of a definition.

    Raises:
        InvalidRequest: no provider is named, it is unknown, or nothing says which command starts it.
    """
    authored = definition.provider.strip()
    name = authored or config.defaults.provider
    if not name:
        raise InvalidRequest(
            f"agent provider is required: agent {definition.name!r} names none and [defaults] provider is empty; "
            "run `compozy install`",
            code="provider_required",
        )
    provider = config.providers.get(canonical_provider(name))
    if provider is None:
        raise InvalidRequest(
            f"provider {name!r} of agent {definition.name!r} is unknown: choose one of "
            f"{', '.join(sorted(config.providers))}; one written to config.toml while the daemon runs counts after "
            "`compozy daemon stop`",
            code="provider_unknown",
        )
    command = definition.command.strip() or provider.command
    if not command:
        raise InvalidRequest(f'provider "{provider.id}" command is required', code="provider_command_required")
    model, model_source = _resolve_model(definition, provider)
    effort, effort_source = _resolve_effort(definition, provider, model)
    return Resolution(
        provider=provider,
        command=command,
        provider_source="agent" if authored else "project_default",
        model=model,
        model_source=model_source,
        reasoning_effort=effort,
        effort_source=effort_source,
    )


def _resolve_model(definition: AgentDefinition, provider: Provider) -> tuple[str, ValueSource | None]:
    if definition.model:
        return definition.model, "agent"
    return (provider.default_model, "provider_default") if provider.default_model else ("", None)


def _resolve_effort(definition: AgentDefinition, provider: Provider, model: str) -> tuple[str, ValueSource | None]:
    if definition.reasoning_effort:
        return definition.reasoning_effort, "agent"
    for row in provider.curated:
        if row.id == model and row.default_reasoning_effort:
            return row.default_reasoning_effort, "model_default"
    return "", None
