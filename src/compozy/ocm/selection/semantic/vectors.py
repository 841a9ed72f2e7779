"""Vectors that were computed before, kept by the digest of their text: each text is embedded once.

One SQLite file below the home's cache; losing it costs time and nothing else, so a damaged file is replaced.
Texts themselves are not kept.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from compozy.ocm.selection.semantic.embedder import Embedder, Vectors

# Half precision: no ranking on the training rows differed from full precision.
_STORED = np.dtype("<f2")
_AT_ONCE = 256
# Another process may be writing its own texts.
_WAIT_SECONDS = 5.0
Progress = Callable[[int, int], None]


class VectorCache:
    """Vectors on disk; several processes may use one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def embed(self, embedder: Embedder, texts: Sequence[str], told: Progress | None = None) -> Vectors:
        """Return the rows of texts, computing and keeping those that are new.

        `told` is called with how many of the new ones are done.
        """
        keys = [_key(embedder.identity, text) for text in texts]
        known = self._read(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        waiting = list(new.items())
        for start in range(0, len(waiting), _AT_ONCE):
            part = waiting[start : start + _AT_ONCE]
            rows = embedder.embed([text for _, text in part]).astype(_STORED)
            found = {key: row for (key, _), row in zip(part, rows, strict=True)}
            known.update(found)
            self._write({key: row.tobytes() for key, row in found.items()})
            if told is not None:
                told(min(start + _AT_ONCE, len(waiting)), len(waiting))
        return np.stack([known[key] for key in keys]).astype(np.float32)

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, "np.ndarray[tuple[int], np.dtype[np.float16]]"]:
        found = {}
        with self._opened() as database:
            if database is None:
                return {}
            wanted = list(dict.fromkeys(keys))
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, row FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only question marks
                found.update({key: np.frombuffer(row, dtype=_STORED) for key, row in database.execute(query, part)})
        return found

    def _write(self, rows: dict[bytes, bytes]) -> None:
        with self._opened() as database:
            if database is not None:
                database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows.items())
                database.commit()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection | None]:
        """Open the file, anew when it is damaged; None when there is no place for it: then nothing is kept."""
        try:
            database = self._open()
        except sqlite3.DatabaseError:
            with contextlib.suppress(OSError):
                self._path.unlink()
            try:
                database = self._open()
            except (OSError, sqlite3.Error):
                yield None
                return
        except OSError:
            yield None
            return
        try:
            yield database
        finally:
            database.close()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        database = sqlite3.connect(self._path, timeout=_WAIT_SECONDS)
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
            )
        except BaseException:
            database.close()
            raise
        return database


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\n{text}".encode("utf-8", "surrogatepass")).digest()
