"""What happened in one turn, told from the frames of its stream (contract §3.5, UI stream).

`TurnRecord.apply` takes one frame and returns the steps it means; it prints nothing, asks nothing, and accepts
frames and fields it does not know. `compozy.cli.turn_printer` turns steps into lines, `compozy.cli.turns` drives.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from compozy.cli.connection import JsonObject, text_of
from compozy.cli.output import few

DECISIONS = ("allow-once", "allow-always", "reject-once", "reject-always")
DENIALS = ("reject-once", "reject-always")
PlanEntry = tuple[str, str]
"""Status and text of one entry of a plan."""


@dataclass
class ToolCall:
    """One tool call as far as it is known; `status` is running, completed or failed."""

    id: str
    title: str = ""
    kind: str = ""
    status: Literal["running", "completed", "failed"] = "running"
    places: tuple[str, ...] = ()
    error: str = ""

    def as_json(self) -> JsonObject:
        found: JsonObject = {"id": self.id, "title": self.title, "kind": self.kind, "status": self.status}
        extra: JsonObject = {"places": list(self.places), "error": self.error}
        return found | {key: value for key, value in extra.items() if value}


@dataclass
class Permission:
    """One question of the agent, and its answer once there is one; `choices` are the decisions on offer."""

    request_id: str
    turn_id: str = ""
    title: str = ""
    kind: str = ""
    command: str = ""
    places: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    expires_at: str = ""
    decision: str = ""
    decided_by: str = ""
    was_pending: bool = False

    @property
    def is_denied(self) -> bool:
        return self.decision in DENIALS

    @property
    def subject(self) -> str:
        """Return what was asked for in a few words: `edit /repo/notes.md`."""
        what = self.command or few(self.places) or self.title
        return f"{self.kind} {what}".strip() or self.request_id

    def as_json(self) -> JsonObject:
        found: JsonObject = {"request_id": self.request_id, "title": self.title, "kind": self.kind}
        extra: JsonObject = {"command": self.command, "places": list(self.places)}
        answer: JsonObject = {"decision": self.decision or "pending", "decided_by": self.decided_by}
        return found | {key: value for key, value in extra.items() if value} | answer


class Text(NamedTuple):
    """A piece of the agent's answer."""

    text: str


class TextEnded(NamedTuple):
    """The current block of text is complete."""


class Thought(NamedTuple):
    """A piece of the agent's reasoning."""

    text: str


class ToolStarted(NamedTuple):
    """A tool call began or became known better."""

    call: ToolCall


class ToolEnded(NamedTuple):
    """A tool call completed or failed."""

    call: ToolCall


class PlanChanged(NamedTuple):
    """The agent's plan; `changed` are the entries that are new or have a new status."""

    entries: tuple[PlanEntry, ...]
    changed: tuple[PlanEntry, ...]


class Asked(NamedTuple):
    """The agent asks for permission and waits."""

    permission: Permission


class Decided(NamedTuple):
    """A question got its answer, by a person, a policy or the clock."""

    permission: Permission


class Questioned(NamedTuple):
    """The agent asks something in words and waits; `command` is the line that answers it."""

    request_id: str
    text: str
    command: str


class Notice(NamedTuple):
    """The runtime says something: a warning, a recovery, a skipped model."""

    text: str


class Failed(NamedTuple):
    """The turn failed."""

    text: str


class Finished(NamedTuple):
    """The last frame of the turn."""


Step = (
    Text
    | TextEnded
    | Thought
    | ToolStarted
    | ToolEnded
    | PlanChanged
    | Asked
    | Decided
    | Questioned
    | Notice
    | Failed
    | Finished
)


