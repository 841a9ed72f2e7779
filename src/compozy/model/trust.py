"""What a workspace brings that would run, receive secrets or widen rights, and whether a person trusted it (D15)."""

from typing import Literal

from compozy.model.record import Record

TrustKind = Literal[
    "agent_command",
    "mcp_server",
    "hook",
    "skill_mcp_server",
    "skill_hook",
    "provider",
    "config",
    "permissions",
    "program",
]


class TrustItem(Record, frozen=True, kw_only=True):
    """One thing to trust: what `runs` (or is widened), the file that says so, and that file's digest.

    Without a `required` item a session is refused; the others are left out or capped until they are trusted.
    """

    kind: TrustKind
    name: str
    runs: str
    path: str
    digest: str
    required: bool
    trusted: bool
    references: tuple[str, ...] = ()
    """Secrets it would receive, in words."""


class TrustMark(Record, frozen=True, kw_only=True):
    """A file that a session was allowed to use; a program is looked at again before each start."""

    path: str
    digest: str
    is_program: bool = False


class TrustReport(Record, frozen=True, kw_only=True):
    """Everything a workspace, or one agent in it, would need. `digest` stands for exactly these items."""

    workspace_id: str
    root_dir: str
    mode: str
    trusted: bool
    digest: str
    items: tuple[TrustItem, ...]
    agent: str = ""
    suggested_command: str = ""


class RevokedTrust(Record, frozen=True, kw_only=True):
    """What was taken back: the number of files that are trusted no more."""

    workspace_id: str
    agent: str
    revoked: int
