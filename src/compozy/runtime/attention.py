"""What waits for a person, over all sessions and their children, and answering it from anywhere (issue 6; P43).

Reads the sessions whose badge says that they wait. Permissions and clarifications can be answered here; a login and
trust are given elsewhere, and the item names the command.
"""

import shlex
from collections.abc import Iterator

import msgspec

from compozy.model.attention import (
    AttentionAnswer,
    AttentionItem,
    AttentionKind,
    AttentionList,
    AttentionSummary,
    WorkspaceAttention,
)
from compozy.model.errors import Conflict, InvalidRequest
from compozy.model.session import Interaction, Session
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.badge import LOGIN_CODES, TRUST_CODE
from compozy.runtime.sessions.people import SessionPeople
from compozy.store.interface import SessionQuery, Store

_WAITING = ("waiting-for-auth", "waiting-for-input")
_PAGE = 100
# More than a person can answer; the total still counts the rest.
MOST_ITEMS = 500


class Attention:
    """The list of everything that waits for a person."""

    def __init__(self, store: Store, sessions: Sessions, people: SessionPeople) -> None:
        self._store = store
        self._sessions = sessions
        self._people = people

    async def items(self, *, workspace: str = "", root: str = "") -> AttentionList:
        """Return what waits, oldest first: everywhere, in one workspace, or below one session."""
        found: list[AttentionItem] = []
        cursor = ""
        while True:
            query = SessionQuery(workspace_id=workspace, root=root, badges=_WAITING, sort="attention", limit=_PAGE)
            page = await self._sessions.page(query, cursor=cursor)
            for session in page.sessions:
                found.extend(_items_of(session))
            cursor = page.page.next_cursor or ""
            if not cursor:
                break
        found.sort(key=lambda item: (item.asked_at, item.id))
        return AttentionList(items=tuple(found[:MOST_ITEMS]), total=len(found))

    async def answer(
        self,
        item_id: str,
        *,
        decision: str = "",
        choice_index: int | None = None,
        text: str = "",
        decline: bool = False,
    ) -> AttentionAnswer:
        """Answer one thing that waits.

        Raises:
            Conflict: nothing of that id waits now, or it is not answered here.
            InvalidRequest: the answer does not fit the question.
        """
        item = await self._find(item_id)
        if item.kind == "permission":
            if not decision or choice_index is not None or text or decline:
                raise InvalidRequest(f"{item_id!r} asks for a permission: give decision, one of {_offered(item)}")
            done = await self._sessions.approve(item.session_id, item.request_id, item.turn_id, decision)
            return AttentionAnswer(
                id=item.id,
                session_id=item.session_id,
                kind=item.kind,
                outcome=done.outcome,
                decision=done.resolved_decision,
            )
        if item.kind == "clarify":
            if decision:
                raise InvalidRequest(f"{item_id!r} is a question: give choice_index, text or decline, not a decision")
            said = await self._people.answer(item.session_id, item.request_id, choice_index, text, decline=decline)
            return AttentionAnswer(
                id=item.id,
                session_id=item.session_id,
                kind=item.kind,
                outcome="applied",
                choice=said.choice,
                text=said.text,
            )
        raise Conflict(f"{item_id!r} is not answered here: run {item.command}", code="answered_elsewhere")

    async def _find(self, item_id: str) -> AttentionItem:
        for item in (await self.items()).items:
            if item.id == item_id:
                return item
        raise Conflict(
            f"nothing with id {item_id!r} waits for a person: it was answered, its time was over, or its turn ended; "
            "see `compozy attention`",
            code="attention_not_pending",
        )

    async def summary(self) -> AttentionSummary:
        """Return how many sessions want a person, and how many have something finished to show, by workspace."""
        counts = await self._store.count_attention()
        rows = tuple(
            WorkspaceAttention(workspace_id=workspace, needs_you=needs, finished=finished)
            for workspace, (needs, finished) in sorted(counts.items())
        )
        return AttentionSummary(
            needs_you=sum(row.needs_you for row in rows),
            finished=sum(row.finished for row in rows),
            by_workspace=rows,
        )


def _offered(item: AttentionItem) -> str:
    return ", ".join(item.decisions) or "none"


def _items_of(session: Session) -> Iterator[AttentionItem]:
    for interaction in session.pending_interactions:
        if interaction.status == "pending":
            yield _question(session, interaction)
    code, quoted = session.runtime.failure_code, shlex.quote(session.workspace_path)
    if code in LOGIN_CODES:
        provider = session.runtime.effective.provider if session.runtime.effective else ""
        yield _obstacle(session, "auth", f"compozy provider auth login {shlex.quote(provider)}")
    elif code == TRUST_CODE:
        yield _obstacle(session, "trust", f"compozy trust grant --workspace {quoted}")


def _question(session: Session, interaction: Interaction) -> AttentionItem:
    command = f"compozy attention answer {interaction.interaction_id} --text TEXT"
    if interaction.kind == "permission":
        offered = interaction.decisions or ("allow-once",)
        command = command.replace("--text TEXT", f"--decision {offered[0]}")
    elif interaction.choices:
        command = command.replace("--text TEXT", "--choice 0")
    return _item(session, interaction.interaction_id, interaction.kind, command, interaction)


def _obstacle(session: Session, kind: AttentionKind, command: str) -> AttentionItem:
    return _item(session, f"{kind}:{session.id}", kind, command)


def _item(
    session: Session, item_id: str, kind: AttentionKind, command: str, asked: Interaction | None = None
) -> AttentionItem:
    lineage = session.lineage
    item = AttentionItem(
        id=item_id,
        kind=kind,
        question=session.runtime.failure,
        asked_at=session.attention_changed_at or session.updated_at,
        command=command,
        session_id=session.id,
        session_name=session.name,
        agent_name=session.agent_name,
        workspace_id=session.workspace_id,
        workspace_path=session.workspace_path,
        parent_session_id=lineage.parent_session_id if lineage else "",
        root_session_id=lineage.root_session_id if lineage else "",
    )
    if asked is None:
        return item
    return msgspec.structs.replace(
        item,
        question=asked.title,
        asked_at=asked.created_at,
        request_id=asked.provider_request_id,
        turn_id=asked.turn_id,
        action=asked.action,
        resource=asked.resource,
        decisions=asked.decisions,
        choices=asked.choices,
        expires_at=asked.expires_at,
        default_decision=asked.default_decision,
    )