@dataclass
class TurnRecord:
    """Everything one turn has said so far."""

    turn_id: str = ""
    texts: list[str] = field(default_factory=list)
    tool_calls: dict[str, ToolCall] = field(default_factory=dict)
    permissions: dict[str, Permission] = field(default_factory=dict)
    plan: tuple[PlanEntry, ...] = ()
    context_lost: bool = False
    """The agent does not remember the session; it was told the transcript."""
    usage: JsonObject = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    finish_reason: str = ""
    is_finished: bool = False
    _is_block_over: bool = False
    _was_noted: bool = False

    @property
    def text(self) -> str:
        """Return the agent's answer: its blocks of text, one after the other."""
        return "\n\n".join(block for block in ("".join(self.texts).split("\0")) if block.strip())

    def apply(self, frame: Mapping[str, object]) -> tuple[Step, ...]:
        """Take one frame and return what it means, in order.

        The stream ends a block of text before anything else it tells. Where that was only a note which nobody sees
        (an agent renames its session in mid-sentence), the next block goes on with the same sentence.
        """
        kind = frame.get("type")
        if kind == "text-end":
            self._is_block_over, self._was_noted = True, False
            return ()
        if not self._is_block_over or kind == "text-start":
            return tuple(self._steps(frame))
        if kind == "data-compozy-event":
            steps = tuple(self._steps(frame))
            self._was_noted = not steps
            return (*self._end_block(), *steps) if steps else ()
        if kind == "text-delta" and self._was_noted:
            self._is_block_over = False
            return tuple(self._steps(frame))
        return (*self._end_block(), *self._steps(frame))

    def _end_block(self) -> tuple[Step, ...]:
        self._is_block_over = False
        self.texts.append("\0")
        return (TextEnded(),)

    def _steps(self, frame: Mapping[str, object]) -> Iterator[Step]:
        match frame.get("type"):
            case "start":
                self.turn_id = text_of(frame, "messageId")
            case "text-delta":
                self.texts.append(text_of(frame, "delta").replace("\0", ""))
                yield Text(text_of(frame, "delta"))
            case "reasoning-delta":
                yield Thought(text_of(frame, "delta"))
            case "tool-input-start" | "tool-input-available":
                yield ToolStarted(self._tool(text_of(frame, "toolCallId"), title=text_of(frame, "toolName")))
            case "tool-output-available":
                output = frame.get("output")
                yield from self._ended(text_of(frame, "toolCallId"), output if isinstance(output, Mapping) else {})
            case "data-compozy-event":
                data = frame.get("data")
                yield from self._event(data if isinstance(data, Mapping) else {})
            case "data-compozy-permission":
                data = frame.get("data")
                yield from self._permission(text_of(frame, "id"), data if isinstance(data, Mapping) else {})
            case "error":
                self.errors.append(text_of(frame, "errorText"))
                yield Failed(text_of(frame, "errorText"))
            case "finish":
                self.finish_reason = text_of(frame, "finishReason")
                self.is_finished = True
                yield Finished()

    def _event(self, event: Mapping[str, object]) -> Iterator[Step]:
        kind = text_of(event, "type")
        raw = event.get("raw")
        detail: Mapping[str, object] = raw if isinstance(raw, Mapping) else {}
        if kind in ("tool_call", "tool_result"):
            call = self._tool(text_of(event, "tool_call_id"), title=text_of(event, "title"), raw=detail)
            ended = text_of(detail, "status") in ("completed", "failed")
            if ended or kind == "tool_result":
                yield from self._ended(call.id, event)
            else:
                yield ToolStarted(call)
        elif kind == "plan":
            yield from self._plan(detail)
        elif kind == "usage":
            usage = event.get("usage")
            self.usage.update(usage if isinstance(usage, Mapping) else {})
        elif kind == "transcript_marker.created" and text_of(event, "title") == "context_lost":
            self.context_lost = True
            yield Notice(text_of(event, "text"))
        elif kind == "clarify" and not text_of(event, "decision"):
            command = f"compozy attention answer {text_of(event, 'interaction_id')} --text TEXT"
            if event.get("decisions"):
                command = command.replace("--text TEXT", "--choice 0")
            yield Questioned(text_of(event, "request_id"), text_of(event, "title"), command)
        elif kind.startswith("runtime_") and kind != "runtime_progress":
            yield Notice(text_of(event, "text") or text_of(event, "title") or kind.replace("_", " "))
        elif kind == "system" and text_of(event, "text"):
            yield Notice(text_of(event, "text"))

    def _tool(self, call_id: str, *, title: str = "", raw: Mapping[str, object] | None = None) -> ToolCall:
        call = self.tool_calls.setdefault(call_id, ToolCall(call_id))
        detail = raw or {}
        call.title = text_of(detail, "title") or (title if title and not call.title else call.title)
        call.kind = text_of(detail, "kind") or call.kind
        call.places = _places(detail) or call.places
        return call

    def _ended(self, call_id: str, event: Mapping[str, object]) -> Iterator[Step]:
        raw = event.get("raw")
        detail: Mapping[str, object] = raw if isinstance(raw, Mapping) else {}
        call = self._tool(call_id, title=text_of(event, "title"), raw=detail)
        if call.status != "running":
            return
        call.error = text_of(event, "error")
        call.status = "failed" if call.error or text_of(detail, "status") == "failed" else "completed"
        yield ToolEnded(call)

    def _plan(self, raw: Mapping[str, object]) -> Iterator[Step]:
        entries = tuple(
            (text_of(e, "status") or "pending", text_of(e, "content")) for e in _mappings(raw.get("entries"))
        )
        changed = tuple(entry for entry in entries if entry not in self.plan)
        self.plan = entries
        if changed:
            yield PlanChanged(entries, changed)

    def _permission(self, request_id: str, event: Mapping[str, object]) -> Iterator[Step]:
        known = request_id or text_of(event, "request_id")
        permission = self.permissions.setdefault(known, Permission(known))
        _describe_permission(permission, event)
        decision = text_of(event, "decision")
        if not decision:
            permission.was_pending = True
            yield Asked(permission)
        elif not permission.decision or permission.decided_by == "":
            permission.decision = decision
            permission.decided_by = text_of(event, "resolved_by")
            yield Decided(permission)


