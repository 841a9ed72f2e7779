"""[roles.*] of config.toml: who does the daemon's own jobs (contract §2.2, §9). A closed set.

Records only; what an empty `agent` means and what is in force is resolved in `runtime/roles.py`.
"""

from typing import Annotated, Literal

import msgspec

from compozy.config.durations import Duration
from compozy.model.record import Record

RoleEffort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]
RoleAgent = Annotated[str, msgspec.Meta(pattern=r"^$|^[a-z][a-z0-9_-]{0,105}$")]
# How long a coordinator may live (contract §2.2).
TTL_BOUNDS = (60.0, 24 * 3600.0)


class Fallback(Record, frozen=True, kw_only=True):
    """One entry of `fallback_chain`: what to try when the choice before it fails."""

    provider: Annotated[str, msgspec.Meta(min_length=1)]
    model: str
    reasoning_effort: RoleEffort = ""


class CoordinatorRole(Record, frozen=True, kw_only=True):
    """[roles.coordinator]"""

    enabled: bool = False
    agent: RoleAgent = ""
    ttl: Duration = Duration(7200)
    max_children: Annotated[int, msgspec.Meta(ge=1, le=5)] = 5
    max_active_sessions_per_workspace: Annotated[int, msgspec.Meta(ge=1)] = 5


class AgentRole(Record, frozen=True, kw_only=True):
    """[roles.dream], [roles.checkpoint_summary], [roles.memory_extractor], [roles.auto_title]"""

    enabled: bool = True
    agent: RoleAgent = ""
    provider: str = ""
    model: str = ""
    reasoning_effort: RoleEffort = ""
    fallback_chain: tuple[Fallback, ...] = ()


class MemoryControllerRole(Record, frozen=True, kw_only=True):
    """[roles.memory_controller]: a model call without an agent."""

    enabled: bool = True
    provider: str = "pi"
    model: str = "anthropic/claude-haiku-4"
    timeout: Duration = Duration(0.25)
    top_k: Annotated[int, msgspec.Meta(ge=1)] = 5
    prompt_version: str = "v1"
    max_tokens_out: Annotated[int, msgspec.Meta(ge=1)] = 256
    fallback_chain: tuple[Fallback, ...] = ()


class RolesSection(Record, frozen=True, kw_only=True):
    """[roles.*]"""

    coordinator: CoordinatorRole = CoordinatorRole()
    dream: AgentRole = AgentRole()
    checkpoint_summary: AgentRole = AgentRole()
    memory_extractor: AgentRole = AgentRole()
    auto_title: AgentRole = AgentRole()
    memory_controller: MemoryControllerRole = MemoryControllerRole()
