"""The ACP side of the offline agent: what it advertises, its sessions and modes, and one thread per running turn.

Knows the protocol's methods and nothing of searching: `turn.run_turn` does the work. Sessions live as long as the
process; `session/load` is not advertised because nothing is kept.
"""

import os
import threading
from collections.abc import Mapping
from typing import Final

from compozy_offline_agent import __version__
from compozy_offline_agent.client import Client, Supports
from compozy_offline_agent.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Answer,
    Peer,
    RpcError,
    Stopped,
)
from compozy_offline_agent.task import read_task
from compozy_offline_agent.turn import Turn

PROTOCOL_VERSION: Final = 1
MODES: Final = (
    ("default", "Default", "Reads through the client and asks before it writes a findings file."),
    ("read-only", "Read only", "Reads through the client; never asks to write or to run anything."),
    (
        "full-access",
        "Full access",
        "As default, and asks to list the files with git or find in the client's terminal.",
    ),
)


class Session:
    """One conversation: where it works, how, and the turn that runs now."""

    def __init__(self, session_id: str, cwd: str, supports: Supports) -> None:
        self.session_id, self.cwd, self.supports = session_id, cwd, supports
        self.mode = "default"
        self.turns = 0
        self.may_always_write = False
        self.stop: threading.Event | None = None
        self.request_id: object = None


class OfflineAgent:
    """Serves one client. Requests are answered on the reading thread, prompts on a thread of their own."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._supports = Supports()
        self._sessions: dict[str, Session] = {}

    def on_request(self, method: str, params: Mapping[str, object], answer: Answer) -> None:
        """Answer one call of the client. Raises RpcError for what cannot be served."""
        if method == "initialize":
            answer.result(self._initialize(params))
        elif method == "session/new":
            answer.result(self._new_session(params))
        elif method == "session/set_mode":
            answer.result(self._set_mode(params))
        elif method == "session/close":
            self._close(params)
            answer.result({})
        elif method == "session/prompt":
            self._prompt(params, answer)
        elif method == "authenticate":
            answer.result({})
        else:
            raise RpcError(METHOD_NOT_FOUND, f"{method!r} is not a method of this agent")

    def on_notification(self, method: str, params: Mapping[str, object]) -> None:
        """Take a cancel; anything else is not for us and is dropped."""
        if method == "session/cancel":
            session = self._sessions.get(str(params.get("sessionId")))
            if session is not None and session.stop is not None:
                session.stop.set()
        elif method == "$/cancel_request":
            for session in list(self._sessions.values()):
                if session.stop is not None and session.request_id == params.get("requestId"):
                    session.stop.set()

    def on_close(self) -> None:
        """The client's end closed: stop every turn and leave at once, without waiting for threads."""
        for session in list(self._sessions.values()):
            if session.stop is not None:
                session.stop.set()
        os._exit(0)

    def _initialize(self, params: Mapping[str, object]) -> Mapping[str, object]:
        self._supports = Supports.from_capabilities(params.get("clientCapabilities"))
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": {
                "name": "compozy-offline-agent",
                "title": "Offline agent (no language model)",
                "version": __version__,
            },
            "agentCapabilities": {
                "loadSession": False,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
                "sessionCapabilities": {"close": {}},
            },
            "authMethods": [],
        }

    def _new_session(self, params: Mapping[str, object]) -> Mapping[str, object]:
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not os.path.isabs(cwd):
            raise RpcError(INVALID_PARAMS, f"cwd must be an absolute path, got {cwd!r}")
        if not os.path.isdir(cwd):
            raise RpcError(INVALID_PARAMS, f"cwd {cwd!r} is not a folder on this machine")
        session = Session(f"offline-{os.urandom(8).hex()}", cwd, self._supports)
        self._sessions[session.session_id] = session
        modes = [{"id": mode, "name": name, "description": text} for mode, name, text in MODES]
        return {
            "sessionId": session.session_id,
            "modes": {"currentModeId": session.mode, "availableModes": modes},
        }

    def _set_mode(self, params: Mapping[str, object]) -> Mapping[str, object]:
        session, mode = self._session(params), params.get("modeId")
        known = [entry[0] for entry in MODES]
        if not isinstance(mode, str) or mode not in known:
            raise RpcError(INVALID_PARAMS, f"mode {mode!r} is not offered; use one of {', '.join(known)}")
        session.mode = mode
        return {}

    def _close(self, params: Mapping[str, object]) -> None:
        session = self._session(params)
        if session.stop is not None:
            session.stop.set()
        del self._sessions[session.session_id]

    def _session(self, params: Mapping[str, object]) -> Session:
        session = self._sessions.get(str(params.get("sessionId")))
        if session is None:
            raise RpcError(-32002, f"session {params.get('sessionId')!r} not found")
        return session

    def _prompt(self, params: Mapping[str, object], answer: Answer) -> None:
        session, blocks = self._session(params), params.get("prompt")
        if not isinstance(blocks, list):
            raise RpcError(INVALID_PARAMS, "prompt must be a list of content blocks")
        if session.stop is not None:
            raise RpcError(INVALID_REQUEST, "a turn is running in this session: cancel it or wait for its end")
        session.stop, session.request_id = threading.Event(), answer.request_id
        threading.Thread(target=self._run, args=(session, session.stop, blocks, answer), daemon=True).start()

    def _run(self, session: Session, stop: threading.Event, blocks: list[object], answer: Answer) -> None:
        client = Client(self._peer, session.session_id, session.supports, stop)
        turn = Turn(
            client,
            cwd=session.cwd,
            mode=session.mode,
            is_first=session.turns == 0,
            may_write=session.may_always_write,
        )
        session.turns += 1
        reason, failure = "end_turn", ""
        try:
            turn.run(read_task(blocks))
        except Stopped:
            turn.close_open_calls()
            reason = "cancelled"
        except Exception as error:  # noqa: BLE001 - the supervisor of a turn: the client must get its answer
            turn.close_open_calls()
            failure = f"{type(error).__name__}: {error}"
        session.may_always_write = turn.may_write
        session.stop = None  # before the answer: the client may prompt again as soon as it has it
        if failure:
            answer.error(INTERNAL_ERROR, failure)
        else:
            answer.result({"stopReason": reason})
