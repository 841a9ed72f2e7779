"""Messages between sessions of one workspace: who may write to whom, what is stored, what an inbox holds (§6.2, D27).

Two sessions are peers when they are of one workspace and both are people's own, or of one family: a child that was
started with limits, and what it starts, speaks with its own family only. Everybody else does not exist for it.
A message starts no turn: the receiver is told when its next one begins (`sessions/startup/messages.py`).
"""

import asyncio

import msgspec

from compozy.config.redaction import Redactor
from compozy.documents.capability_document import choose, export_document, verify_document
from compozy.model import ids, times
from compozy.model.agent import Agent
from compozy.model.errors import Conflict, InvalidRequest, NotFound, TooLarge
from compozy.model.message import CapabilityBrief, Inbox, InboxMessage, Message, MessageKind, Peer, Sent
from compozy.model.session import Session
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.service import HIDDEN
from compozy.runtime.sessions.spawning.limits import CHILD_TYPES
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import Mailed, SessionQuery, SessionRecord, Store

TEXT_BYTES = 16 * 1024
BODY_BYTES = 64 * 1024
# Messages that may wait for one receiver, and how many of its messages are kept at all.
WAITING, KEPT = 100, 500
MOST_PEERS = 100


class Coordination:
    """The messages of one daemon."""

    def __init__(
        self, store: Store, sessions: Sessions, workspaces: Workspaces, fleet: Fleet, redactor: Redactor
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._workspaces = workspaces
        self._fleet = fleet
        self._redactor = redactor
        # Keeps the count of a full inbox exact.
        self._sending = asyncio.Lock()

    # --- peers

    async def peers(self, session: Session, *, limit: int = 50) -> tuple[Peer, ...]:
        """Return the sessions that one may write to: running ones first, then those a prompt can start again."""
        agents = await self._agents(session)
        found: list[Session] = []
        for state in ("active", "stopped"):
            query = SessionQuery(
                workspace_id=session.workspace_id,
                state=state,
                resumable=True if state == "stopped" else None,
                limit=MOST_PEERS,
            )
            rows = (record.session for record in (await self._store.list_sessions(query)).rows)
            found.extend(other for other in rows if _are_peers(session, other))
        return tuple(_peer(other, agents.get(other.agent_name)) for other in found[:limit])

    async def _agents(self, session: Session) -> dict[str, Agent]:
        place = await self._place(session)
        return {agent.name: agent for agent in (await self._fleet.visible(place)).agents}

    async def _place(self, session: Session) -> Workspace | None:
        return await self._workspaces.get(session.workspace_id) if session.workspace_id else None

    # --- sending

    async def send_text(self, sender: Session, to: str, text: str) -> Sent:
        """Store a text for a peer.

        Raises:
            NotFound: there is no such peer.
            Conflict: it can never be prompted again, or its inbox is full.
            InvalidRequest, TooLarge: the text is empty or too long.
        """
        if not text.strip():
            raise InvalidRequest("text is required: say something")
        if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
            raise TooLarge(f"a message has at most {TEXT_BYTES} bytes: write a file and name it")
        return await self._send(sender, to, "text", text=self._redactor.text(text))

    async def send_capability(self, sender: Session, to: str, body: dict[str, object]) -> Sent:
        """Store a capability for a peer, after its digest was computed anew on the receiver's side.

        Raises:
            Conflict: the digest does not fit; nothing was stored.
            InvalidRequest: it is no capability, or holds a secret.
        """
        data = msgspec.json.encode(body)
        if len(data) > BODY_BYTES:
            raise TooLarge(f"a capability has at most {BODY_BYTES} bytes: shorten it")
        known = verify_document(data.decode())
        if self._redactor.json_bytes(data) != data:
            raise InvalidRequest("the capability holds a secret: take it out, then export the capability again")
        sent = await self._send(sender, to, "capability", body=body)
        return msgspec.structs.replace(sent, digest=known.digest)

    async def own_capability(self, sender: Session, wanted: str) -> dict[str, object]:
        """Return the body that transfers a capability of the sender's own agent, `ID` or `ID@PIN`.

        Raises:
            NotFound: its agent declares none of that id.
            Conflict: the pin does not fit.
        """
        agent = await self._fleet.get(sender.agent_name, await self._place(sender))
        (found,) = choose(agent.capabilities, (wanted,))
        body = export_document(agent.name, found)["body"]
        assert isinstance(body, dict), "a document has a body"
        return body

    async def _send(
        self, sender: Session, to: str, kind: MessageKind, *, text: str = "", body: dict[str, object] | None = None
    ) -> Sent:
        receiver = await self._receiver(sender, to)
        message = Message(
            id=ids.new_message_id(),
            workspace_id=sender.workspace_id,
            sender_session_id=sender.id,
            sender_agent=sender.agent_name,
            to=receiver.session.id,
            kind=kind,
            sent_at=times.now(),
            text=text,
            body=body,
        )
        async with self._sending:
            waiting = await self._waiting(receiver)
            if waiting >= WAITING:
                raise Conflict(
                    f"{waiting} messages wait for session {receiver.session.id!r} already: wait for its next turn",
                    code="inbox_full",
                )
            await self._store.add_message(message, keep=KEPT)
        return Sent(message_id=message.id, to=message.to, kind=kind, waiting=waiting + 1)

    async def _waiting(self, record: SessionRecord) -> int:
        told = record.mailed.told
        return len(await self._store.read_messages(record.session.id, after=told, limit=WAITING + 1))

    async def _receiver(self, sender: Session, to: str) -> SessionRecord:
        wanted = to.strip()
        session_id = wanted.rpartition(".")[2]
        try:
            record = await self._sessions.record(session_id)
        except NotFound:
            raise _no_peer(to) from None
        session = record.session
        if not _are_peers(sender, session) or wanted not in (session.id, _peer_id(session)):
            raise _no_peer(to)
        if session.archived_at is not None or (session.state == "stopped" and not session.attachable):
            raise Conflict(
                f"session {session.id!r} takes no more turns: see network_peers for those that do",
                code="peer_unreachable",
            )
        return record

    # --- reading

    async def unread(self, session_id: str) -> tuple[Message, ...]:
        """Return the messages a session was not told yet, the oldest first."""
        record = await self._sessions.record(session_id)
        found = await self._store.read_messages(session_id, after=record.mailed.told, limit=WAITING)
        return tuple(one.message for one in found)

    async def inbox(self, session_id: str, *, limit: int, mark: bool = True) -> Inbox:
        """Return the newest messages of a session; those it now has seen are not told again unless `mark` is off."""
        told = (await self._sessions.record(session_id)).mailed.told
        found = await self._store.read_messages(session_id, limit=limit, newest=True)
        unread = await self._store.read_messages(session_id, after=told, limit=WAITING)
        if len(unread) > limit:
            # Never past one that was not shown: the oldest that are new, then.
            found = unread[:limit]
        if mark and found and found[-1].number > told:
            last = found[-1].number
            live = await self._sessions.live(session_id)
            await live.journal.change(lambda record: _told(record, last))
        rows = tuple(
            InboxMessage(
                message_id=one.message.id,
                sender=one.message.sender,
                kind=one.message.kind,
                sent_at=one.message.sent_at,
                is_new=one.number > told,
                text=one.message.text,
                body=one.message.body,
            )
            for one in found
        )
        return Inbox(messages=rows, unread=len(unread))


def _told(record: SessionRecord, last: int) -> SessionRecord:
    known = record.mailed
    if known.told >= last:
        return record
    # The turn keeps what it was told at its start, so that a restart of it tells no less.
    return msgspec.structs.replace(record, mailed=Mailed(told=last, before=known.before, turn_id=known.turn_id))


def _are_peers(one: Session, other: Session) -> bool:
    if other.id == one.id or HIDDEN in (one.type, other.type) or one.workspace_id != other.workspace_id:
        return False
    if one.type in CHILD_TYPES or other.type in CHILD_TYPES:
        return _root(one) == _root(other)
    return True


def _root(session: Session) -> str:
    return (session.lineage.root_session_id if session.lineage is not None else "") or session.id


def _peer_id(session: Session) -> str:
    return f"{session.agent_name}.{session.id}"


def _peer(session: Session, agent: Agent | None) -> Peer:
    known = agent.capabilities if agent is not None else ()
    return Peer(
        peer_id=_peer_id(session),
        session_id=session.id,
        agent_name=session.agent_name,
        state=session.state,
        display_name=session.name,
        capabilities=tuple(CapabilityBrief(id=item.id, summary=item.summary) for item in known),
    )


def _no_peer(to: str) -> NotFound:
    return NotFound(f"there is no peer {to[:200]!r} in this workspace: see network_peers", code="peer_not_found")
