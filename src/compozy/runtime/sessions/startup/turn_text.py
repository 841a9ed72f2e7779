"""The text of one turn's prompt: guidance for an agent that knows nothing yet, the turn's context, the request.

Implements contract §5.7 (augmenters: knowledge, memory, skills, situation) and §5.4 step 8. An agent is told
knowledge, skills and situation again only when they changed since; the notes of that are kept with its process.
"""

import asyncio
import hashlib
from collections.abc import MutableMapping
from typing import Literal

import msgspec

from compozy.runtime.sessions.prompts import first_turn, later_turn
from compozy.runtime.sessions.replay import history_text, work_text
from compozy.runtime.sessions.startup.assembly import situation, strip_envelope
from compozy.runtime.sessions.startup.knowledge import KNOWLEDGE_CLOSE, KNOWLEDGE_OPEN, read_knowledge
from compozy.runtime.sessions.startup.slots import StartupSlots, TurnContext
from compozy.store.interface import SessionRecord, Store

SKILLS_OPEN, SKILLS_CLOSE = "<current-available-skills>", "</current-available-skills>"
_UNCHANGED = "unchanged"

Told = MutableMapping[str, str]
"""Digests of what an agent process was told, by block."""


async def turn_text(
    store: Store,
    slots: StartupSlots,
    record: SessionRecord,
    told: Told,
    text: str,
    *,
    is_first: bool,
    source: Literal["user", "network", "synthetic"] = "user",
    restarted_turn: str = "",
    messages: str = "",
) -> str:
    """Return what the agent is sent; `is_first` says that it knows nothing of the session.

    `restarted_turn` is the running turn when its agent died and was started again: what it did is told too.
    `messages` is what other sessions sent, as a block.

    Raises:
        CompozyError: a part of the turn's context cannot be had; nothing was sent.
    """
    if record.session.type == "dream":
        # Sessions that work for the daemon itself are told their task and nothing else.
        return first_turn(record.startup_prompt, text) if is_first else text
    news = dict(told)
    context = await _context(slots, record, news, is_first=is_first, is_users=source == "user")
    if messages:
        context = (*context, strip_envelope(messages))
    if restarted_turn:
        done = strip_envelope(await work_text(store, record.session.id, restarted_turn))
        context = (*context, done) if done else context
    if is_first:
        history = strip_envelope(await history_text(store, record.session.id, without_turn=restarted_turn))
        prompt = first_turn(record.startup_prompt, text, history=history, context=context)
    else:
        prompt = later_turn(text, context)
    told.update(news)
    return prompt


async def _context(
    slots: StartupSlots, record: SessionRecord, told: Told, *, is_first: bool, is_users: bool
) -> tuple[str, ...]:
    session = record.session
    context = TurnContext(
        session_id=session.id,
        agent_name=session.agent_name,
        workspace_id=session.workspace_id,
        workspace_root=session.workspace_path,
        definition_path=record.definition_path,
    )
    knowledge = await asyncio.to_thread(read_knowledge, session.workspace_path)
    blocks = [_once(told, "knowledge", knowledge, f"{KNOWLEDGE_OPEN}{_UNCHANGED}{KNOWLEDGE_CLOSE}")]
    if is_users and not is_first:
        blocks.append(strip_envelope(await slots.turn_memory(context)).strip())
    catalog = strip_envelope(await slots.turn_skills(context)).strip()
    skills = f"{SKILLS_OPEN}\n{catalog}\n{SKILLS_CLOSE}" if catalog else ""
    marker = f"{SKILLS_OPEN}{_UNCHANGED}{SKILLS_CLOSE}"
    if is_first:
        # The startup prompt has them already.
        _once(told, "skills", skills, marker)
    else:
        blocks.append(_once(told, "skills", skills, marker))
    if is_users:
        now = situation(_sections(record))
        changed = _once(told, "situation", now, "")
        blocks.append("" if is_first else changed)
    return tuple(block for block in blocks if block)


def _once(told: Told, name: str, block: str, marker: str) -> str:
    """Return the block when it is news, else the marker; nothing when there is none."""
    digest = hashlib.sha256(block.encode("utf-8", "surrogatepass")).hexdigest() if block else ""
    if told.get(name, "") == digest:
        return marker if block else ""
    told[name] = digest
    return block


def _sections(record: SessionRecord) -> dict[str, object]:
    """Return the facts of the session that may change while it lives."""
    session = record.session
    runtime = session.runtime.effective
    return {
        "self": {
            "session_id": session.id,
            "agent_name": session.agent_name,
            **(msgspec.to_builtins(runtime) if runtime else {}),
        },
        "workspace": {"id": session.workspace_id, "root_dir": session.workspace_path},
        "session": {"id": session.id, "type": session.type or "user"},
    }
