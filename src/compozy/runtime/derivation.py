"""The resolution cascade of one agent as a derivation: each value with its source and its file (contract §2.5).

Pure: the decisions are those of `resolution.py` and of the permission policy, here they are only put side by side
with where they come from. Raises what a session would raise.
"""

from pathlib import Path

from compozy.config.config import Config
from compozy.config.places import Places
from compozy.model.command_secrets import masked_command
from compozy.model.definition import AgentDefinition
from compozy.model.resolution import DerivedFrom, DerivedValue
from compozy.runtime.resolution import Resolution, resolve_runtime
from compozy.runtime.sessions.mode import session_mode


def derive(
    definition: AgentDefinition, path: str, config: Config, places: Places, *, is_capped: bool = False
) -> tuple[DerivedValue, ...]:
    """Return every value a session of the agent would use, in the order of the cascade.

    Raises:
        InvalidRequest: a value cannot be resolved; the contract's message.
    """
    found = resolve_runtime(definition, config, Path(path))
    return (
        DerivedValue(name="agent", value=definition.name, source="request", place=path),
        _provider(found, path, places),
        _command(definition, found, path, places),
        _model(found, path, places),
        _effort(found, path, places),
        _permissions(definition, path, config, places, is_capped=is_capped),
        *(_authored(definition, name, path) for name in ("tools", "toolsets", "deny_tools")),
    )


def _provider(found: Resolution, path: str, places: Places) -> DerivedValue:
    source = found.provider_source
    place = path if source == "agent" else places.of("defaults", "provider")
    return DerivedValue(name="provider", value=found.provider.id, source=source, place=place)


def _command(definition: AgentDefinition, found: Resolution, path: str, places: Places) -> DerivedValue:
    shown = masked_command(found.command)
    if definition.command.strip():
        return DerivedValue(name="command", value=shown, source="agent", place=path)
    place = places.of_provider(found.provider.id, "command")
    return DerivedValue(name="command", value=shown, source="provider", place=place)


def _model(found: Resolution, path: str, places: Places) -> DerivedValue:
    if found.model_source is None:
        return DerivedValue(name="model", value="", source="none", place="", note="the agent program chooses")
    if found.model_source == "agent":
        return DerivedValue(name="model", value=found.model, source="agent", place=path)
    place = places.of_provider(found.provider.id, "models", "default")
    return DerivedValue(name="model", value=found.model, source=found.model_source, place=place)


def _effort(found: Resolution, path: str, places: Places) -> DerivedValue:
    if found.effort_source is None:
        return DerivedValue(
            name="reasoning_effort", value="", source="none", place="", note="the agent program chooses"
        )
    place = path if found.effort_source == "agent" else places.of_provider(found.provider.id, "models", "curated")
    return DerivedValue(
        name="reasoning_effort", value=found.reasoning_effort, source=found.effort_source, place=place
    )


def _permissions(
    definition: AgentDefinition, path: str, config: Config, places: Places, *, is_capped: bool
) -> DerivedValue:
    mode = session_mode(definition, config, is_capped=is_capped).mode
    home = places.of("permissions", "mode")
    if not definition.permissions:
        return DerivedValue(name="permissions", value=mode, source="project_default", place=home)
    if mode == definition.permissions:
        return DerivedValue(name="permissions", value=mode, source="agent", place=path)
    note = f"the agent asks for {definition.permissions} and is capped until it is trusted"
    return DerivedValue(name="permissions", value=mode, source="project_default", place=home, note=note)


def _authored(definition: AgentDefinition, name: str, path: str) -> DerivedValue:
    value: tuple[str, ...] = getattr(definition, name)
    source: DerivedFrom = "agent" if value else "none"
    return DerivedValue(name=name, value=value, source=source, place=path if value else "")
