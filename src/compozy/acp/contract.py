"""The seam between an agent process and the rest: records that cross it and what each side promises.

`AcpClient` (acp/client.py) implements `AgentConnection`; runtime implements `AgentRequests`. The wire is ACP v1:
newline-delimited JSON-RPC over stdio (spec/acp.md). Promises of the connection:

* updates of one session arrive in wire order, in batches, one call at a time; awaiting inside `on_updates`
  is back-pressure on the agent, and memory stays bounded while it waits;
* every request of ours ends: by an answer, by `AgentDied` or `AgentTimeout`, never by hanging;
* `close` leaves no process of the launch alive, whatever the agent does (group, descendants, marker sweep).
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from compozy.model.record import Record
from compozy.model.session import ConfigOption


class LaunchSpec(Record, frozen=True, kw_only=True):
    """How to start an agent program: no shell, own process group, environment complete as given.

    `marker` is put into the environment as COMPOZY_PROCESS_MARKER, so that descendants which left the group can
    be found again, also by the next daemon.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    marker: str


class ProcessIdentity(Record, frozen=True, kw_only=True):
    """A process that is certainly the same one: pid and start time (clock ticks since boot, as text)."""

    pid: int
    start_time: str
    group: int
    marker: str


class AgentInfo(Record, frozen=True, kw_only=True):
    """The answer to `initialize`."""

    protocol_version: int
    load_session: bool
    resume_session: bool
    close_session: bool
    prompt_image: bool
    prompt_audio: bool
    prompt_embedded_context: bool
    name: str = ""
    version: str = ""
    auth_methods: tuple[str, ...] = ()


class SessionMode(Record, frozen=True, kw_only=True):
    """A mode the agent offers."""

    id: str
    name: str = ""


class SessionOptions(Record, frozen=True, kw_only=True):
    """What `session/new`, `session/load` and every `set_*` answer say: replaces what was known, never merges."""

    session_id: str
    modes: tuple[SessionMode, ...] = ()
    current_mode: str = ""
    config_options: tuple[ConfigOption, ...] = ()
    option_categories: dict[str, str] = {}
    """Config option id to its category, where the agent names one."""
    legacy_models: tuple[str, ...] = ()
    """Model ids of agents that still send `models` (use `set_model`)."""
    legacy_current_model: str = ""


class SessionUpdate(Record, frozen=True, kw_only=True):
    """One `session/update` notification: `kind` is its sessionUpdate word, `raw` the whole update object."""

    session_id: str
    kind: str
    raw: msgspec.Raw


class PermissionOption(Record, frozen=True, kw_only=True):
    """One choice of a permission request; `kind` is allow_once, allow_always, reject_once, reject_always."""

    option_id: str
    name: str
    kind: str


class PermissionRequest(Record, frozen=True, kw_only=True):
    """`session/request_permission`: `raw` holds the whole params."""

    session_id: str
    options: tuple[PermissionOption, ...]
    raw: msgspec.Raw
    tool_call_id: str = ""
    title: str = ""
    kind: str = ""
    locations: tuple[str, ...] = ()
    meta_request_id: str = ""


class TerminalRequest(Record, frozen=True, kw_only=True):
    """`terminal/create`; `output_byte_limit` in bytes."""

    session_id: str
    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    output_byte_limit: int | None = None


class PromptOutcome(Record, frozen=True, kw_only=True):
    """The answer to `session/prompt`. `stop_reason` is the agent's own word, also when outside the schema."""

    stop_reason: str
    usage: dict[str, object] | None = None
    raw: msgspec.Raw = msgspec.Raw(b"null")


