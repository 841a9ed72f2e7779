"""The processes behind sessions, as `compozy daemon processes` shows them (issue 6; reports P48)."""

from compozy.model.record import Record


class AgentProcessRow(Record, frozen=True, kw_only=True):
    """One living process that belongs to a session: the program we started, or one that it started.

    `group` is the process group, `rss_bytes` the resident memory, `name` what the system calls the program. A row
    with `is_leader` is the agent program itself; `started_at` is when it, or the launch it belongs to, began.
    """

    pid: int
    parent_pid: int
    group: int
    session_id: str
    started_at: str
    rss_bytes: int
    name: str
    is_leader: bool
    agent_name: str = ""
    workspace_id: str = ""


class AgentProcesses(Record, frozen=True, kw_only=True):
    """Every process of every session of this daemon."""

    processes: tuple[AgentProcessRow, ...]
    total: int
    rss_bytes: int
