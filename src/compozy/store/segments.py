"""The statements about folded transcripts: segments of a session's events, already made into entries.

Used by the reading and the writing side of the SQLite store. A segment is never more than its events say: triggers
take it away when one of them is archived, or the session goes (migrations/0005_transcripts.sql).
"""

import sqlite3
import zlib

from compozy.store.interface import TranscriptEnd, TranscriptSegment
from compozy.store.keys import find_session, first_key

# Texts shrink to a third; more effort gains little.
_LEVEL = 1


def read_segments(
    connection: sqlite3.Connection, session_id: str, before_sequence: int | None, entries: int
) -> tuple[TranscriptSegment, ...]:
    """Return the newest segments that begin before a sequence, until they hold that many entries; ascending."""
    num = find_session(connection, session_id)
    if num is None:
        return ()
    base = first_key(num)
    end = first_key(num + 1) if before_sequence is None else base + before_sequence
    found: list[TranscriptSegment] = []
    have = 0
    rows = connection.execute(
        "SELECT key, last_key, entries, data FROM transcript_segments WHERE key > ? AND key < ? ORDER BY key DESC",
        (base, end),
    )
    for key, last_key, count, data in rows:
        found.append(
            TranscriptSegment(first=key - base, last=last_key - base, entries=count, data=zlib.decompress(data))
        )
        have += count
        if have >= entries:
            break
    rows.close()
    return tuple(reversed(found))


def transcript_end(connection: sqlite3.Connection, session_id: str) -> TranscriptEnd:
    """Return how far the session is folded."""
    num = find_session(connection, session_id)
    if num is None:
        return TranscriptEnd(last=0, mark=0)
    row = connection.execute(
        "SELECT last_key FROM transcript_segments WHERE key > ? AND key < ? ORDER BY key DESC LIMIT 1",
        (first_key(num), first_key(num + 1)),
    ).fetchone()
    return TranscriptEnd(last=row[0] - first_key(num) if row else 0, mark=_mark(connection, num))


def put_segment(connection: sqlite3.Connection, session_id: str, segment: TranscriptSegment, mark: int) -> bool:
    """Insert a segment in place of those that begin in it, unless the events changed since `mark` was read."""
    num = find_session(connection, session_id)
    if num is None or _mark(connection, num) != mark:
        return False
    base = first_key(num)
    connection.execute(
        "DELETE FROM transcript_segments WHERE key >= ? AND key <= ?", (base + segment.first, base + segment.last)
    )
    connection.execute(
        "INSERT INTO transcript_segments VALUES (?, ?, ?, ?)",
        (base + segment.first, base + segment.last, segment.entries, zlib.compress(segment.data, _LEVEL)),
    )
    return True


def _mark(connection: sqlite3.Connection, num: int) -> int:
    row = connection.execute("SELECT mark FROM transcript_marks WHERE session = ?", (num,)).fetchone()
    return int(row[0]) if row else 0