class AgentError(Exception):
    """The agent answered a request with a JSON-RPC error."""

    def __init__(self, method: str, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{method}: {message} ({code})")
        self.method, self.code, self.rpc_message, self.data = method, code, message, data


class AgentDied(Exception):
    """The process is gone or its output closed; carries exit status and the redaction-free stderr tail."""

    def __init__(self, message: str, *, exit_code: int | None = None, stderr_tail: str = "") -> None:
        super().__init__(message)
        self.exit_code, self.stderr_tail = exit_code, stderr_tail


class AgentTimeout(Exception):
    """The agent did not answer within the stated bound (seconds)."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"{method}: no answer within {seconds:g} s")
        self.method, self.seconds = method, seconds


class AgentProtocolError(Exception):
    """The agent broke the protocol beyond what can be tolerated (for example a line above the size bound)."""


class RequestRefused(Exception):
    """Raised by an `AgentRequests` method to answer a JSON-RPC error; code -32602 unless stated."""

    def __init__(self, message: str, *, code: int = -32602, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code, self.data = code, dict(data or {})


class AgentRequests(Protocol):
    """What the agent may ask of us. Implemented by runtime; called by the connection."""

    async def on_updates(self, updates: Sequence[SessionUpdate]) -> None:
        """Take a batch of updates in wire order. Returning means they are stored."""
        ...

    async def on_permission(self, request: PermissionRequest) -> str | None:
        """Return the chosen option id, or None for outcome `cancelled`. Cancelled when the agent withdraws it."""
        ...

    async def on_read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        """Return the text. Raises RequestRefused; a missing file uses code -32002."""
        ...

    async def on_write_text_file(self, session_id: str, path: str, content: str) -> None:
        """Write the whole file. Raises RequestRefused."""
        ...

    async def on_terminal(self, request: TerminalRequest) -> LaunchSpec:
        """Authorise a terminal and say how to start it; the connection then owns it. Raises RequestRefused."""
        ...

    async def on_diagnostic(self, kind: str, text: str) -> None:
        """Take a note about the wire: ``stdout_noise``, ``unknown_method``, ``unknown_session``, ``stderr``."""
        ...

    async def on_exit(self, exit_code: int | None, stderr_tail: str) -> None:
        """The process ended or its output closed without us asking. Called once, after the last update."""
        ...


class AgentConnection(Protocol):
    """One live agent process. All bounds are in seconds."""

    @property
    def process(self) -> ProcessIdentity: ...

    @property
    def is_alive(self) -> bool: ...

    def stderr_tail(self) -> str:
        """Return the last 128 KiB the agent wrote to stderr."""
        ...

    async def initialize(self, *, client_version: str, timeout: float) -> AgentInfo: ...

    async def new_session(
        self,
        *,
        cwd: str,
        mcp_servers: Sequence[Mapping[str, object]],
        additional_dirs: Sequence[str],
        timeout: float,
    ) -> SessionOptions: ...

    async def load_session(
        self,
        session_id: str,
        *,
        cwd: str,
        mcp_servers: Sequence[Mapping[str, object]],
        additional_dirs: Sequence[str],
        timeout: float,
    ) -> SessionOptions: ...

    async def set_mode(self, session_id: str, mode_id: str, *, timeout: float) -> None: ...

    async def set_config_option(
        self, session_id: str, option_id: str, value: str | bool, *, timeout: float
    ) -> SessionOptions: ...

    async def set_model(self, session_id: str, model_id: str, *, timeout: float) -> None: ...

    async def prompt(
        self,
        session_id: str,
        blocks: Sequence[Mapping[str, object]],
        *,
        meta: Mapping[str, object],
    ) -> PromptOutcome:
        """Send one turn and wait for its end, without a bound of its own: the caller supervises and cancels.

        Returns after every update that came before the answer was handled, and after 50 ms of quiet (≤ 100 ms).
        """
        ...

    async def cancel(self, session_id: str) -> None:
        """Send `session/cancel`; pending permission requests of the session are answered `cancelled`, its
        terminals are killed."""
        ...

    async def close(self) -> None:
        """Cancel, close stdin, SIGTERM the group, then SIGKILL; then sweep descendants. Bounded, idempotent."""
        ...
