"""The resolution cascade: agent → provider → command → model → effort → permissions, with its messages in one place.

Implements contract §2.5. It reads a definition and the configuration and starts nothing; a file only for
the line of a mistake. Where a value comes
from is kept, because a chosen value must be met exactly and a default may give way (decisions D17).
"""

from dataclasses import dataclass
from pathlib import Path

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.documents.files import read_regular_text
from compozy.documents.origins import Origins
from compozy.documents.text import nearest
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


def resolve_runtime(definition: AgentDefinition, config: Config, path: Path | None = None) -> Resolution:
    """Resolve provider, command, model and effort of a definition; `path` is its file, for messages.

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
        raise _unknown_provider(name, definition, config, path)
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


def _unknown_provider(name: str, definition: AgentDefinition, config: Config, path: Path | None) -> InvalidRequest:
    """Return the refusal, with the file and line that names the provider as far as that is known."""
    place = ""
    if not definition.provider.strip():
        place = next((note.partition(": ")[0] for note in config.notes if ": defaults.provider names" in note), "")
    elif path is not None:
        place = _line_of_provider(path)
    close = nearest(name, config.providers)
    advice = f"did you mean {close!r}?" if close else f"choose one of {', '.join(sorted(config.providers))}."
    where = f" ({place})" if place else ""
    return InvalidRequest(
        f"provider {name!r} of agent {definition.name!r} is unknown{where}: {advice} One that was written into "
        "config.toml by hand counts after `compozy daemon stop`",
        code="provider_unknown",
        details={"path": place} if place else None,
        hint="compozy provider list",
    )


def _line_of_provider(path: Path) -> str:
    try:
        line = Origins(read_regular_text(path)).lines.get("provider", 0)
    except (OSError, UnicodeDecodeError):
        return str(path)
    return f"{path}:{line}" if line else str(path)


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
