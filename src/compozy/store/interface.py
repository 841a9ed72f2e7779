"""The Store: what is durable, and what its callers may rely on. Implemented by SQLite and by an in-memory twin.

Guarantees, tested by one suite over every implementation:

* when a write returns, it survives SIGKILL of the process;
* events of a session get consecutive sequences from 1 in append order; nothing else changes a sequence;
* a batch is all or nothing, and the session row given with it changes in the same transaction;
* reads see every write that has returned.

Layout is private (decisions D22). Methods are coroutines; blocking work happens in the store's own threads.
Raises `StoreUnavailable` when the file cannot be read or written, `ForeignStore` for a file of another program.
"""

from collections.abc import Sequence
from typing import Protocol

from compozy.model.attachment import AttachmentRef
from compozy.model.definition import McpServer
from compozy.model.errors import Unavailable
from compozy.model.event import EventDraft, StoredEvent
from compozy.model.message import Message
from compozy.model.permission import ModeDerivation
from compozy.model.record import Record
from compozy.model.session import RuntimeSelection, Session
from compozy.model.session_answers import RewindResult
from compozy.model.tool import ApprovalGrant, ToolAccess
from compozy.model.trust import TrustMark
from compozy.model.workspace import Workspace


class StoreUnavailable(Unavailable):
    """The store's file cannot be read or written now."""

    default_code = "store_unavailable"


class ForeignStore(StoreUnavailable):
    """A `compozy.db` that another program made; it was not touched."""

    default_code = "store_foreign"


class QueuedPrompt(Record, frozen=True, kw_only=True):
    """A prompt that waits for the turn before it; `turn_id` is the one it will have."""

    id: str
    text: str
    turn_id: str
    message_id: str
    idempotency_key: str
    enqueued_at: str
    mode: str = "queue"
    runtime: RuntimeSelection | None = None
    target_turn_id: str = ""
    """The turn that a prompt of mode `steer` ends at its next resting point."""
    require_context: bool = False
    attachments: tuple[AttachmentRef, ...] = ()


class Spent(Record, frozen=True, kw_only=True):
    """What a session's turns used, as its agents reported it; None where nobody said.

    Costs are cumulative per session of the agent: `cost` is that of the present one, `earlier_cost` of those before.
    """

    turns: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost: float | None = None
    earlier_cost: float | None = None
    currency: str = ""
    acp_session_id: str = ""


class Rewound(Record, frozen=True, kw_only=True):
    """The newest rewind of a session, to answer a retry of it."""

    idempotency_key: str
    digest: str
    result: RewindResult


class Mailed(Record, frozen=True, kw_only=True):
    """Which messages of other sessions a session was told: all up to `told`, those after `before` in `turn_id`."""

    told: int = 0
    before: int = 0
    turn_id: str = ""


class StoredMessage(Record, frozen=True, kw_only=True):
    """A message with its number: later ones have higher ones."""

    number: int
    message: Message


class SessionRecord(Record, frozen=True, kw_only=True):
    """A session as stored: the payload, plus what never leaves the daemon.

    `startup_prompt` is frozen at creation (contract §5.7); `permission_mode` is the mode in force;
    `provider_session_ids` keeps every ACP session id this session ever had, oldest first.
    """

    session: Session
    startup_prompt: str
    permission_mode: str
    cwd: str
    command: str = ""
    """The agent's command as resolved at creation; with the next four fields it is the session's creation profile."""
    model: str = ""
    model_source: str = ""
    reasoning_effort: str = ""
    effort_source: str = ""
    additional_dirs: tuple[str, ...] = ()
    provider_session_ids: tuple[str, ...] = ()
    resume_session_id: str = ""
    """The ACP session id that the present provider may be asked to load, "" when there is none."""
    mcp_servers: tuple[McpServer, ...] = ()
    tool_access: ToolAccess = ToolAccess()
    definition_path: str = ""
    """The AGENT.md the session was created from: literal secrets of its servers are read there, never stored."""
    trust_marks: tuple[TrustMark, ...] = ()
    """What of the workspace the session was allowed to use; looked at again before each start."""
    turn_id: str = ""
    """The turn in flight, "" when idle: what a restart finds here was interrupted."""
    stalled_turn: str = ""
    """The turn that showed no sign of life for too long; it counts while that turn is in flight."""
    last_activity_at: str = ""
    queue: tuple[QueuedPrompt, ...] = ()
    """Prompts that wait, in the order they will run."""
    queue_generation: int = 0
    """Counts the changes of `queue`."""
    mode_derivation: ModeDerivation | None = None
    """How `permission_mode` was derived; None for sessions of older releases."""
    is_unseen: bool = False
    """A turn ended and nobody has looked at it since."""
    transcript_generation: int = 0
    """Counts the rewinds since the conversation was last cleared."""
    has_new_past: bool = False
    """The conversation was rewound: the next agent session is a new one on purpose."""
    rewound: Rewound | None = None
    spawn_key: str = ""
    """The idempotency key a parent asked for this child with, and what it asked for as a digest."""
    spawn_digest: str = ""
    spent: Spent | None = None
    """Tokens and cost so far; None until a turn has ended."""
    mailed: Mailed = Mailed()


