"""Calls about sessions: lists, one session, what happened in it, and its streams (contract §3.5).

Whatever is done with one session takes the session itself, which names its workspace.
"""

from collections.abc import Mapping

from compozy.client.calls.caller import decode, given, segment
from compozy.client.calls.session_reads import SessionReads, path_of
from compozy.client.calls.streams import EventFollower, PromptStream
from compozy.client.multipart import one_file
from compozy.model.attachment import Attachment
from compozy.model.event import SessionEvent
from compozy.model.session import Interaction, Session
from compozy.model.session_answers import (
    ApprovalAnswer,
    CancelAnswer,
    PromptResult,
    QueuedInput,
    RewindAnswer,
    SessionList,
    SessionOwner,
    SpawnAnswer,
    TurnHistory,
)
from compozy.model.transcript import TranscriptPage

_ALL = "/api/sessions"


class SessionCalls(SessionReads):
    """Sessions of all workspaces."""

    def list(
        self,
        workspace: str = "",
        *,
        state: str = "",
        type: str = "",
        agent: str = "",
        parent: str = "",
        root: str = "",
        q: str = "",
        archive: str = "",
        sort: str = "",
        cursor: str = "",
        limit: int | None = None,
        badges: tuple[str, ...] = (),
        attention: bool = False,
        resumable: bool | None = None,
        worktree: str = "",
        include_health: bool = False,
    ) -> SessionList:
        """Return a page of sessions, most recent first; "" means any."""
        query = {"workspace": workspace, "state": state, "type": type, "agent": agent, "parent": parent}
        more = {"root": root, "q": q, "archive": archive, "sort": sort, "cursor": cursor, "limit": limit}
        wants = {"badge": ",".join(badges), "attention": attention, "worktree": worktree}
        # False is a filter too, unlike the flags that are left out then.
        wants["resumable"] = "" if resumable is None else "true" if resumable else "false"
        return self._get(_ALL, SessionList, query={**query, **more, **wants, "include_health": include_health})

    def get(self, session_id: str, *, workspace: str = "") -> Session:
        """Return one session, wherever it is or of this workspace only."""
        place = f"/api/workspaces/{segment(workspace)}/sessions" if workspace else _ALL
        return self._get(f"{place}/{segment(session_id)}", Session, "session")

    def owner(self, session_id: str) -> SessionOwner:
        """Return the workspace of a session."""
        return self._get(f"{_ALL}/{segment(session_id)}/owner", SessionOwner)

    def create(
        self,
        *,
        workspace: str = "",
        workspace_path: str = "",
        agent: str = "",
        name: str = "",
        permissions: str = "",
        parent: str = "",
    ) -> Session:
        """Create a session; its agent starts with the first prompt. Give `workspace` or an absolute path."""
        body = {
            "agent_name": agent,
            "name": name,
            "workspace": workspace,
            "workspace_path": workspace_path,
            "permissions": permissions,
            "parent_session_id": parent,
        }
        return self._send("POST", _ALL, Session, "session", body={key: value for key, value in body.items() if value})

    def rename(self, session: Session, name: str) -> Session:
        """Give a session another name."""
        return self._send("PATCH", path_of(session), Session, "session", body={"name": name})

    def set_runtime(
        self, session: Session, runtime: Mapping[str, object], *, expected_revision: int | None = None
    ) -> Session:
        """Choose `provider`, `model`, `reasoning_effort` and `speed` of the turns to come."""
        body = given(runtime=dict(runtime), expected_revision=expected_revision)
        return self._send("PUT", f"{path_of(session)}/runtime", Session, "session", body=body)

    def archive(self, session: Session) -> Session:
        """Put a stopped session away."""
        return self._send("POST", f"{path_of(session)}/archive", Session, "session")

    def unarchive(self, session: Session) -> Session:
        """Take an archived session back."""
        return self._send("POST", f"{path_of(session)}/unarchive", Session, "session")

    def stop(self, session: Session) -> None:
        """Stop the session and end its agent; a prompt wakes it again."""
        self._do("POST", f"{path_of(session)}/stop")

    def delete(self, session: Session) -> None:
        """Stop and remove the session with its events."""
        self._do("DELETE", path_of(session))

    def prompt(
        self, session: Session, body: Mapping[str, object], *, tick: float | None = None, timeout: float = 30
    ) -> PromptStream:
        """Send a prompt and open the stream of its turn; use it as a context manager and iterate.

        Args:
            body: `message`, `message_id` and `idempotency_key`; as wished `mode`, `expected_turn_id`, `runtime` and
                `require_context`.
            tick: yield None after this many seconds without a frame.
            timeout: seconds until the agent is up and the stream begins.
        """
        path = f"{path_of(session)}/prompt"
        return PromptStream(self._transport.stream("POST", path, body=body, tick=tick, timeout=timeout))

    def cancel(self, session: Session) -> CancelAnswer:
        """Ask the running turn to end."""
        return self._send("POST", f"{path_of(session)}/prompt/cancel", CancelAnswer)

    def queue(self, session: Session) -> tuple[QueuedInput, ...]:
        """Return the prompts that wait, in their order."""
        return self._get(f"{path_of(session)}/prompt/queue", tuple[QueuedInput, ...], "inputs")

    def withdraw(self, session: Session, queue_entry_id: str) -> PromptResult:
        """Take a waiting prompt out of the queue."""
        path = f"{path_of(session)}/prompt/queue/{segment(queue_entry_id)}"
        return self._send("DELETE", path, PromptResult, "prompt")

    def steer(
        self, session: Session, text: str, expected_turn_id: str, *, message_id: str, idempotency_key: str
    ) -> PromptResult:
        """Hand a text to the running turn; refused when another turn runs."""
        body = _steer_body(text, expected_turn_id, message_id, idempotency_key)
        return self._send("POST", f"{path_of(session)}/steer", PromptResult, "prompt", body=body)

    def promote_input(
        self,
        session: Session,
        queue_entry_id: str,
        text: str,
        expected_turn_id: str,
        *,
        message_id: str,
        idempotency_key: str,
    ) -> PromptResult:
        """Let a waiting prompt steer the running turn."""
        body = _steer_body(text, expected_turn_id, message_id, idempotency_key)
        path = f"{path_of(session)}/prompt/queue/{segment(queue_entry_id)}/steer"
        return self._send("POST", path, PromptResult, "prompt", body=body)

    def replace_input(
        self, session: Session, queue_entry_id: str, text: str, *, message_id: str, idempotency_key: str
    ) -> QueuedInput:
        """Give a waiting prompt another text, with the identity it has from then on."""
        path = f"{path_of(session)}/prompt/queue/{segment(queue_entry_id)}"
        body = {"text": text, "message_id": message_id, "idempotency_key": idempotency_key}
        return self._send("PUT", path, QueuedInput, "input", body=body)

    def spawn(self, parent_id: str, agent_name: str, body: Mapping[str, object]) -> SpawnAnswer:
        """Start a child of a session, as that session's agent; `body` is the contract's."""
        headers = {"X-Compozy-Session-ID": parent_id, "X-Compozy-Agent": agent_name}
        answer = self._transport.request("POST", "/api/agent/spawn", body=body, headers=headers)
        return decode(answer.body, SpawnAnswer, "spawn")

    def rewind(
        self,
        session: Session,
        message_id: str,
        *,
        idempotency_key: str,
        expected_generation: int | None = None,
        expected_max_sequence: int | None = None,
    ) -> RewindAnswer:
        """Take the conversation back to before a prompt; the answer holds that prompt's text."""
        body = given(
            message_id=message_id,
            idempotency_key=idempotency_key,
            expected_generation=expected_generation,
            expected_max_sequence=expected_max_sequence,
        )
        return self._send("POST", f"{path_of(session)}/rewind", RewindAnswer, body=body)

    def clear(self, session: Session) -> Session:
        """Begin the conversation anew; what was said is archived."""
        return self._send("POST", f"{path_of(session)}/clear", Session, "session")

    def upload(self, session: Session, name: str, data: bytes) -> Attachment:
        """Keep a file for prompts of the session; name it in `attachments` of a prompt's body."""
        content_type, body = one_file(name, data)
        answer = self._transport.request(
            "POST", f"{path_of(session)}/attachments", body=body, headers={"content-type": content_type}, timeout=120
        )
        return decode(answer.body, Attachment, "attachment")

    def attachment(self, session: Session, attachment_id: str) -> bytes:
        """Return the bytes of a kept file."""
        path = f"{path_of(session)}/attachments/{segment(attachment_id)}/bytes"
        return self._transport.request("GET", path, timeout=120).body

    def delete_attachment(self, session: Session, attachment_id: str) -> None:
        """Remove a kept file."""
        self._do("DELETE", f"{path_of(session)}/attachments/{segment(attachment_id)}")

    def events(
        self,
        session: Session,
        *,
        after: int | None = None,
        limit: int | None = None,
        since: str = "",
        type: str = "",
        turn_id: str = "",
        archive: str = "",
    ) -> tuple[SessionEvent, ...]:
        """Return stored events, ascending: those after a sequence, or the newest."""
        query = {"after_sequence": after, "limit": limit, "since": since, "type": type}
        more = {"turn_id": turn_id, "archive": archive}
        return self._get(f"{path_of(session)}/events", tuple[SessionEvent, ...], "events", {**query, **more})

    def history(self, session: Session, *, turn_id: str = "", limit: int | None = None) -> tuple[TurnHistory, ...]:
        """Return stored events by turn."""
        query = {"turn_id": turn_id, "limit": limit}
        return self._get(f"{path_of(session)}/history", tuple[TurnHistory, ...], "history", query)

    def transcript(self, session: Session, *, limit: int | None = None, before: int | None = None) -> TranscriptPage:
        """Return a page of the transcript: the newest, or the one before a sequence."""
        query = {"limit": limit, "before_sequence": before}
        return self._get(f"{path_of(session)}/transcript", TranscriptPage, query=query)

    def follow(self, session: Session, *, after: int = 0) -> EventFollower:
        """Open the stream of stored events behind sequence `after`; a broken stream is taken up again."""
        query = {"frames": "raw", "after_sequence": str(after)}
        return EventFollower(self._transport.stream("GET", f"{path_of(session)}/stream", query=query, resume=True))

    def interactions(
        self, session: Session, status: str = "", *, with_children: bool = False
    ) -> tuple[Interaction, ...]:
        """Return the questions put to a person; "" for those of every state; on request what children ask now."""
        query = {"status": status, "include_children": with_children}
        return self._get(f"{path_of(session)}/interactions", tuple[Interaction, ...], "interactions", query)

    def approve(self, session: Session, request_id: str, turn_id: str, decision: str) -> ApprovalAnswer:
        """Answer a permission question: allow-once, allow-always, reject-once or reject-always."""
        body = {"request_id": request_id, "turn_id": turn_id, "decision": decision}
        return self._send("POST", f"{path_of(session)}/approve", ApprovalAnswer, body=body)


def _steer_body(text: str, expected_turn_id: str, message_id: str, idempotency_key: str) -> dict[str, str]:
    identity = {"message_id": message_id, "idempotency_key": idempotency_key}
    return {"text": text, "expected_turn_id": expected_turn_id, **identity}
