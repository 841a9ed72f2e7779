"""What the connection knows of the ACP sessions of one process: their options, their turn, and where updates go.

Sends nothing and stores nothing. Updates may come before the answer that tells a new session's id: they wait here,
bounded, until it is known. spec/acp.md, fault groups 11–13.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from compozy.acp import answers
from compozy.acp.contract import SessionOptions, SessionUpdate

# Updates of sessions whose id is not known yet, held while session/new runs.
MOST_HELD = 1000


class AcpSession:
    """One session: what it offers, and where its turn is."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.options = SessionOptions(session_id=session_id)
        self.is_replaying = False
        """`session/load` runs: what comes is history."""
        self.is_busy = False
        self.is_answered = False
        """The running turn was answered; only its last updates are awaited."""
        self.is_cancelled = False
        self.cancelled_at = 0.0
        """Loop time of the cancel of the running turn."""

    def begin_turn(self) -> None:
        self.is_busy, self.is_answered, self.is_cancelled = True, False, False

    def end_turn(self) -> None:
        self.is_busy = self.is_cancelled = False


class SessionTable:
    """All sessions of one process.

    Args:
        put: takes an update of a known session and its size in bytes.
        note: takes a diagnostic (kind, text).
    """

    def __init__(self, put: Callable[[SessionUpdate, int], None], note: Callable[[str, str], None]) -> None:
        self._put, self._note = put, note
        self._sessions: dict[str, AcpSession] = {}
        self._opening = 0
        self._held: list[tuple[SessionUpdate, int]] = []

    @property
    def is_opening(self) -> bool:
        """Whether a session may exist whose id is not known yet."""
        return self._opening > 0

    def find(self, session_id: str) -> AcpSession | None:
        """Return a known session."""
        return self._sessions.get(session_id)

    def know(self, session_id: str) -> AcpSession:
        """Return the session, known from now on."""
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = AcpSession(session_id)
        return session

    def forget(self, session_id: str) -> None:
        """Know a session no more."""
        self._sessions.pop(session_id, None)

    def busy(self) -> list[AcpSession]:
        """Return the sessions with a running turn."""
        return [session for session in self._sessions.values() if session.is_busy]

    def options(self, session_id: str) -> SessionOptions:
        """Return what a session offers now."""
        session = self._sessions.get(session_id)
        return session.options if session else SessionOptions(session_id=session_id)

    def take_update(self, session_id: str, kind: str, raw: msgspec.Raw, size: int) -> None:
        """Pass an update of a known session on, keeping its options current; hold or note any other."""
        session = self._sessions.get(session_id)
        if session is not None:
            if kind == "config_option_update":
                session.options = answers.read_session_options(raw, session.options)
            elif kind == "current_mode_update":
                session.options = answers.read_mode_update(raw, session.options)
            update = SessionUpdate(session_id=session_id, kind=kind, raw=raw, replay=session.is_replaying)
            self._put(update, size)
        elif self._opening and len(self._held) < MOST_HELD:
            self._held.append((SessionUpdate(session_id=session_id, kind=kind, raw=raw), size))
        else:
            self._note_unknown(session_id, kind)

    @contextmanager
    def opening(self) -> Iterator[None]:
        """While inside, updates of unknown sessions are held for `adopt`."""
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1
            if not self._opening:
                for update, _ in self._held:
                    self._note_unknown(update.session_id, update.kind)
                self._held.clear()

    def adopt(self, raw: msgspec.Raw) -> None:
        """Know the session of an answer to `session/new`, and pass on what came for it already."""
        session_id = answers.read_text(answers.read_object(raw), "sessionId")
        if not session_id:
            return
        self.know(session_id).options = answers.read_session_options(raw)
        for update, size in self._held:
            if update.session_id == session_id:
                self._put(update, size)
        self._held = [(update, size) for update, size in self._held if update.session_id != session_id]

    def _note_unknown(self, session_id: str, kind: str) -> None:
        self._note("unknown_session", f"update {kind!r} for the unknown session {session_id!r}")