class SessionQuery(Record, frozen=True, kw_only=True):
    """Filters of the session list (contract §3.5); empty means any. `archive` is exclude, only or include."""

    workspace_id: str = ""
    state: str = ""
    type: str = ""
    agent: str = ""
    parent: str = ""
    root: str = ""
    q: str = ""
    badges: tuple[str, ...] = ()
    attention: bool = False
    """Only sessions that want a person, or have something finished to show."""
    resumable: bool | None = None
    """Whether the session is stopped and a prompt may start it again."""
    archive: str = "exclude"
    sort: str = "recent"
    limit: int = 50
    after: tuple[str, ...] = ()
    """Sort key of the last row of the previous page, empty for the first page."""


class SessionRows(Record, frozen=True, kw_only=True):
    """A page of stored sessions and the total that matches the filter; `next_after` is empty on the last page."""

    rows: tuple[SessionRecord, ...]
    total: int
    next_after: tuple[str, ...] = ()


class AgentMetrics(Record, frozen=True, kw_only=True):
    """An agent's sessions in one workspace (decisions D26); `last_activity_at` is "" without sessions.

    `runtime_seconds` counts sessions that run from their creation to now, stopped ones to their last update.
    """

    total: int
    active: int
    failed: int
    runtime_seconds: int
    last_activity_at: str = ""


class EventQuery(Record, frozen=True, kw_only=True):
    """Which events to read. Result is ascending; without `after_sequence` it is the newest `limit` of the match.

    `archive` is active, archived or all. `since` is text of `model/times.py`, so that text order is time order.
    """

    after_sequence: int | None = None
    before_sequence: int | None = None
    since: str = ""
    type: str = ""
    turn_id: str = ""
    agent_name: str = ""
    archive: str = "active"
    limit: int = 200


class OldSession(Record, frozen=True, kw_only=True):
    """A stopped session as retention sees it."""

    id: str
    workspace_id: str
    last_activity_at: str


class StoreSize(Record, frozen=True, kw_only=True):
    """What the store takes: bytes in use, bytes that can be given back, and whether giving back is not finished."""

    used: int
    free: int
    is_tidying: bool = False


class TranscriptSegment(Record, frozen=True, kw_only=True):
    """Whole turns folded into entries: the events from `first` to `last`, as `entries` many entries in `data`.

    What `data` is, its writer knows; the store keeps it as bytes.
    """

    first: int
    last: int
    entries: int
    data: bytes


class TranscriptEnd(Record, frozen=True, kw_only=True):
    """How far a session is folded: the last sequence in a segment (0: none), and a mark for `put_segment`."""

    last: int
    mark: int


class ProcessRecord(Record, frozen=True, kw_only=True):
    """A process we started, remembered until it is certainly gone (pid, start time, group, marker)."""

    session_id: str
    pid: int
    start_time: str
    group: int
    marker: str
    started_at: str


class PromptRecord(Record, frozen=True, kw_only=True):
    """The identity of an accepted prompt, for replay and conflicts (contract §3.5 Prompt)."""

    session_id: str
    idempotency_key: str
    message_id: str
    payload_digest: str
    turn_id: str
    created_at: str


