"""A process that writes into a store until it is killed, and says on stdout what has been acknowledged.

Usage: ``python -m tests.kit.store_writer PATH SESSIONS``. Each batch has `BATCH` events and carries its number as
turn id; the session row that is written with it carries the same. A line ``SESSION NUMBER`` means: it is durable.
"""

import asyncio
import sys
from pathlib import Path

from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session

BATCH = 7


async def write_for_ever(store: SqliteStore, session_id: str) -> None:
    """Append batch after batch, numbered on from what is there."""
    number = await store.last_sequence(session_id) // BATCH
    while True:
        number += 1
        turn = f"turn-{number}"
        await store.append_events(
            session_id, make_drafts(BATCH, turn_id=turn), record=make_session(session_id, turn_id=turn)
        )
        sys.stdout.write(f"{session_id} {number}\n")
        sys.stdout.flush()


async def main(path: Path, sessions: int) -> None:
    """Write to that many sessions at once."""
    store = SqliteStore(path)
    await store.open()
    await asyncio.gather(*(write_for_ever(store, f"sess-{n}") for n in range(sessions)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
