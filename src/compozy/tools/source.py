"""The seam behind every tool: a source lists what it offers to a scope and runs a call (contract §6.1).

Sources of today and tomorrow: the daemon's own tools, configured MCP servers, extensions. What a source must keep:

* `list` is quick while nothing changed, and returns the *same* `ToolListing` object then; `settle=True` may take
  time: start what is started lazily, within the source's own bound, so that nothing stays pending without need;
* a server that cannot be reached is an entry or a pending prefix with its reason, never an exception;
* ids are canonical (`ids.py`); a name that cannot become one is left out and noted;
* `call` is bounded by the source, may be cancelled, and raises `ToolFailed` for what the backend did;
* listeners given to `watch` are told, on the event loop, whenever some scope's listing may have changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from compozy.model.record import Record
from compozy.model.tool import ErrorCode, ReasonCode, ToolArtifact, ToolContent, ToolDescriptor


class ToolScope(Record, frozen=True, kw_only=True):
    """For whom tools are listed: nobody in particular, a workspace, an agent there, a session."""

    workspace_id: str = ""
    agent_name: str = ""
    session_id: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolEntry:
    """One tool of a source; `problems` says why it cannot run now, empty when it can."""

    descriptor: ToolDescriptor
    problems: tuple[ReasonCode, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolListing:
    """What a source offers to a scope.

    `pending` holds prefixes of ids that are not known yet (a server that has not started), with the reason when it
    is known to fail. `toolsets` names groups and the groups they include; members name their groups themselves.
    """

    entries: tuple[ToolEntry, ...]
    pending: Mapping[str, tuple[ReasonCode, ...]] = field(default_factory=dict)
    toolsets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call, past the policy. `arguments` fit the tool's input schema."""

    tool_id: str
    arguments: Mapping[str, object]
    scope: ToolScope
    turn_id: str = ""
    tool_call_id: str = ""
    correlation_id: str = ""
    timeout: float = 120.0


@dataclass(frozen=True, kw_only=True)
class ToolOutput:
    """What the backend gave, whole: bounding is not its business. `is_error` is a tool's own failure report."""

    content: tuple[ToolContent, ...] = ()
    structured: object | None = None
    is_error: bool = False
    artifacts: tuple[ToolArtifact, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


class ToolFailed(Exception):
    """A call that gave no output: the backend is gone, too slow, or refuses."""

    def __init__(self, message: str, *, code: ErrorCode = "tool_backend_failed", reason: ReasonCode | None = None):
        super().__init__(message)
        self.message, self.code, self.reason = message, code, reason


class ToolSource(Protocol):
    """Where tools come from."""

    @property
    def name(self) -> str:
        """A word for logs and messages, unique among the sources."""
        ...

    async def list(self, scope: ToolScope, *, settle: bool = False) -> ToolListing:
        """Return what is offered to the scope."""
        ...

    def check(self, entry: ToolEntry, arguments: Mapping[str, object]) -> str:
        """Say what is wrong with a call's arguments, "" when they fit (`schema.py` does it for any JSON Schema)."""
        ...

    async def call(self, entry: ToolEntry, call: ToolCall) -> ToolOutput:
        """Run one call.

        Raises:
            ToolFailed: there is no output; the message says why.
        """
        ...

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Tell `listener` about changes; return what ends it."""
        ...
