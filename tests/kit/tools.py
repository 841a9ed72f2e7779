"""Tools for tests: descriptors of every kind, and a source whose listing a test can change."""

from collections.abc import Callable, Mapping, Sequence

from compozy.model.tool import ReasonCode, Risk, SourceKind, ToolBackend, ToolContent, ToolDescriptor, ToolOrigin
from compozy.model.tool import Visibility as ToolVisibility
from compozy.tools.descriptors import new_descriptor
from compozy.tools.schema import problem_with
from compozy.tools.source import ToolCall, ToolEntry, ToolListing, ToolOutput, ToolScope

OBJECT: dict[str, object] = {"type": "object", "properties": {"text": {"type": "string"}}}


def make_tool(
    tool_id: str,
    *,
    kind: SourceKind = "builtin",
    owner: str = "compozy",
    risk: Risk = "read",
    visibility: ToolVisibility = "model",
    description: str = "Does something.",
    toolsets: Sequence[str] = (),
    max_result_bytes: int = 0,
    schema: dict[str, object] | None = None,
) -> ToolDescriptor:
    return new_descriptor(
        tool_id=tool_id,
        description=description,
        input_schema=schema or OBJECT,
        source=ToolOrigin(kind=kind, owner=owner),
        backend=ToolBackend(kind="mcp" if kind == "mcp" else "native_go"),
        risk=risk,
        visibility=visibility,
        toolsets=toolsets,
        max_result_bytes=max_result_bytes,
    )


Answer = Callable[[ToolCall], ToolOutput]


class ListedSource:
    """A ToolSource over a list; `put` changes it and tells the listeners."""

    def __init__(self, name: str = "listed", answer: Answer | None = None) -> None:
        self.name = name
        self.calls: list[ToolCall] = []
        self._answer = answer or (lambda call: ToolOutput(content=(ToolContent(type="text", text=call.tool_id),)))
        self._listeners: list[Callable[[], None]] = []
        self._listing = ToolListing(entries=())
        self._settled: ToolListing | None = None

    def put(
        self,
        *tools: ToolDescriptor,
        problems: Mapping[str, tuple[ReasonCode, ...]] | None = None,
        pending: Mapping[str, tuple[ReasonCode, ...]] | None = None,
        toolsets: Mapping[str, tuple[str, ...]] | None = None,
        settled: Sequence[ToolDescriptor] | None = None,
    ) -> "ListedSource":
        known = problems or {}
        entries = tuple(ToolEntry(descriptor=tool, problems=known.get(tool.tool_id, ())) for tool in tools)
        self._listing = ToolListing(entries=entries, pending=pending or {}, toolsets=toolsets or {})
        self._settled = None
        if settled is not None:
            self._settled = ToolListing(entries=tuple(ToolEntry(descriptor=tool) for tool in settled))
        for listener in tuple(self._listeners):
            listener()
        return self

    async def list(self, scope: ToolScope, *, settle: bool = False) -> ToolListing:
        if settle and self._settled is not None:
            self._listing, self._settled = self._settled, None
        return self._listing

    def check(self, entry: ToolEntry, arguments: Mapping[str, object]) -> str:
        return problem_with(entry.descriptor.input_schema, arguments)

    async def call(self, entry: ToolEntry, call: ToolCall) -> ToolOutput:
        self.calls.append(call)
        return self._answer(call)

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
