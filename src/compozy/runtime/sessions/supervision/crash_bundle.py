"""Crash bundles: what was known when an agent died, one private file each in `logs/crash-bundles` (contract §1.1).

Redacted as everything that leaves the daemon, bounded in size and number. A bundle that cannot be written is only
logged: the failure itself is stored in any case.
"""

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from compozy.documents.atomic import write_atomically
from compozy.model import times
from compozy.model.event import StoredEvent
from compozy.model.session import Failure
from compozy.runtime.sessions.deps import Deps
from compozy.store.interface import EventQuery, SessionRecord

log = logging.getLogger(__name__)

SCHEMA = "compozy.session_crash_bundle.v2"
# Bundles kept, and bytes of one.
KEPT = 50
MOST_BYTES = 256 * 1024
_STDERR = 16 * 1024
_PRINTED = 2 * 1024
_EVENTS = 50
_CONTENT = 2 * 1024


class Crash(msgspec.Struct, frozen=True, kw_only=True):
    """What a process left behind, not redacted."""

    exit_code: int | None = None
    stderr_tail: str = ""
    printed: str = ""


async def with_bundle(deps: Deps, record: SessionRecord, failure: Failure, crash: Crash, *, turn_id: str) -> Failure:
    """Write a bundle and return the failure with its path."""
    try:
        events = await deps.store.read_events(record.session.id, EventQuery(limit=_EVENTS, archive="all"))
        data = _encoded(deps, record, failure, crash, turn_id, events)
        path = await asyncio.to_thread(_write, deps.home.root / "logs" / "crash-bundles", record.session.id, data)
    except Exception as error:  # noqa: BLE001 - the crash is what matters, whatever keeps its file from being written
        log.warning("no crash bundle of session %s could be written: %s", record.session.id, error)
        return failure
    return msgspec.structs.replace(failure, crash_bundle_path=str(path))


def _encoded(
    deps: Deps, record: SessionRecord, failure: Failure, crash: Crash, turn_id: str, events: tuple[StoredEvent, ...]
) -> bytes:
    shown = [_event(event) for event in events]
    while True:
        data = deps.redactor.json_bytes(msgspec.json.encode(_facts(deps, record, failure, crash, turn_id, shown)))
        if len(data) <= MOST_BYTES or not shown:
            return msgspec.json.format(data)
        shown = shown[len(shown) // 2 + 1 :]


def _facts(
    deps: Deps, record: SessionRecord, failure: Failure, crash: Crash, turn_id: str, events: list[object]
) -> dict[str, object]:
    session = record.session
    return {
        "schema": SCHEMA,
        "created_at": times.now(),
        "version": deps.version,
        "session": {
            "id": session.id,
            "agent_name": session.agent_name,
            "workspace_id": session.workspace_id,
            "workspace_path": session.workspace_path,
            "state": session.state,
            "definition_digest": session.definition_digest,
            "permission_mode": record.permission_mode,
        },
        "runtime": {
            "status": session.runtime.status,
            "generation": session.runtime.generation,
            "effective": session.runtime.effective,
            "acp_session_id": session.runtime.acp_session_id,
            "recovery": session.runtime.recovery,
        },
        "turn_id": turn_id,
        "failure": failure,
        "process": {
            "command": record.command,
            "cwd": record.cwd,
            "exit_code": crash.exit_code,
            "stderr_tail": crash.stderr_tail[-_STDERR:],
            "printed": crash.printed[-_PRINTED:],
        },
        "events": events,
    }


def _event(event: StoredEvent) -> object:
    content: object = msgspec.Raw(event.content)
    if len(event.content) > _CONTENT:
        content = {"cut": event.content[:_CONTENT].decode("utf-8", "ignore")}
    return {
        "sequence": event.sequence,
        "type": event.type,
        "turn_id": event.turn_id,
        "timestamp": event.timestamp,
        "content": content,
    }


def _write(folder: Path, session_id: str, data: bytes) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The name begins with the time, so that the order of names is the order of crashes.
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{session_id}.json"
    write_atomically(path, data)
    for old in sorted(folder.glob("*.json"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return path
