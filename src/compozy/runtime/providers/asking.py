"""Asking a provider itself: its status command, its endpoint, its list of models. Blocking, bounded, run in threads.

Every program is ended with its group when its time is over; every answer is bounded and redacted by the caller. Knows
no service and keeps nothing.
"""

import http.client
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple

from compozy.config.commands import split_command
from compozy.model.provider_answers import AuthState

PROBE_SECONDS = 10.0
_MAX_BYTES = 4 << 20
_SHOWN = 4000
_UNAUTHORIZED, _FORBIDDEN, _TOO_MANY, _SERVER = 401, 403, 429, 500
# Words of a status command's answer, most telling first; compared in lower case.
_WORDS: tuple[tuple[AuthState, tuple[str, ...]], ...] = (
    ("rate_limited", ("rate limit", "too many requests", "429")),
    ("permission_denied", ("permission denied", "forbidden", "403")),
    ("transient", ("timed out", "timeout", "network", "connection", "temporarily", "unavailable")),
    ("needs_login", ("not logged in", "log in", "login", "sign in", "unauthorized", "not authenticated", "401")),
)


class CannotAsk(Exception):
    """The provider could not be asked: `state` says what that means, the text why."""

    def __init__(self, state: AuthState, message: str) -> None:
        super().__init__(message)
        self.state, self.message = state, message


class Ran(NamedTuple):
    """A finished program: its exit code, what it said, how long it took."""

    exit_code: int
    stdout: str
    stderr: str
    duration_ms: int


def run(command: str, env: Mapping[str, str], seconds: float = PROBE_SECONDS) -> Ran:
    """Run one command to its end.

    Raises:
        CannotAsk: it cannot be started, or takes too long.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            split_command(command),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CannotAsk("missing_cli", f"{command.split()[0]!r} cannot be started: {error}") from error
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise CannotAsk("transient", f"no answer within {seconds:g} s") from late
    finally:
        _end_group(process)
    took = round((time.monotonic() - began) * 1000)
    return Ran(process.returncode, _text(out), _text(err), took)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _text(data: bytes) -> str:
    return data[:_MAX_BYTES].decode("utf-8", "replace")


def classify(ran: Ran) -> tuple[AuthState, str]:
    """Read a status command's answer: exit code 0 is a login, else its words tell."""
    if ran.exit_code == 0:
        return "authenticated", "the program says that it is logged in"
    said = f"{ran.stdout}\n{ran.stderr}".lower()
    for state, words in _WORDS:
        if any(word in said for word in words):
            return state, f"the program says: {_last_line(ran)}"
    return "unknown", f"the status command ended with code {ran.exit_code}: {_last_line(ran)}"


def _last_line(ran: Ran) -> str:
    lines = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
    return lines[-1][:200] if lines else "nothing"


def shown(text: str) -> str:
    """Return the end of an output, as much as an answer may carry."""
    return text[-_SHOWN:]


def models_at(base_url: str, key: str, seconds: float = PROBE_SECONDS) -> tuple[str, ...]:
    """Ask an OpenAI-compatible endpoint for its models.

    Raises:
        CannotAsk: it does not answer, refuses, or answers something else.
    """
    address = f"{base_url.rstrip('/')}/models"
    if not address.startswith(("http://", "https://")):
        raise CannotAsk(
            "unknown", f"base_url {base_url!r} is no http address; write it like http://127.0.0.1:11434/v1"
        )
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return read_models(fetch(address, headers, seconds, _MAX_BYTES), address)


def fetch(address: str, headers: Mapping[str, str], seconds: float, most: int) -> bytes:
    """Return what an http or https address answers; one byte over `most` when it is more than that.

    Raises:
        CannotAsk: it does not answer, refuses, or sends elsewhere.
    """
    try:
        request = urllib.request.Request(address, headers=dict(headers))  # noqa: S310 - callers check the scheme
        # No redirects: the key is for this address alone.
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds) as answer:
            data: bytes = answer.read(most + 1)
            return data
    except urllib.error.HTTPError as error:
        error.close()
        raise CannotAsk(_state_of(error.code), f"{address} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise CannotAsk("transient", f"{address} does not answer: {reason}; is the server running?") from error


def read_models(data: bytes, source: str) -> tuple[str, ...]:
    """Read a list of models: OpenAI's answer, a JSON list of names or rows, or one name a line.

    Raises:
        CannotAsk: it is none of these.
    """
    if len(data) > _MAX_BYTES:
        raise CannotAsk("unknown", f"{source} answers more than 4 MiB; it is no list of models")
    text = data.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except ValueError:
        value = [line.strip() for line in text.splitlines() if line.strip()] if text[:1] not in ("<", "{") else None
    except RecursionError:
        value = None
    rows = value.get("data", value.get("models")) if isinstance(value, dict) else value
    listed = rows if isinstance(rows, list) else [None]
    names = [row.get("id") or row.get("name") if isinstance(row, dict) else row for row in listed]
    if not all(isinstance(name, str) and name for name in names):
        raise CannotAsk("unknown", f"{source} answers no list of models")
    return tuple(dict.fromkeys(str(name) for name in names))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **kw: object) -> None:
        return None


def _state_of(status: int) -> AuthState:
    if status == _UNAUTHORIZED:
        return "missing_credential"
    if status == _FORBIDDEN:
        return "permission_denied"
    if status == _TOO_MANY:
        return "rate_limited"
    return "transient" if status >= _SERVER else "unknown"
