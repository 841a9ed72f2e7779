"""One session's way back: rewind to before a prompt, clear (contract §3.5). The rules are in `rewinding.py`."""

import asyncio
from typing import Protocol

import msgspec

from compozy.model.event import StoredEvent
from compozy.model.session_answers import RewindResult
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.hosting import AgentHost
from compozy.runtime.sessions.journal import Journal
from compozy.runtime.sessions.rewinding import (
    Kind,
    RewindRequest,
    check_fence,
    find_prompt,
    forgotten,
    marker,
    remembered,
    replayed,
    result_of,
)


class RewindOwner(Protocol):
    """What a rewind needs of its session."""

    @property
    def journal(self) -> Journal: ...
    @property
    def lifecycle(self) -> asyncio.Lock: ...
    def refuse_unsettled(self, what: str) -> None: ...


class Rewinds:
    """Takes the conversation of one session back."""

    def __init__(self, deps: Deps, maker: EventMaker, host: AgentHost, owner: RewindOwner) -> None:
        self._store = deps.store
        self._maker = maker
        self._host = host
        self._owner = owner

    async def rewind(self, request: RewindRequest) -> RewindResult:
        """Take the conversation back to before one of its prompts.

        Raises:
            Conflict: a turn is in flight or prompts wait, or the fence is stale.
            NotFound: there is no such prompt.
        """
        journal = self._owner.journal
        async with self._owner.lifecycle:
            earlier = replayed(journal.record, request)
            if earlier is not None:
                return earlier
            self._owner.refuse_unsettled("rewind it")
            check_fence(journal.record, request, journal.ring.last_sequence)
            target = await find_prompt(self._store, journal.session.id, request.message_id)
            count, last, marked = await self._take_back("rewound", target.sequence, request.message_id)
            result = result_of(journal.record, target, count, last, marked)
            keep = remembered(request, result)
            await journal.change(lambda record: msgspec.structs.replace(record, rewound=keep))
            return result

    async def clear(self) -> None:
        """Begin the conversation anew; what was said is archived.

        Raises:
            Conflict: a turn is in flight or prompts wait.
        """
        async with self._owner.lifecycle:
            self._owner.refuse_unsettled("clear it")
            await self._take_back("cleared", 1, "")

    async def _take_back(self, kind: Kind, first: int, message_id: str) -> tuple[int, int, StoredEvent]:
        journal = self._owner.journal
        if self._host.process is not None:
            # Its own session knows what is taken back.
            await self._host.drop(self._host.process)
        last = journal.ring.last_sequence
        draft = marker(self._maker, kind, first, last, message_id)
        count, stored = await journal.archive(first, [draft], forgotten(kind))
        return count, last, stored[-1]
