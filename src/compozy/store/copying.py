"""Whole copies of a store, taken while it is written, and the judgement of a copy before it is put in place.

A copy is the store at one moment (a snapshot of SQLite's); taking it waits for nobody, and nobody waits for it.
Knows files only: what else belongs to a backup is `runtime/backups`.
"""

import os
import sqlite3
from pathlib import Path

from compozy.model.record import Record
from compozy.store.database import connect, explained, migrations, open_reader, open_writer, recognise
from compozy.store.interface import StoreUnavailable


class StoreFacts(Record, frozen=True, kw_only=True):
    """What a store holds; `layout` is its version."""

    layout: int
    sessions: int
    events: int


def copy_store(source: Path, target: Path) -> StoreFacts:
    """Write a copy of a store that may be in use to a new file, durable on return.

    Raises:
        StoreUnavailable: the store cannot be read, or the copy cannot be written.
    """
    reader = _readable(source)
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        with explained(target):
            reader.execute("VACUUM INTO ?", (str(target),))
    finally:
        reader.close()
    with explained(target):
        copy = connect(target, "rw")
        try:
            facts = _facts(copy)
        finally:
            copy.close()
        handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return facts


def _readable(source: Path) -> sqlite3.Connection:
    """Return a connection that has read from the store, so that what keeps it from being read is blamed on it.

    In a folder that cannot be written SQLite cannot make the file that readers share. Without a journal beside the
    store everything is in the store itself, and it can be read as a file that nobody changes.
    """
    with explained(source):
        reader = open_reader(source)
        try:
            _touch(reader)
        except sqlite3.OperationalError as problem:
            reader.close()
            journal = source.with_name(f"{source.name}-wal")
            if journal.exists() and journal.stat().st_size:
                raise _unclosed(source, problem) from problem
            reader = connect(source, "ro&immutable=1")
            _touch(reader)
        return reader


def _unclosed(source: Path, problem: sqlite3.OperationalError) -> Exception:
    if not problem.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        return problem
    return StoreUnavailable(
        f"the store {str(source)!r} was not closed, and what it holds since ({source.name}-wal) cannot be read where "
        "nothing can be written: copy the home to a place where you can write, and back up the copy: "
        f"cp -r {str(source.parent)!r} COPY && COMPOZY_HOME=COPY compozy backup FILE"
    )


def _touch(connection: sqlite3.Connection) -> None:
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def judge_copy(path: Path) -> StoreFacts:
    """Return what a copy holds, whole and usable by this release, and bring it to the newest layout.

    Raises:
        ForeignStore: it is another program's file, or a newer release's.
        StoreUnavailable: it is damaged.
    """
    with explained(path):
        if not recognise(path, len(migrations())):
            raise StoreUnavailable(f"{str(path)!r} is empty; use another backup")
        check = connect(path, "rw")
        try:
            found = check.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreUnavailable(f"the store {str(path)!r} is damaged ({found}); use another backup")
            facts = _facts(check)
        finally:
            check.close()
    open_writer(path).close()
    return facts


def describe_store(path: Path) -> StoreFacts | None:
    """Return what the store at `path` holds, None when there is none that can be read."""
    if not path.exists():
        return None
    try:
        with explained(path):
            if not recognise(path, len(migrations())):
                return None
            reader = open_reader(path)
            try:
                return _facts(reader)
            finally:
                reader.close()
    except StoreUnavailable:
        return None


def _facts(connection: sqlite3.Connection) -> StoreFacts:
    layout = connection.execute("PRAGMA user_version").fetchone()[0]
    sessions = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
    events = connection.execute("SELECT count(*) FROM events").fetchone()[0]
    return StoreFacts(layout=layout, sessions=sessions, events=events)