def _mappings(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list; an agent may put anything there."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _describe_permission(permission: Permission, event: Mapping[str, object]) -> None:
    raw = event.get("raw")
    params: Mapping[str, object] = raw if isinstance(raw, Mapping) else {}
    nested = params.get("toolCall")
    call: Mapping[str, object] = nested if isinstance(nested, Mapping) else params
    permission.turn_id = text_of(event, "turn_id") or permission.turn_id
    permission.title = text_of(event, "title") or text_of(call, "title") or permission.title
    permission.kind = text_of(call, "kind") or text_of(event, "action") or permission.kind
    resource = text_of(event, "resource")
    permission.places = _places(call) or ((resource,) if resource else permission.places)
    permission.command = text_of(call, "rawInput", "command") or permission.command
    permission.changes = _changes(call) or permission.changes
    permission.expires_at = text_of(event, "expires_at") or permission.expires_at
    permission.choices = _choices(event, params) or permission.choices


def _choices(event: Mapping[str, object], params: Mapping[str, object]) -> tuple[str, ...]:
    """Return the decisions the daemon offers, else those the agent's own options mean."""
    stated = event.get("decisions")
    if isinstance(stated, list) and stated:
        return tuple(str(decision) for decision in stated)
    kinds = [text_of(option, "kind").replace("_", "-") for option in _mappings(params.get("options"))]
    return tuple(dict.fromkeys(kind for kind in kinds if kind in DECISIONS))


def _places(call: Mapping[str, object]) -> tuple[str, ...]:
    found = []
    for location in _mappings(call.get("locations")):
        line = text_of(location, "line")
        found.append(text_of(location, "path") + (f":{line}" if line else ""))
    return tuple(found)


def _changes(call: Mapping[str, object]) -> tuple[str, ...]:
    """Return one line for every file a tool call would change: its path and how much comes and goes."""
    found = []
    for block in _mappings(call.get("content")):
        if block.get("type") == "diff":
            old, new = text_of(block, "oldText").splitlines(), text_of(block, "newText").splitlines()
            what = f"-{len(old)} +{len(new)} lines" if old else f"a new file of {len(new)} lines"
            found.append(f"{text_of(block, 'path')}: {what}")
    return tuple(found)
