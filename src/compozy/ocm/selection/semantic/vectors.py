"""Vectors that were computed before, kept by the digest of their text: each text is embedded once.

One SQLite file below the home's cache; losing it costs time and nothing else, so a damaged file is replaced,
a damaged row computed again, and a file that is locked, read-only or on a full disk left alone.
Texts themselves are not kept.
"""

import contextlib
import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from compozy.ocm.selection.semantic.embedder import Embedder, Vectors

# Half precision: no ranking on the training rows differed from full precision.
_STORED = np.dtype("<f2")
_AT_ONCE = 256
# Another process may be writing its own texts.
_WAIT_SECONDS = 5.0
T = TypeVar("T")
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
        def work(database: sqlite3.Connection) -> dict[bytes, object]:
            stored: dict[bytes, object] = {}
            wanted = list(dict.fromkeys(keys))
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, row FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only question marks
                stored.update(database.execute(query, part))
            return stored

        stored = self._attempt(work) or {}
        rows = {key: row for key, packed in stored.items() if (row := _unpacked(packed)) is not None}
        return {key: np.frombuffer(row, dtype=_STORED) for key, row in rows.items()}

    def _write(self, rows: dict[bytes, bytes]) -> None:
        def work(database: sqlite3.Connection) -> None:
            packed = [(key, _packed(row)) for key, row in rows.items()]
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", packed)
            database.commit()

        self._attempt(work)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do something with the file, with a new one when it is damaged; None where nothing can be kept now."""
        for _ in range(2):
            try:
                with contextlib.closing(self._open()) as database:
                    return work(database)
            except sqlite3.OperationalError:
                # Locked, read-only, on a full disk: nobody's fault, and what others keep there stays.
                return None
            except sqlite3.DatabaseError:
                self._throw_away()
            except OSError:
                return None
        return None

    def _throw_away(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{self._path}{suffix}").unlink()

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


def _packed(row: bytes) -> bytes:
    return row + zlib.crc32(row).to_bytes(4, "little")


def _unpacked(packed: object) -> bytes | None:
    """Return the row, or None when it is not what was stored."""
    if not isinstance(packed, bytes):
        return None
    row, check = packed[:-4], packed[-4:]
    return row if row and zlib.crc32(row).to_bytes(4, "little") == check else None


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\n{text}".encode("utf-8", "surrogatepass")).digest()