class Store(Protocol):
    """The seam. `now` texts come from the caller (`model/times.py`)."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def put_workspace(self, workspace: Workspace) -> None: ...
    async def list_workspaces(self) -> tuple[Workspace, ...]: ...
    async def delete_workspace(self, workspace_id: str) -> bool: ...

    async def put_session(self, record: SessionRecord) -> None:
        """Insert or replace one session row."""
        ...

    async def get_session(self, session_id: str) -> SessionRecord | None: ...
    async def list_sessions(self, query: SessionQuery) -> SessionRows:
        """Return a page of the sessions a list may show (never `dream`), latest first, and the total of the match.

        Raises:
            InvalidRequest: an unknown `sort` or `archive`, or an `after` that this order does not produce.
        """
        ...

    async def count_sessions(self) -> dict[str, int]:
        """Return the number of sessions by state."""
        ...

    async def count_attention(self) -> dict[str, tuple[int, int]]:
        """Return for each workspace how many sessions need a person, and how many have something finished to show.

        Archived sessions and those no list may show are not counted; workspaces without any are left out.
        """
        ...

    async def agent_metrics(self, workspace_id: str, names: Sequence[str], *, now: str) -> dict[str, AgentMetrics]:
        """Return the metrics of each named agent at `now`, zeros where it has no sessions. Cost is per name asked."""
        ...

    async def active_agents(self, workspace_id: str) -> frozenset[str]:
        """Return the names of the agents with at least one active session that a list may show."""
        ...

    async def delete_session(self, session_id: str) -> bool:
        """Remove the session with its events, prompts and processes; return whether it was there."""
        ...

    async def oldest_stopped(
        self, *, shown: bool, limit: int, after: tuple[str, str] = ("", "")
    ) -> tuple[OldSession, ...]:
        """Return stopped sessions, longest idle first, that come after a (last activity, id).

        Left out are those with a child that is not stopped. `shown` says whether those of lists or the hidden ones.
        """
        ...

    async def weigh_session(self, session_id: str) -> tuple[int, int]:
        """Return how many events a session has, and the bytes they take."""
        ...

    async def size(self) -> StoreSize: ...

    async def append_events(
        self,
        session_id: str,
        drafts: Sequence[EventDraft],
        *,
        record: SessionRecord | None = None,
        prompt: PromptRecord | None = None,
    ) -> tuple[StoredEvent, ...]:
        """Store the events in order, each as its own row, the session row and a prompt's identity (`put_prompt`) with
        them. Durable on return.

        Raises:
            NotFound: there is no such session and no `record` was given.
        """
        ...

    async def archive_events(
        self, session_id: str, first: int, drafts: Sequence[EventDraft], *, record: SessionRecord
    ) -> tuple[int, tuple[StoredEvent, ...]]:
        """Archive every event from sequence `first` on, then append as `append_events` does, all or nothing.

        Returns:
            How many events were archived, and the stored ones.
        """
        ...

    async def read_events(self, session_id: str, query: EventQuery) -> tuple[StoredEvent, ...]: ...
    async def last_sequence(self, session_id: str) -> int:
        """Return the highest sequence, 0 when there is no event."""
        ...

    async def put_segment(self, session_id: str, segment: TranscriptSegment, *, mark: int) -> bool:
        """Keep a segment in place of those that begin in it; return whether it was kept.

        It is not when the session is gone, or events were archived since `mark` was read.
        """
        ...

    async def read_segments(
        self, session_id: str, *, before_sequence: int | None = None, entries: int
    ) -> tuple[TranscriptSegment, ...]:
        """Return the newest segments that begin before a sequence, until they hold that many entries; ascending.

        Segments with an archived event do not exist.
        """
        ...

    async def transcript_end(self, session_id: str) -> TranscriptEnd:
        """Return how far the session is folded."""
        ...

    async def put_prompt(self, prompt: PromptRecord) -> None:
        """Insert the prompt in place of those with its key or its message id (an empty one names nobody)."""
        ...

    async def find_prompt(
        self, session_id: str, *, idempotency_key: str = "", message_id: str = ""
    ) -> PromptRecord | None:
        """Return the prompt with that key, else the one with that message id."""
        ...

    async def put_grant(self, grant: ApprovalGrant) -> None:
        """Insert the grant in place of the one with its workspace, tool, agent and input, or with its id."""
        ...

    async def list_grants(self, workspace_id: str) -> tuple[ApprovalGrant, ...]:
        """Return the grants of a workspace, oldest first."""
        ...

    async def delete_grant(self, workspace_id: str, grant_id: str) -> bool: ...

    async def add_message(self, message: Message, *, keep: int) -> int:
        """Store a message and return its number; of the receiver's only the newest `keep` stay.

        Raises:
            NotFound: the receiver is gone.
        """
        ...

    async def read_messages(
        self, session_id: str, *, after: int = 0, up_to: int | None = None, limit: int, newest: bool = False
    ) -> tuple[StoredMessage, ...]:
        """Return the first, or the newest, messages to a session with a number in that range; ascending."""
        ...

    async def put_process(self, process: ProcessRecord) -> None: ...
    async def delete_process(self, pid: int, start_time: str) -> None: ...
    async def list_processes(self) -> tuple[ProcessRecord, ...]: ...
