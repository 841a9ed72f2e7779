"""What one turn sends its agent: the text with its context, and the files given with it (contract §5.2, §5.4.8).

Everything that can be refused is refused here, before the user's message is stored. A new agent session that takes
over from a lost one is given the files of the conversation so far as well, as far as it takes them.
"""

import asyncio
from collections.abc import Sequence

from compozy.model.attachment import AttachmentRef
from compozy.model.errors import NotFound
from compozy.model.session import AcpCapabilities, Session
from compozy.runtime.sessions.attachments import AttachmentFiles
from compozy.runtime.sessions.attachments.blocks import content_block, problem_with, refuse_unsupported
from compozy.runtime.sessions.content import read_content
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.process import AgentProcess
from compozy.runtime.sessions.startup.messages import delivery_for
from compozy.runtime.sessions.startup.turn_text import turn_text
from compozy.runtime.sessions.supervision.turn import Turn
from compozy.store.interface import EventQuery, SessionRecord, Store

Block = dict[str, object]
# Bytes of earlier files that a new agent session is given again; the newest are kept.
_REPLAYED_BYTES = 16 << 20
_REPLAYED_FILES = 10
_PAGE = 1000


async def turn_blocks(
    deps: Deps, record: SessionRecord, process: AgentProcess, turn: Turn, *, is_restarted: bool = False
) -> list[Block]:
    """Return the content blocks of the turn's prompt; `is_restarted` says that its message is stored already.

    Raises:
        Unprocessable: the agent does not take a file, or the turn's context cannot be had.
        NotFound: a file is gone.
    """
    session, is_first = record.session, process.is_first_prompt
    can = process.capabilities()
    if not is_restarted:
        refuse_unsupported(turn.attachments, can, session.agent_name)
    files = AttachmentFiles(deps.home, deps.config.session.attachments)
    given = await asyncio.to_thread(_blocks, files, session, turn.attachments, can, skip_missing=is_restarted)
    turn.delivery = await delivery_for(deps.store, record, turn.id, is_first=is_first)
    prompt = await turn_text(
        deps.store,
        deps.slots,
        record,
        process.told,
        turn.text,
        is_first=is_first,
        restarted_turn=turn.id if is_restarted else "",
        messages=turn.delivery.block,
    )
    earlier: list[Block] = []
    if is_first:
        known = _replayable(await attached_before(deps.store, session.id, turn.id), can)
        earlier = await asyncio.to_thread(_blocks, files, session, known, can, skip_missing=True)
    return [{"type": "text", "text": prompt}, *earlier, *given]


async def attached_before(store: Store, session_id: str, turn_id: str) -> list[AttachmentRef]:
    """Return the files of the prompts before a turn, oldest first."""
    found: list[AttachmentRef] = []
    after = 0
    while True:
        page = await store.read_events(session_id, EventQuery(after_sequence=after, type="user_message", limit=_PAGE))
        for event in page:
            if event.turn_id != turn_id:
                found.extend(read_content(event.content).attachments)
        if len(page) < _PAGE:
            return found
        after = page[-1].sequence


def _replayable(known: Sequence[AttachmentRef], can: AcpCapabilities) -> tuple[AttachmentRef, ...]:
    kept: list[AttachmentRef] = []
    left = _REPLAYED_BYTES
    for attachment in reversed(known):
        left -= attachment.bytes
        if left < 0 or len(kept) == _REPLAYED_FILES:
            break
        if not problem_with(attachment, can):
            kept.append(attachment)
    return tuple(reversed(kept))


def _blocks(
    files: AttachmentFiles,
    session: Session,
    attachments: Sequence[AttachmentRef],
    can: AcpCapabilities,
    *,
    skip_missing: bool = False,
) -> list[Block]:
    found: list[Block] = []
    for attachment in attachments:
        try:
            known, data = files.read(session, attachment.id)
        except NotFound:
            if skip_missing:
                # It was deleted since; what was said about it is still told.
                continue
            raise
        found.append(dict(content_block(known, data, can)))
    return found
