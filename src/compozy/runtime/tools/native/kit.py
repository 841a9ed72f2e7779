"""What every built-in tool is made of: a name, a record of arguments, a function; and the source that lists them.

The schema of a tool is that of its arguments' record, so that what is published is what is checked. Operator-only
actions (daemon, MCP logins, trust, secrets) are no tools at all (decisions D28).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from compozy.model.errors import CompozyError
from compozy.model.session import Session
from compozy.model.tool import ErrorCode, Risk, ToolBackend, ToolDescriptor, ToolOrigin
from compozy.model.workspace import Workspace
from compozy.tools.descriptors import new_descriptor
from compozy.tools.ids import NATIVE, native_id
from compozy.tools.source import ToolCall, ToolEntry, ToolFailed, ToolListing, ToolOutput, ToolScope

BOOTSTRAP = native_id("bootstrap")
CATALOG = native_id("catalog")
WORKSPACE = native_id("workspace")
SESSIONS = native_id("sessions")
CLARIFY = native_id("clarify")
COORDINATION = native_id("coordination")
# Groups that hold another group besides their own tools (contract §6.2).
INCLUDES: Mapping[str, tuple[str, ...]] = {CATALOG: (BOOTSTRAP,)}


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all argument records."""


class Nothing(Arguments, frozen=True, kw_only=True):
    """No arguments."""


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who calls: a session with its mode, or an operator (no session)."""

    session: Session | None
    workspace: Workspace | None
    permission_mode: str
    scope: ToolScope

    @property
    def is_operator(self) -> bool:
        """Whether the call does not come out of a session."""
        return self.session is None


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class NativeTool:
    """One built-in tool."""

    descriptor: ToolDescriptor
    arguments: type[Arguments]
    run: Callable[[Actor, Mapping[str, object]], Awaitable[object]]


def native(
    name: str,
    arguments: type[A],
    run: Callable[[Actor, A], Awaitable[object]],
    description: str,
    *,
    title: str,
    toolsets: Sequence[str],
    risk: Risk = "read",
    hints: Sequence[str] = (),
) -> NativeTool:
    """Return a tool; `run` gives what is answered as structured content, a record or plain data."""

    async def call(actor: Actor, values: Mapping[str, object]) -> object:
        return await run(actor, msgspec.convert(values, arguments))

    descriptor = new_descriptor(
        tool_id=native_id(name),
        title=title,
        description=description,
        input_schema=_schema(arguments),
        source=ToolOrigin(kind="builtin", owner=NATIVE),
        backend=ToolBackend(kind="native_go", native_name=name),
        risk=risk,
        toolsets=toolsets,
        search_hints=hints,
    )
    return NativeTool(descriptor=descriptor, arguments=arguments, run=call)


def _schema(arguments: type[Arguments]) -> dict[str, object]:
    """Return the schema of a record as one object, without references."""
    (built,), parts = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    name = str(built["$ref"]).rsplit("/", 1)[-1]
    schema = {key: value for key, value in parts[name].items() if key not in ("title", "description")}
    others = {key: value for key, value in parts.items() if key != name}
    return {**schema, "$defs": others} if others else schema


Whoever = Callable[[ToolScope], Awaitable[Actor]]


class NativeSource:
    """The source of the built-in tools: always the same listing."""

    name = "compozy"

    def __init__(self, tools: Sequence[NativeTool], actor_of: Whoever) -> None:
        self._tools = {tool.descriptor.tool_id: tool for tool in tools}
        self._actor_of = actor_of
        self._listing = ToolListing(
            entries=tuple(ToolEntry(descriptor=tool.descriptor) for tool in tools), toolsets=INCLUDES
        )

    async def list(self, scope: ToolScope, *, settle: bool = False) -> ToolListing:
        """Return all of them: what a caller may use is the policy's business."""
        return self._listing

    def check(self, entry: ToolEntry, arguments: Mapping[str, object]) -> str:
        """Say what does not fit the tool's record."""
        try:
            msgspec.convert(arguments, self._tools[entry.descriptor.tool_id].arguments)
        except msgspec.ValidationError as error:
            return str(error)
        return ""

    async def call(self, entry: ToolEntry, call: ToolCall) -> ToolOutput:
        """Run a tool; what the services refuse becomes a failure with their sentence."""
        tool = self._tools[call.tool_id]
        try:
            found = await tool.run(await self._actor_of(call.scope), call.arguments)
        except ToolFailed:
            raise
        except CompozyError as error:
            raise ToolFailed(error.message, code=_code(error)) from error
        return ToolOutput(structured=msgspec.to_builtins(found, enc_hook=_plain))

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Do nothing: the list never changes."""
        return _nothing


def _nothing() -> None:
    """End a watch that never was."""


def _plain(value: object) -> object:
    # Durations are floats with a name of their own.
    if isinstance(value, float):
        return float(value)
    if isinstance(value, msgspec.Raw):
        # What agents sent, as it was stored.
        return msgspec.json.decode(value)
    raise NotImplementedError(f"no JSON for {type(value).__name__}")


def _code(error: CompozyError) -> ErrorCode:
    codes: Mapping[int, ErrorCode] = {
        400: "tool_invalid_input",
        403: "tool_denied",
        404: "tool_not_found",
        409: "tool_conflict",
        410: "tool_not_found",
        413: "tool_invalid_input",
        422: "tool_unavailable",
        503: "tool_unavailable",
    }
    return codes.get(error.status, "tool_backend_failed")


def refuse(message: str) -> ToolFailed:
    """Return the refusal of a call that the caller may not make with these arguments."""
    return ToolFailed(message, code="tool_denied", reason="session_denied")
