"""What was said before, as text for an agent session that knows nothing of it (contract §5.9, P56).

Made from our own store: the words of user and assistant, newest kept when it grows too long. Tool output stays out.
"""

from compozy.runtime.sessions.content import read_content
from compozy.runtime.sessions.transcript import TranscriptFold
from compozy.store.interface import EventQuery, Store

# Characters of history a new agent session is told.
HISTORY_BUDGET = 48_000
_PAGE = 1000
_TYPES = ("user_message", "agent_message")
_INTRO = (
    "What was said before in this session, oldest first. You have no other memory of it; continue from here.\n"
    "<compozy-transcript>\n"
)


# Characters of its own last words that a restarted agent is told, and tool calls it is reminded of.
SAID_BUDGET = 8_000
CALLS_SHOWN = 50
_RESTARTED = (
    "Your process ended while you worked on the request below, and was started again. Before that, in answer to this "
    "request, the following had happened. Look at what is there before you do a step again."
)


async def history_text(store: Store, session_id: str, *, without_turn: str = "") -> str:
    """Return the words of earlier turns, "" when there are none."""
    fold = TranscriptFold()
    after = 0
    while True:
        page = await store.read_events(session_id, EventQuery(after_sequence=after, limit=_PAGE))
        fold.add(
            event for event in page if event.type in _TYPES and not (without_turn and event.turn_id == without_turn)
        )
        if len(page) < _PAGE:
            break
        after = page[-1].sequence
    said: list[str] = []
    left = HISTORY_BUDGET
    for entry in reversed(fold.entries()):
        text = "".join(part.text or "" for part in entry.message.parts).strip()
        files = ", ".join(f"{part.filename} ({part.mediaType})" for part in entry.message.parts if part.filename)
        text = "\n".join(part for part in (text, f"[attached: {files}]" if files else "") if part)
        if not text:
            continue
        line = f"{entry.message.role}: {text}"
        if len(line) > left:
            said.append("(earlier messages left out)")
            break
        left -= len(line)
        said.append(line)
    if not said:
        return ""
    return _INTRO + "\n\n".join(reversed(said)) + "\n</compozy-transcript>"


async def work_text(store: Store, session_id: str, turn_id: str) -> str:
    """Return what an interrupted turn said and did so far, "" when it did nothing."""
    said: list[str] = []
    calls: dict[str, str] = {}
    after = 0
    while True:
        query = EventQuery(after_sequence=after, turn_id=turn_id, limit=_PAGE)
        page = await store.read_events(session_id, query)
        for event in page:
            if event.type == "agent_message":
                said.append(read_content(event.content).text)
            elif event.type in ("tool_call", "tool_result"):
                content = read_content(event.content)
                state = "without a result" if event.type == "tool_call" or content.error else "finished"
                calls[content.tool_call_id] = f"- {content.title or content.tool_call_id}: {state}"
        if len(page) < _PAGE:
            break
        after = page[-1].sequence
    parts = [_RESTARTED]
    text = "".join(said).strip()
    if text:
        parts.append(f"You said: {text[-SAID_BUDGET:]}")
    if calls:
        parts.append("Tools you called:\n" + "\n".join(list(calls.values())[-CALLS_SHOWN:]))
    return "\n\n".join(parts) if len(parts) > 1 else ""
