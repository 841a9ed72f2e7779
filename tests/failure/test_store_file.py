"""The store's file when it is somebody else's, newer, damaged, locked or in the way: one clear sentence each."""

import sqlite3
import stat
from pathlib import Path

import pytest

from compozy.store import database
from compozy.store.interface import EventQuery, ForeignStore, StoreUnavailable
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session

pytestmark = pytest.mark.anyio
ID = "sess-1"


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


async def make_store(path: Path, events: int = 3) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.append_events(ID, make_drafts(events), record=make_session(ID))
    await store.close()


async def refuse(path: Path) -> StoreUnavailable:
    with pytest.raises(StoreUnavailable) as caught:
        await SqliteStore(path).open()
    assert str(path) in str(caught.value)
    return caught.value


async def test_the_file_is_private_whole_and_alone_in_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path)
    assert [file.name for file in tmp_path.iterdir()] == ["compozy.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    connection.close()


async def test_what_was_stored_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path)
    await make_store(path)
    store = SqliteStore(path)
    await store.open()
    assert [event.sequence for event in await store.read_events(ID, EventQuery())] == [1, 2, 3, 4, 5, 6]
    await store.close()


@pytest.mark.parametrize("journal", ["delete", "wal"])
async def test_a_database_of_another_program_is_named_and_left_untouched(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "compozy.db"
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA journal_mode = {journal}")
    other.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY)")
    other.execute("INSERT INTO sessions VALUES ('theirs')")
    other.commit()
    if journal == "delete":
        other.close()
    before = snapshot(tmp_path)
    problem = await refuse(path)
    assert isinstance(problem, ForeignStore)
    assert "made by another program" in str(problem) and "COMPOZY_HOME" in str(problem)
    assert snapshot(tmp_path) == before
    other.close()


@pytest.mark.parametrize("lies_in", ["file", "log"])
async def test_a_store_of_a_newer_release_is_named_and_left_untouched(tmp_path: Path, lies_in: str) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path)
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    newer.commit()
    if lies_in == "file":
        newer.close()
    before = path.read_bytes()
    problem = await refuse(path)
    assert isinstance(problem, ForeignStore)
    assert "layout 999" in str(problem) and "upgrade compozy" in str(problem)
    assert path.read_bytes() == before
    newer.close()


async def test_a_file_that_is_no_database_is_called_damaged_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    path.write_bytes(b"hello" * 100)
    assert "is damaged" in str(await refuse(path))
    assert path.read_bytes() == b"hello" * 100


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    path.touch()
    await make_store(path)


async def test_a_folder_in_the_way_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "compozy.db").mkdir()
    assert "is not a file" in str(await refuse(tmp_path / "compozy.db"))
    assert "no such file or directory" in str(await refuse(tmp_path / "nowhere" / "compozy.db"))


@pytest.mark.parametrize("keep", [100, 4096, 40_000])
async def test_a_store_that_was_cut_off_is_called_damaged(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path)
    path.write_bytes(path.read_bytes()[:keep])
    assert "is damaged" in str(await refuse(path))


async def test_damage_among_the_events_is_reported_by_the_read_and_other_sessions_stay_readable(
    tmp_path: Path,
) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path, events=2_000)
    data = bytearray(path.read_bytes())
    place = data.rindex(b'{"n":1000,') // 4096 * 4096
    data[place : place + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    store = SqliteStore(path)
    await store.open()
    with pytest.raises(StoreUnavailable, match="is damaged"):
        await store.read_events(ID, EventQuery(after_sequence=0, limit=2_000))
    record = await store.get_session(ID)
    assert record is not None and record.session.id == ID
    await store.close()


async def test_a_row_that_cannot_be_read_is_reported_as_the_stores_trouble(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE session_data SET data = ?", (b"{",))
    connection.close()
    store = SqliteStore(path)
    await store.open()
    with pytest.raises(StoreUnavailable, match="row that cannot be read"):
        await store.get_session(ID)
    assert await store.last_sequence(ID) == 3
    await store.close()


async def test_a_locked_file_fails_the_write_reads_go_on_and_writes_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.05)
    path = tmp_path / "compozy.db"
    await make_store(path)
    store = SqliteStore(path)
    await store.open()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked by another process"):
        await store.append_events(ID, make_drafts(1))
    assert await store.last_sequence(ID) == 3
    other.execute("ROLLBACK")
    other.close()
    (event,) = await store.append_events(ID, make_drafts(1))
    assert event.sequence == 4
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "compozy.db")
    await store.open()
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable, match="is not open"):
        await store.append_events(ID, make_drafts(1))
    with pytest.raises(StoreUnavailable, match="is not open"):
        await store.last_sequence(ID)


async def test_a_missing_layout_step_is_run_and_a_failing_one_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path)
    current = database.migrations()
    monkeypatch.setattr(
        database, "migrations", lambda: (*current, "CREATE TABLE more (a);\nINSERT INTO absent VALUES (1);\n")
    )
    assert "no such table: absent" in str(await refuse(path))
    monkeypatch.setattr(
        database, "migrations", lambda: (*current, "-- a comment; with a semicolon\nCREATE TABLE more (\n a\n);\n")
    )
    await make_store(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(current) + 1,)
    assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM events").fetchone() == (6,)
    connection.close()


async def test_events_of_a_removed_session_are_swept_and_the_file_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    await make_store(path, events=20_000)
    full = path.stat().st_size
    store = SqliteStore(path)
    await store.open()
    await store.delete_session(ID)
    await store.close()
    # Closing does not wait for the sweep; the next life of the store takes it up again.
    for _ in range(100):
        if count_left_over(path) == (0, 0):
            break
        await make_store(path, events=1)
    assert path.stat().st_size < full / 10


def count_left_over(path: Path) -> tuple[int, int]:
    """Return how many removed sessions are still to be swept and how many pages are unused."""
    connection = sqlite3.connect(path)
    (removed,) = connection.execute("SELECT count(*) FROM removed_sessions").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    connection.close()
    return removed, free
