"""What a session of an agent would use, value by value, each with where it comes from (issue 5 item 4)."""

from typing import Literal

from compozy.model.record import Record

DerivedFrom = Literal["request", "agent", "project_default", "provider", "provider_default", "model_default", "none"]


class DerivedValue(Record, frozen=True, kw_only=True):
    """One value: `place` is the file (with line, where it is a setting) that says it, "built in" for defaults.

    `note` says what was changed on the way, such as a mode that is capped.
    """

    name: str
    value: str | tuple[str, ...]
    source: DerivedFrom
    place: str
    note: str = ""


class AgentResolution(Record, frozen=True, kw_only=True):
    """The derivation of one agent in one place."""

    agent: str
    path: str
    definition_digest: str
    values: tuple[DerivedValue, ...]
    trusted: bool
    workspace_id: str = ""
    builtin: bool = False
