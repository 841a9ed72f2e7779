"""What retention asks of the SQLite store: the oldest stopped sessions, what they weigh, what the file takes.

Reads only; removing is the ordinary removal of a session.
"""

import sqlite3

from compozy.store.interface import OldSession, StoreSize
from compozy.store.keys import find_session, first_key

# Columns, key and page overhead of an event beside its content; SQLite's pages.
_ROW, _PAGE = 180, 4096
# As pages are filled: whole rows on a page, long ones on pages of their own. Too much rather than too little, because
# who removes by size must not remove more than was asked for.
_WEIGHT = f"""
SELECT count(*), coalesce(sum(CASE WHEN length(content) + {_ROW} < {_PAGE}
    THEN {_PAGE} / ({_PAGE} / (length(content) + {_ROW}))
    ELSE (length(content) + {_ROW} + {_PAGE - 1}) / {_PAGE} * {_PAGE} END), 0)
FROM events WHERE key > ? AND key < ?
"""  # noqa: S608 - numbers of ours
_OLDEST = """
SELECT s.id, s.workspace_id, s.last_activity_at FROM sessions s
WHERE s.shown = ? AND s.state = 'stopped' AND (s.last_activity_at, s.id) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_id = s.id AND c.parent_id <> '' AND c.state <> 'stopped')
ORDER BY s.last_activity_at, s.id LIMIT ?
"""


def oldest_stopped(
    connection: sqlite3.Connection, shown: bool, limit: int, after: tuple[str, str]
) -> tuple[OldSession, ...]:
    """Return stopped sessions without living children, longest idle first."""
    rows = connection.execute(_OLDEST, (int(shown), *after, limit)).fetchall()
    return tuple(OldSession(id=row[0], workspace_id=row[1], last_activity_at=row[2]) for row in rows)


def weigh_session(connection: sqlite3.Connection, session_id: str) -> tuple[int, int]:
    """Return a session's events and about the bytes they take."""
    num = find_session(connection, session_id)
    if num is None:
        return 0, 0
    events, size = connection.execute(_WEIGHT, (first_key(num), first_key(num + 1))).fetchone()
    return events, size


def measure(connection: sqlite3.Connection) -> StoreSize:
    """Return what the file takes."""
    page, pages, free = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    swept = connection.execute("SELECT 1 FROM removed_sessions LIMIT 1").fetchone() is None
    return StoreSize(used=(pages - free) * page, free=free * page, is_tidying=not swept)
