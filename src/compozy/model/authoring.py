"""Answers to changes of agents: how an edit was written, what a deletion left, what was kept (issue 4)."""

from typing import Literal

from compozy.model.agent import Agent, Origin
from compozy.model.record import Record

Operation = Literal["update", "delete", "restore"]


class Edit(Record, frozen=True, kw_only=True):
    """How an update was written: in place, or in the canonical form and why (D3)."""

    changed: bool
    in_place: bool = True
    note: str = ""


class Deleted(Record, frozen=True, kw_only=True):
    """What a deletion left: `unshadowed_origin` is the origin of the definition that is in force now.

    `not_kept` names files too large for the history: a restore will not bring them back.
    """

    name: str
    origin: Origin
    unshadowed_origin: Origin | None = None
    not_kept: tuple[str, ...] = ()


class Kept(Record, frozen=True, kw_only=True):
    """One kept state: `operation` is the change that replaced it, `path` its AGENT.md."""

    hash: str
    name: str
    path: str
    origin: str
    operation: Operation
    at: str
    definition_digest: str
    files: int
    size: int
    left_out: tuple[str, ...] = ()


class EditedAgent(Record, frozen=True, kw_only=True):
    """The agent after an update, and how it was written."""

    agent: Agent
    edit: Edit


class RestoredAgent(Record, frozen=True, kw_only=True):
    """The agent after a restore, and the state that came back."""

    agent: Agent
    restored: Kept
