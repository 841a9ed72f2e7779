"""What was said before, as text for an agent session that knows nothing of it (contract §5.9, P56).

Made from our own store: the words of user and assistant, newest kept when it grows too long. Tool output stays out.
"""

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


async def history_text(store: Store, session_id: str) -> str:
    """Return the words of earlier turns, "" when there are none."""
    fold = TranscriptFold()
    after = 0
    while True:
        page = await store.read_events(session_id, EventQuery(after_sequence=after, limit=_PAGE))
        fold.add(event for event in page if event.type in _TYPES)
        if len(page) < _PAGE:
            break
        after = page[-1].sequence
    said: list[str] = []
    left = HISTORY_BUDGET
    for entry in reversed(fold.entries()):
        text = "".join(part.text or "" for part in entry.message.parts).strip()
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
