"""The seam between an agent process and the rest: records that cross it and what each side promises.

`AcpClient` (acp/client.py) implements `AgentConnection`; runtime implements `AgentRequests`. The wire is ACP v1:
newline-delimited JSON-RPC over stdio (spec/acp.md). Promises of the connection:

* updates of one session arrive in wire order, in batches, one call at a time (two sessions of one process may be
  delivered at the same time); awaiting inside `on_updates` is back-pressure on the agent, and memory stays bounded
  while it waits. So `on_updates` must never wait for something only the agent can give;
* a request of the agent reaches `AgentRequests` after the updates that came before it;
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

    def __repr__(self) -> str:
        # The environment holds credentials, and records end up in logs.
        return f"LaunchSpec(argv={self.argv!r}, cwd={self.cwd!r}, env=<{len(self.env)} variables>)"


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
    additional_directories: bool = False
    name: str = ""
    version: str = ""
    auth_methods: tuple[str, ...] = ()


class SessionMode(Record, frozen=True, kw_only=True):
    """A mode the agent offers."""

    id: str
    name: str = ""


class SessionOptions(Record, frozen=True, kw_only=True):
    """Everything a session offers now. The connection keeps it current: answers and updates replace their part (the
    modes, the whole list of options), so take it as a whole."""

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
    """One `session/update` notification: `kind` is its sessionUpdate word ("" when it names none), `raw` the whole
    update object as the agent wrote it. `replay` marks what belongs to a running `load_session`."""

    session_id: str
    kind: str
    raw: msgspec.Raw
    replay: bool = False


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


class StopBounds(Record, frozen=True, kw_only=True):
    """How long each step of `close` may take, in seconds (contract §5.4.9)."""

    # A turn that is cancelled ends by itself within this time, or is ended.
    cancel: float = 5.0
    # Measured agents leave 0.01–2.0 s after their stdin closed.
    eof: float = 1.5
    # Between SIGTERM and SIGKILL.
    term: float = 0.25


class WireLimits(Record, frozen=True, kw_only=True):
    """What one agent may make us hold in memory, in bytes unless stated."""

    # Real agents send lines of 3 MB and more; without any bound one line is a memory bomb.
    line: int = 64 * 1024 * 1024
    # Updates read but not yet taken by `on_updates`; above either figure the pipe is not read any more.
    queue: int = 4 * 1024 * 1024
    queue_updates: int = 8192
    # Bytes written but not yet read by the agent; above, the agent counts as dead.
    unread: int = 64 * 1024 * 1024
    # Seconds a request may wait for the agent to read its input.
    write_stall: float = 30.0


class AgentStartError(Exception):
    """The program could not be started: not found, not executable, no such working folder."""


class AgentBusy(Exception):
    """A prompt of the session is already in progress."""


class AgentError(Exception):
    """The agent answered a request with a JSON-RPC error."""

    def __init__(self, method: str, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{method}: {message} ({code})")
        self.method, self.code, self.rpc_message, self.data = method, code, message, data


class AgentDied(Exception):
    """The process is gone or its output closed; carries exit status, stderr tail and stray output, not redacted."""

    def __init__(
        self, message: str, *, exit_code: int | None = None, stderr_tail: str = "", printed: str = ""
    ) -> None:
        super().__init__(message)
        self.exit_code, self.stderr_tail, self.printed = exit_code, stderr_tail, printed


class UpdatesLost(AgentDied):
    """The connection was ended because what the agent said could not be stored: nothing the agent did."""


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


class ElicitationField(Record, frozen=True, kw_only=True):
    """One thing a form asks for; `choices` are the values it accepts, empty for free text."""

    name: str
    kind: str
    title: str = ""
    choices: tuple[str, ...] = ()


class ElicitationRequest(Record, frozen=True, kw_only=True):
    """`elicitation/create` with a form: the agent asks a person something in words."""

    session_id: str
    message: str
    fields: tuple[ElicitationField, ...]


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

    async def on_elicitation(self, request: ElicitationRequest) -> dict[str, object] | None:
        """Return a value for each field, or None when nobody answered. Raises RequestRefused."""
        ...

    async def on_diagnostic(self, kind: str, text: str) -> None:
        """Take a note: ``stdout_noise``, ``unknown_method``, ``unknown_session``, ``protocol``, ``process``.

        Texts are cut to 2,000 characters and at most 200 of each kind are passed on.
        """
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

    async def initialize(
        self, *, client_version: str, timeout: float, offer_files: bool = True, offer_terminals: bool = True
    ) -> AgentInfo:
        """Negotiate. Raises AgentProtocolError when the agent speaks another version than 1.

        `offer_files=False` is for agents whose own file code is right and whose use of ours is not (seen: gemini).
        """
        ...

    def options(self, session_id: str) -> SessionOptions:
        """Return what the session offers now, after every answer and update so far."""
        ...

    async def authenticate(self, method_id: str, *, timeout: float) -> None:
        """Never called by itself: the agent's sign-in belongs to its user."""
        ...

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
    ) -> SessionOptions:
        """Replay arrives through `on_updates` with `replay` set, also what comes shortly after the answer."""
        ...

    async def resume_session(
        self,
        session_id: str,
        *,
        cwd: str,
        mcp_servers: Sequence[Mapping[str, object]],
        additional_dirs: Sequence[str],
        timeout: float,
    ) -> SessionOptions: ...

    async def close_session(self, session_id: str, *, timeout: float) -> None: ...

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
        Raises AgentBusy, AgentError, AgentDied, AgentProtocolError.
        """
        ...

    async def cancel(self, session_id: str) -> None:
        """Send `session/cancel`; pending permission requests of the session are answered `cancelled`, its
        terminals are killed. Without a running prompt nothing is sent: it would kill the next turn."""
        ...

    async def close(self) -> None:
        """Cancel, close stdin, SIGTERM the group, then SIGKILL; then sweep descendants. Bounded, idempotent."""
        ...
