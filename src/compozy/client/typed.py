"""The typed client for programs: every call returns the record of the contract (`compozy.Client`).

    with compozy.Client() as client:
        session = client.create_session(workspace_path="/repo", agent="reviewer")
        for frame in client.prompt(session, "review the last change"):
            ...

It is `DaemonClient` with types: the command line uses that one directly, because it prints what the daemon said.
Fields that a newer daemon adds are ignored.
"""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeVar
from urllib.parse import quote

import msgspec

from compozy.client.connect import connect
from compozy.client.daemon_client import DaemonClient
from compozy.config.home import Home
from compozy.model import ids
from compozy.model.agent import Agent
from compozy.model.event import SessionEvent
from compozy.model.record import Record
from compozy.model.session import Interaction, Session
from compozy.model.transcript import TranscriptPage
from compozy.model.workspace import Workspace

T = TypeVar("T")
JsonObject = dict[str, object]
_DONE = "[DONE]"


class SessionPage(Record, frozen=True, kw_only=True):
    """A page of sessions; `cursor` continues it, "" on the last page."""

    sessions: tuple[Session, ...]
    total: int
    cursor: str = ""


class Choice(Record, frozen=True, kw_only=True):
    """The agent chosen for a task and why."""

    agent: str
    reason: str = ""


