"""The client's methods as calls: updates, permission, files, terminal. The only module that spells their names.

Every wait has a bound and ends at once when the turn is cancelled. Knows nothing of what is searched or why.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from compozy_offline_agent.rpc import Peer, RpcError, Stopped

FILE_SECONDS = 30.0
TERMINAL_SECONDS = 60.0
# People answer permissions; clients time out before this (five minutes is usual).
PERMISSION_SECONDS = 900.0
TERMINAL_BYTES = 4 * 1024 * 1024

ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE = "allow_once", "allow_always", "reject_once"


class Supports(NamedTuple):
    """What the client said it can do."""

    read: bool = False
    write: bool = False
    terminal: bool = False

    @classmethod
    def from_capabilities(cls, value: object) -> "Supports":
        """Read `clientCapabilities`; whatever is missing or odd counts as not offered."""
        capabilities = value if isinstance(value, Mapping) else {}
        files = capabilities.get("fs")
        files = files if isinstance(files, Mapping) else {}
        return cls(
            read=files.get("readTextFile") is True,
            write=files.get("writeTextFile") is True,
            terminal=capabilities.get("terminal") is True,
        )


class Client:
    """One session's view of the client, for one turn."""

    def __init__(self, peer: Peer, session_id: str, supports: Supports, stop: threading.Event) -> None:
        self._peer, self._session_id = peer, session_id
        self.supports, self.stop = supports, stop

    def check(self) -> None:
        """Raise Stopped when the turn was cancelled; for long work between calls."""
        if self.stop.is_set():
            raise Stopped

    def update(self, word: str, /, **fields: object) -> None:
        """Send one session update; `word` is its sessionUpdate."""
        self._peer.notify(
            "session/update", {"sessionId": self._session_id, "update": {"sessionUpdate": word, **fields}}
        )

    def read_text(self, path: str) -> str:
        """Return a file's text. Raises RpcError when the client refuses or the file cannot be read."""
        result = self._call("fs/read_text_file", FILE_SECONDS, path=path)
        content = result.get("content")
        if not isinstance(content, str):
            raise RpcError(0, "the client answered without content")
        return content

    def write_text(self, path: str, content: str) -> None:
        """Write a whole file. Raises RpcError when the client refuses."""
        self._call("fs/write_text_file", FILE_SECONDS, path=path, content=content)

    def ask(self, tool_call: Mapping[str, object], options: Sequence[tuple[str, str]]) -> str:
        """Ask for permission and return the kind of the chosen option, or "" when none was chosen.

        `options` are (kind, label) pairs; a kind is its option's id too.
        """
        offered = [{"optionId": kind, "kind": kind, "name": label} for kind, label in options]
        result = self._call("session/request_permission", PERMISSION_SECONDS, toolCall=tool_call, options=offered)
        outcome = result.get("outcome")
        if not isinstance(outcome, Mapping) or outcome.get("outcome") != "selected":
            return ""
        chosen = outcome.get("optionId")
        return chosen if isinstance(chosen, str) and chosen in {kind for kind, _ in options} else ""

    def run(self, command: str, args: Sequence[str], cwd: str) -> tuple[str, bool]:
        """Run a program in the client's terminal; return (output, whether it ended well and whole)."""
        created = self._call(
            "terminal/create",
            FILE_SECONDS,
            command=command,
            args=list(args),
            cwd=cwd,
            env=[],
            outputByteLimit=TERMINAL_BYTES,
        )
        terminal_id = str(created.get("terminalId"))
        try:
            status = self._call("terminal/wait_for_exit", TERMINAL_SECONDS, terminalId=terminal_id)
            output = self._call("terminal/output", FILE_SECONDS, terminalId=terminal_id)
        finally:
            self._release(terminal_id)
        whole = status.get("exitCode") == 0 and output.get("truncated") is not True
        return str(output.get("output", "")), whole

    def _release(self, terminal_id: str) -> None:
        """Give the terminal back, also in a cancelled turn, where waiting for the answer would be too late."""
        params = {"sessionId": self._session_id, "terminalId": terminal_id}
        self._peer.send(
            {"jsonrpc": "2.0", "id": f"release-{terminal_id}", "method": "terminal/release", "params": params}
        )

    def _call(self, method: str, seconds: float, **params: object) -> Mapping[str, object]:
        fields = {"sessionId": self._session_id, **params}
        return self._peer.request(method, fields, stop=self.stop, seconds=seconds)
