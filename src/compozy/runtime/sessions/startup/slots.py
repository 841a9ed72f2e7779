"""The slots of the startup prompt that other parts of the product fill, and what they are told (contract §5.7).

A slot that is empty says nothing. A slot that raises a `CompozyError` stops what it was asked for: the creation of
the session, or the turn.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from compozy.model.definition import AgentDefinition
from compozy.model.session import Lineage


@dataclass(frozen=True, kw_only=True)
class BlockContext:
    """The session a block is for; `lineage` says what a parent gave its child."""

    agent_name: str
    workspace_id: str
    workspace_root: str
    additional_dirs: tuple[str, ...]
    provider: str
    definition: AgentDefinition
    definition_path: Path
    permission_mode: str = ""
    lineage: Lineage | None = None


Block = Callable[[BlockContext], Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class TurnContext:
    """The session a turn's context is for."""

    session_id: str
    agent_name: str
    workspace_id: str
    workspace_root: str
    definition_path: str


TurnBlock = Callable[[TurnContext], Awaitable[str]]


async def _nothing(context: BlockContext) -> str:
    return ""


async def _no_tools(context: BlockContext) -> str | None:
    return None


async def _nothing_new(context: TurnContext) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class StartupSlots:
    """Who fills which block.

    `tools` returns None for a session without hosted tools, else what it has to say about them beyond the general
    rule ("" for nothing). `turn_memory` and `turn_skills` are asked again on later turns; the latter returns the
    whole catalog, which the agent is told again when it changed.
    """

    memory: Block = _nothing
    soul: Block = _nothing
    skills: Block = _nothing
    tools: Callable[[BlockContext], Awaitable[str | None]] = _no_tools
    turn_memory: TurnBlock = _nothing_new
    turn_skills: TurnBlock = _nothing_new


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """What the slots said for one session; `tools` is None without hosted tools."""

    memory: str = ""
    soul: str = ""
    skills: str = ""
    tools: str | None = None


async def ask_slots(slots: StartupSlots, context: BlockContext) -> Blocks:
    """Return what the slots have to say.

    Raises:
        CompozyError: from a slot that cannot say it.
    """
    return Blocks(
        memory=await slots.memory(context),
        soul=await slots.soul(context),
        skills=await slots.skills(context),
        tools=await slots.tools(context),
    )
