"""A workspace with its agents, sessions, skills and providers (contract §3.4)."""

from typing import Literal

from compozy.model.agent import Agent
from compozy.model.record import Record
from compozy.model.session import Session
from compozy.model.workspace import Workspace


class ListedSkill(Record, frozen=True, kw_only=True):
    """A skill as a workspace's detail names it (contract §3.4)."""

    name: str
    dir: str
    source: Literal["workspace", "user"]


class ProviderSummary(Record, frozen=True, kw_only=True):
    """A provider as a workspace's detail names it."""

    name: str
    display_name: str = ""
    harness: str = ""
    auth_mode: str = ""
    env_policy: str = ""
    home_policy: str = ""
    runtime_provider: str = ""


class WorkspaceDetail(Record, frozen=True, kw_only=True):
    """A workspace with what belongs to it."""

    workspace: Workspace
    agents: tuple[Agent, ...]
    sessions: tuple[Session, ...]
    skills: tuple[ListedSkill, ...]
    providers: tuple[ProviderSummary, ...]
