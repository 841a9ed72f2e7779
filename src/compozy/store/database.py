"""The file of the SQLite store: recognising it, making it, migrating it, and saying in words what is wrong with it.

A file that another program made is judged by its first bytes alone, read without SQLite, so that not even a
`-wal` or `-shm` appears beside it (decisions D22). Knows nothing of sessions or events.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec

from compozy.model.store_mark import APPLICATION_ID, HEADER_BYTES, maker_of
from compozy.store.interface import ForeignStore, StoreUnavailable

# Where SQLite's file header has the number of the layout.
_USER_VERSION = 60
# How long a statement waits for another process (a backup, a person with sqlite3) before it fails.
_BUSY_SECONDS = 5.0
# A checkpointed log is cut back to this size, so that one burst does not stay on disk.
_LOG_LIMIT = 64 * 1024 * 1024
_MIGRATIONS = Path(__file__).parent / "migrations"


def migrations() -> tuple[str, ...]:
    """Return the numbered scripts in order; the layout's version is how many there are."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(_MIGRATIONS.glob("[0-9]*.sql")))


def open_writer(path: Path) -> sqlite3.Connection:
    """Return the one writing connection, with the file made or brought to the newest layout first.

    Raises:
        ForeignStore: the file is another program's, or a newer release's; nothing was written.
        StoreUnavailable: the file cannot be made, opened or read.
    """
    scripts = migrations()
    with explained(path):
        if not recognise(path, len(scripts)):
            _create(path, scripts)
        connection = connect(path, "rw")
        try:
            # Kept in the file; said again because a copy that came from a backup has forgotten it.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
            _migrate(connection, scripts)
        except BaseException:
            connection.close()
            raise
        return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write."""
    with explained(path):
        return connect(path, "ro")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's errors into one sentence that names the file and what to do.

    Errors that blame one call's values, not the file, pass unchanged.
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError):
        raise
    except sqlite3.Error as problem:
        raise StoreUnavailable(_explain(path, problem)) from problem
    except msgspec.MsgspecError as problem:
        raise StoreUnavailable(
            f"the store {str(path)!r} holds a row that cannot be read ({problem}); put a backup in its place"
        ) from problem
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise StoreUnavailable(
            f"the store {str(path)!r} cannot be opened: {reason}; check the folder's owner, mode and free space"
        ) from problem


def _explain(path: Path, problem: sqlite3.Error) -> str:
    name = getattr(problem, "sqlite_errorname", "")
    where = f"the store {str(path)!r}"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"{where} is damaged ({problem}); stop the daemon, move the file away or put a backup in its place"
    if name.startswith("SQLITE_FULL"):
        return f"{where} cannot grow: the disk is full; free some space and try again (nothing stored is lost)"
    if name.startswith("SQLITE_IOERR"):
        return f"{where} cannot be written or read ({problem}); check the disk and its free space, then try again"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{where} is locked by another process; end that process (a backup, a database shell) and try again"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return (
            f"{where} cannot be opened for writing ({problem}); check the owner and mode of the file and its folder"
        )
    return f"{where} failed: {problem}; look into the daemon's log and try again"


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Return a connection to a file that is there; `mode` is ro or rw."""
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )


def recognise(path: Path, newest: int) -> bool:
    """Return whether the file is there and ours; False when it has still to be made."""
    if not path.exists() and not path.is_symlink():
        return False
    if not path.is_file():
        raise StoreUnavailable(f"the store {str(path)!r} is not a file; move it away and start again")
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
    maker = maker_of(header)
    if maker == "none":
        return False
    if maker == "damaged":
        raise StoreUnavailable(
            f"the store {str(path)!r} is damaged: it does not begin like a database; "
            "move the file away or put a backup in its place"
        )
    if maker == "foreign":
        raise ForeignStore(
            f"{str(path)!r} was made by another program and was left untouched; "
            "move it away, or set COMPOZY_HOME to a folder of its own"
        )
    _refuse_newer(path, _read_version(path, header), newest)
    return True


def _read_version(path: Path, header: bytes) -> int:
    log = path.with_name(path.name + "-wal")
    if not log.exists() or log.stat().st_size == 0:
        return int.from_bytes(header[_USER_VERSION : _USER_VERSION + 4], "big")
    # The newest header may still lie in the log; a reading connection never carries it over into the file.
    connection = connect(path, "ro")
    try:
        return _user_version(connection)
    finally:
        connection.close()


def _refuse_newer(path: Path, version: int, newest: int) -> None:
    if version > newest:
        raise ForeignStore(
            f"the store {str(path)!r} was written by a newer compozy (layout {version}, this one knows {newest}) "
            "and was left untouched; upgrade compozy, or set COMPOZY_HOME to another folder"
        )


def _create(path: Path, scripts: tuple[str, ...]) -> None:
    """Make the whole file under another name and move it into place: a half-made store never has the real name."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = connect(draft, "rw")
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _migrate(connection, scripts)
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        draft.replace(path)
        _sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _migrate(connection: sqlite3.Connection, scripts: tuple[str, ...]) -> None:
    """Run the scripts that are missing, each in one transaction with the version it leads to."""
    for version in range(_user_version(connection) + 1, len(scripts) + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in _statements(scripts[version - 1]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
