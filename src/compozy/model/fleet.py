"""Answers about the fleet: lists, catalog pages, every definition of a name (contract §3.3; decisions D7–D9, D26)."""

from typing import Literal

from compozy.model.agent import Agent, Origin, SourceState
from compozy.model.page import Page
from compozy.model.record import Record


class AgentList(Record, frozen=True, kw_only=True):
    """Every agent of a place, and what of it could not be read (D8)."""

    agents: tuple[Agent, ...]
    sources: tuple[SourceState, ...]


class AgentSessions(Record, frozen=True, kw_only=True):
    """What an agent's sessions in this workspace did."""

    total: int
    active: int
    failed: int
    runtime_seconds: int
    last_activity_at: str | None = None


class CatalogRow(Record, frozen=True, kw_only=True):
    """One agent; `sessions` is absent while the session store cannot be read."""

    agent: Agent
    sessions: AgentSessions | None = None


class CatalogFacets(Record, frozen=True, kw_only=True):
    """Counts and categories of the whole fleet, whatever the filters; `active` and `idle` are 0 without sessions."""

    total: int
    active: int
    idle: int
    categories: tuple[str, ...]


class CatalogPage(Record, frozen=True, kw_only=True):
    """One page; `sources` is additive (decisions D8)."""

    agents: tuple[CatalogRow, ...]
    facets: CatalogFacets
    page: Page
    sessions_available: bool
    sources: tuple[SourceState, ...] = ()


class Difference(Record, frozen=True, kw_only=True):
    """A field about rights in which a hidden definition differs from the one in force."""

    field: str
    effective: str
    hidden: str


class DefinitionView(Record, frozen=True, kw_only=True):
    """One AGENT.md of a name. `size` and `prompt_bytes` are bytes; `rule` says why it is or is not in force."""

    path: str
    place: str
    origin: Origin
    state: Literal["effective", "hidden", "invalid", "reserved", "other_name"]
    rule: str
    size: int = 0
    prompt_bytes: int = 0
    definition_digest: str = ""
    extension: str = ""
    differs: tuple[Difference, ...] = ()


class Definitions(Record, frozen=True, kw_only=True):
    """Everything there is about one name. `looked` are the AGENT.md paths that would have been read."""

    name: str
    effective: DefinitionView | None
    hidden: tuple[DefinitionView, ...]
    sources: tuple[SourceState, ...]
    looked: tuple[str, ...]
    reserved: bool = False
    nearest: tuple[str, ...] = ()