class Client:
    """One daemon, typed. Not for several threads at once: give each its own.

    Args:
        home: the home whose daemon to use; `COMPOZY_HOME`, else `~/.compozy`, when omitted.

    Raises:
        DaemonUnreachable: no daemon runs; start one with `compozy daemon start`.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.daemon: DaemonClient = connect(Home(home) if home is not None else Home.from_environment())

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; sessions go on in the daemon."""
        self.daemon.close()

    # Every call below raises ApiError for a refusal, with the daemon's envelope.

    def status(self) -> JsonObject:
        """Return the daemon's status."""
        return self._get("/api/status", JsonObject)

    def workspaces(self) -> tuple[Workspace, ...]:
        """Return all registered workspaces."""
        return self._get("/api/workspaces", tuple[Workspace, ...], "workspaces")

    def workspace(self, path: Path) -> Workspace:
        """Return the workspace a folder belongs to; it is registered when none encloses it."""
        return self._send("POST", "/api/workspaces/resolve", {"path": str(path)}, Workspace, "workspace")

    def agents(self, workspace: str = "") -> tuple[Agent, ...]:
        """Return the agents in force in a workspace (id, name or path), or the global ones."""
        return self._get("/api/agents", tuple[Agent, ...], "agents", workspace=workspace)

    def agent(self, name: str, workspace: str = "") -> Agent:
        """Return one agent with its capabilities and effective runtime."""
        return self._get(f"/api/agents/{quote(name, safe='')}", Agent, "agent", workspace=workspace)

    def select(self, task: str, workspace: str = "") -> Choice:
        """Return the agent that fits a task best by what agents declare."""
        return self._send("POST", "/api/agents/select", {"task": task, "workspace": workspace}, Choice)

    def sessions(self, *, workspace: str = "", state: str = "", agent: str = "", cursor: str = "") -> SessionPage:
        """Return a page of sessions, most recent first."""
        query = {"workspace": workspace, "state": state, "agent": agent, "cursor": cursor}
        answer = self._get("/api/sessions", JsonObject, **query)
        page = msgspec.convert(answer["page"], JsonObject)
        return SessionPage(
            sessions=msgspec.convert(answer["sessions"], tuple[Session, ...]),
            total=msgspec.convert(page["total"], int),
            cursor=str(page.get("next_cursor") or ""),
        )

    def session(self, session_id: str) -> Session:
        """Return one session."""
        return self._get(f"/api/sessions/{quote(session_id, safe='')}", Session, "session")

    def create_session(
        self, *, workspace: str = "", workspace_path: str = "", agent: str = "", name: str = "", permissions: str = ""
    ) -> Session:
        """Create a session; its agent starts with the first prompt. Give `workspace` or an absolute path."""
        body = {
            "workspace": workspace,
            "workspace_path": workspace_path,
            "agent_name": agent,
            "name": name,
            "permissions": permissions,
        }
        given = {key: value for key, value in body.items() if value}
        return self._send("POST", "/api/sessions", given, Session, "session")

    def prompt(self, session: Session, message: str, *, idempotency_key: str = "") -> Iterator[JsonObject]:
        """Send a prompt and yield the frames of its turn until it ends; the turn goes on when you stop reading.

        The same `idempotency_key` with the same message never starts a second turn; then nothing is yielded.
        """
        message_id = ids.new_event_id()
        body = {"message": message, "message_id": message_id, "idempotency_key": idempotency_key or message_id}
        with self.daemon.stream("POST", f"{_path(session)}/prompt", body=body) as stream:
            for event in stream:
                if event is None or event.data == _DONE:
                    continue
                yield msgspec.json.decode(event.data, type=JsonObject)

    def follow(self, session: Session, *, after: int = 0) -> Iterator[SessionEvent]:
        """Yield stored events as they happen, from the one after sequence `after`; a broken stream is resumed."""
        query = {"frames": "raw", "after_sequence": str(after)}
        with self.daemon.stream("GET", f"{_path(session)}/stream", query=query, resume=True) as stream:
            for event in stream:
                if event is not None:
                    yield msgspec.json.decode(event.data, type=SessionEvent)

    def events(self, session: Session, *, after: int | None = None, limit: int = 200) -> tuple[SessionEvent, ...]:
        """Return stored events, ascending: those after a sequence, or the newest."""
        query = {"limit": str(limit), "after_sequence": "" if after is None else str(after)}
        return self._get(f"{_path(session)}/events", tuple[SessionEvent, ...], "events", **query)

    def transcript(self, session: Session) -> TranscriptPage:
        """Return the newest page of the transcript."""
        return self._get(f"{_path(session)}/transcript", TranscriptPage)

    def interactions(self, session: Session, status: str = "pending") -> tuple[Interaction, ...]:
        """Return the questions put to a person."""
        return self._get(f"{_path(session)}/interactions", tuple[Interaction, ...], "interactions", status=status)

    def approve(self, session: Session, question: Interaction, decision: str) -> JsonObject:
        """Answer a permission question: allow-once, allow-always, reject-once or reject-always."""
        body = {"request_id": question.provider_request_id, "turn_id": question.turn_id, "decision": decision}
        return self._send("POST", f"{_path(session)}/approve", body, JsonObject)

    def cancel(self, session: Session) -> str:
        """Cancel the running turn; return ``canceled`` or ``nothing-in-flight``."""
        return self._send("POST", f"{_path(session)}/prompt/cancel", {}, str, "outcome")

    def stop(self, session: Session) -> None:
        """Stop the session and end its agent; a prompt wakes it again."""
        self.daemon.request("POST", f"{_path(session)}/stop", body={})

    def delete(self, session: Session) -> None:
        """Stop and remove the session with its events."""
        self.daemon.request("DELETE", _path(session))

    def _get(self, path: str, kind: type[T], member: str = "", **query: str) -> T:
        answer = self.daemon.request("GET", path, query={key: value for key, value in query.items() if value})
        return _member(answer.body, kind, member)

    def _send(self, method: str, path: str, body: JsonObject | dict[str, str], kind: type[T], member: str = "") -> T:
        return _member(self.daemon.request(method, path, body=body).body, kind, member)


def _member(data: bytes, kind: type[T], member: str) -> T:
    if not member:
        return msgspec.json.decode(data, type=kind)
    members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    return msgspec.json.decode(members[member], type=kind)


def _path(session: Session) -> str:
    return f"/api/workspaces/{session.workspace_id}/sessions/{session.id}"
