"""Who does the daemon's own jobs: `[roles.*]` resolved to agent, provider, model and effort (contract §3.6, §9).

Every value says where it comes from. What cannot be filled as configured is a diagnostic, never an error: a list of
roles always has all of them. Nothing is started here.
"""

from collections.abc import Mapping

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.config.role_sections import AgentRole, CoordinatorRole, Fallback, MemoryControllerRole
from compozy.documents.text import nearest
from compozy.model.definition import AgentDefinition
from compozy.model.errors import CompozyError, NotFound
from compozy.model.role import ROLES, ResolutionMode, Role, RoleDiagnostic, RoleFallback
from compozy.runtime.builtin_agents import BUILTIN_AGENTS, COORDINATOR, DREAMING_CURATOR
from compozy.runtime.resolution import resolve_runtime

_BUILTIN = {"coordinator": COORDINATOR, "dream": DREAMING_CURATOR, "checkpoint_summary": DREAMING_CURATOR}
Section = CoordinatorRole | AgentRole | MemoryControllerRole


def resolve_roles(config: Config, agents: Mapping[str, AgentDefinition]) -> tuple[Role, ...]:
    """Return every role; `agents` are the definitions in force, by name."""
    return tuple(resolve_role(name, config, agents) for name in ROLES)


def resolve_role(name: str, config: Config, agents: Mapping[str, AgentDefinition]) -> Role:
    """Return one role.

    Raises:
        NotFound: code `role_unknown`.
    """
    if name not in ROLES:
        close = nearest(name, ROLES)
        advice = f"did you mean {close!r}?" if close else f"choose one of {', '.join(ROLES)}"
        raise NotFound(f"role {name!r} is unknown; {advice}", code="role_unknown", diagnostic=True, category="roles")
    return _Resolver(name, config, agents).role()


class _Resolver:
    """The state of one resolution."""

    def __init__(self, name: str, config: Config, agents: Mapping[str, AgentDefinition]) -> None:
        self._name = name
        self._config = config
        self._agents = agents
        self._section: Section = getattr(config.roles, name)
        self._diagnostics: list[RoleDiagnostic] = []
        self._provenance: dict[str, str] = {"enabled": self._written("enabled")}

    def role(self) -> Role:
        mode, definition = self._agent()
        provider, model, effort = self._runtime(definition)
        chain = tuple(self._fallback(entry) for entry in getattr(self._section, "fallback_chain", ()))
        timeout = self._section.timeout.text if isinstance(self._section, MemoryControllerRole) else None
        return Role(
            role=self._name,
            enabled=self._section.enabled,
            resolution_mode=mode,
            agent=self._agent_name(definition),
            provider=provider,
            model=model,
            reasoning_effort=effort,
            fallback_chain=chain,
            provenance=self._provenance,
            diagnostics=tuple(self._diagnostics),
            timeout=timeout,
        )

    def _written(self, field: str) -> str:
        default = getattr(type(self._section)(), field)
        return "default" if getattr(self._section, field) == default else f"roles.{self._name}.{field}"

    def _agent_name(self, definition: AgentDefinition | None) -> str | None:
        return definition.name if definition is not None else (getattr(self._section, "agent", "") or None)

    def _agent(self) -> tuple[ResolutionMode, AgentDefinition | None]:
        """Return how the agent is found, and its definition when there is one."""
        wanted: str = getattr(self._section, "agent", "")
        if wanted:
            self._provenance["agent"] = f"roles.{self._name}.agent"
            if wanted in BUILTIN_AGENTS:
                return "builtin", BUILTIN_AGENTS[wanted]
            if wanted not in self._agents:
                text = f"agent {wanted!r} of role {self._name!r} is not defined here: write it, or change the setting"
                self._diagnostics.append(RoleDiagnostic(code="role_agent_not_found", message=text, agent=wanted))
            return "catalog", self._agents.get(wanted)
        if self._name in _BUILTIN:
            self._provenance["agent"] = "builtin"
            return "builtin", _BUILTIN[self._name]
        if isinstance(self._section, MemoryControllerRole):
            # A model call without an agent.
            return "builtin", None
        self._provenance["agent"] = "invoking_agent"
        return "inherit", None

    def _runtime(self, definition: AgentDefinition | None) -> tuple[str | None, str | None, str | None]:
        asked = {field: getattr(self._section, field, "") for field in ("provider", "model", "reasoning_effort")}
        if definition is None and not asked["provider"]:
            # The invoking agent decides what the role leaves open.
            for field, value in asked.items():
                self._provenance[field] = f"roles.{self._name}.{field}" if value else "invoking_agent"
            return None, asked["model"] or None, asked["reasoning_effort"] or None
        base = definition or AgentDefinition(name=self._name, prompt="")
        changes = {field: value for field, value in asked.items() if value}
        if asked["provider"] and not asked["model"]:
            # A model belongs to its provider: another provider brings its own default.
            changes |= {"model": "", "command": ""}
        wanted = AgentDefinition(**{**{f: getattr(base, f) for f in base.__struct_fields__}, **changes})
        try:
            found = resolve_runtime(wanted, self._config)
        except CompozyError as error:
            self._problem(error.message)
            return asked["provider"] or base.provider or None, asked["model"] or base.model or None, None
        sources = {
            "provider": found.provider_source,
            "model": found.model_source,
            "reasoning_effort": found.effort_source,
        }
        for field, source in sources.items():
            if source is not None:
                self._provenance[field] = f"roles.{self._name}.{field}" if asked[field] else source
        return found.provider.id, found.model or None, found.reasoning_effort or None

    def _fallback(self, entry: Fallback) -> RoleFallback:
        provider = canonical_provider(entry.provider)
        if provider not in self._config.providers:
            self._problem(f"provider {entry.provider!r} in the fallback_chain of role {self._name!r} is unknown")
        return RoleFallback(provider=provider, model=entry.model, reasoning_effort=entry.reasoning_effort)

    def _problem(self, text: str) -> None:
        agent = getattr(self._section, "agent", "")
        self._diagnostics.append(RoleDiagnostic(code="role_resolution_failed", message=text, agent=agent))
