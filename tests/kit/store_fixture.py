"""What the frozen databases in `tests/data/store/` hold. Never change it: a new layout gets a file of its own.

``python -m tests.kit.store_fixture PATH`` makes such a file with the code of today (only when a layout is new).
"""

import asyncio
import sys
from pathlib import Path

import msgspec

from compozy.model.session import Failure
from compozy.store.interface import ProcessRecord, PromptRecord, QueuedPrompt, SessionRecord
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session, make_workspace, moment

ACTIVE, STOPPED, CHILD = "sess-000000000000000a", "sess-000000000000000b", "sess-000000000000000c"
WORKSPACES = (make_workspace(1), make_workspace(2))
SESSIONS: tuple[SessionRecord, ...] = (
    msgspec.structs.replace(
        make_session(ACTIVE, at=10, updated=70, turn_id="turn-0000000000000002", name="Fix the parser"),
        provider_session_ids=("acp-1", "acp-2"),
        additional_dirs=("/shared",),
        queue=(
            QueuedPrompt(
                id="inp-0000000000000001",
                text="and the tests",
                turn_id="turn-0000000000000003",
                message_id="msg-3",
                idempotency_key="key-3",
                enqueued_at=moment(69),
            ),
        ),
        queue_generation=1,
    ),
    make_session(
        STOPPED,
        at=20,
        updated=30,
        state="stopped",
        badge="failed",
        stop_reason="agent_crashed",
        failure=Failure(kind="process_exit", summary="exit code 1"),
        workspace_id=WORKSPACES[1].id,
        agent_name="reviewer",
    ),
    make_session(
        CHILD,
        at=30,
        updated=40,
        state="stopped",
        badge="stopped",
        type="spawned",
        parent=ACTIVE,
        root=ACTIVE,
        archived_at=moment(50),
    ),
)
EVENTS = {
    ACTIVE: (*make_drafts(40), *make_drafts(1, first=41, type="tool_result", content=b'"' + b"x" * 20_000 + b'"')),
    STOPPED: make_drafts(3, agent_name="reviewer"),
    CHILD: (),
}
PROMPT = PromptRecord(
    session_id=ACTIVE,
    idempotency_key="key-1",
    message_id="msg-1",
    payload_digest="sha256:1",
    turn_id="turn-0000000000000001",
    created_at=moment(11),
)
PROCESS = ProcessRecord(session_id=ACTIVE, pid=4321, start_time="99", group=4321, marker="m", started_at=moment(12))


async def make(path: Path) -> None:
    """Write all of it into a new store."""
    store = SqliteStore(path)
    await store.open()
    for workspace in WORKSPACES:
        await store.put_workspace(workspace)
    for record in SESSIONS:
        await store.append_events(record.session.id, EVENTS[record.session.id], record=record)
    await store.put_prompt(PROMPT)
    await store.put_process(PROCESS)
    await store.close()


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1])))
