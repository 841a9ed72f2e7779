"""A process whose files may not grow for a while: prints as JSON what the store said and what it kept.

Usage: ``python -m tests.kit.store_full_disk PATH``. The limit on file size stands for a full disk; it needs a process
of its own because it holds for every file of a process.
"""

import asyncio
import json
import resource
import signal
import sys
from pathlib import Path

from compozy.store.interface import EventQuery, StoreUnavailable
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session

ID = "sess-1"


def limit_files(size: int) -> None:
    """Refuse to let any file of this process grow beyond `size` bytes, -1 for no limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def main(path: Path) -> None:
    """Fill, fail, free, go on."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = SqliteStore(path)
    await store.open()
    await store.append_events(ID, make_drafts(10), record=make_session(ID))
    log = path.with_name(path.name + "-wal")
    limit_files(max(path.stat().st_size, log.stat().st_size) + 100_000)
    acknowledged, failures = 10, []
    while not failures:
        # Every caller of the failing group gets the failure; what returned counts.
        results = await asyncio.gather(
            *(store.append_events(ID, make_drafts(5)) for _ in range(4)), return_exceptions=True
        )
        acknowledged += sum(len(result) for result in results if not isinstance(result, BaseException))
        failures = [result for result in results if isinstance(result, BaseException)]
    kept = await store.read_events(ID, EventQuery(after_sequence=0, limit=100_000))
    limit_files(-1)
    (after,) = await store.append_events(ID, make_drafts(1))
    await store.close()
    json.dump(
        {
            "unavailable": all(isinstance(failure, StoreUnavailable) for failure in failures),
            "message": str(failures[0]),
            "acknowledged": acknowledged,
            "kept": [event.sequence for event in kept],
            "after": after.sequence,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
