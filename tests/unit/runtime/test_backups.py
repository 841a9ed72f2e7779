"""Backups: what is in them, what is refused, and that a swap is done once and whole (issue 6, durability)."""

import fcntl
import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compozy.config.backup_notes import backup_findings
from compozy.config.home import Home
from compozy.model.errors import CompozyError, Conflict, InvalidRequest, NotFound, Unprocessable
from compozy.runtime.backups.making import make_backup
from compozy.runtime.backups.parts import belongs
from compozy.runtime.backups.restoring import commit, discard, finish, stage
from compozy.store.copying import copy_store
from compozy.store.interface import EventQuery, StoreUnavailable
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session
from tests.kit.unprivileged import shared_folder, unprivileged

pytestmark = pytest.mark.anyio
ID = "sess-1"


@pytest.fixture
async def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    made.config_file.write_text('[defaults]\nprovider = "offline"\n')
    agent = made.agents / "ann"
    agent.mkdir()
    (agent / "AGENT.md").write_text("---\nname: ann\n---\nHello.\n")
    (agent / "run.sh").write_text("#!/bin/sh\n")
    (agent / "run.sh").chmod(0o700)
    (agent / "link").symlink_to("/etc/passwd")
    (made.root / "vault.json").write_text("{}")
    (made.root / "vault.key").write_text("key")
    (made.root / "logs" / "compozy.log").write_text("noise")
    store = SqliteStore(made.database)
    await store.open()
    await store.append_events(ID, make_drafts(100), record=make_session(ID))
    await store.close()
    return made


async def events_of(home: Home) -> int:
    store = SqliteStore(home.database)
    await store.open()
    try:
        return len(await store.read_events(ID, EventQuery(after_sequence=0, limit=10_000)))
    finally:
        await store.close()


@contextmanager
def read_only_store(home: Home) -> Iterator[Path]:
    """Yield the home's store in a folder that an ordinary user cannot write, and a folder where it may."""
    with shared_folder() as folder:
        place = folder / "home"
        place.mkdir()
        for file in home.root.glob("compozy.db*"):
            shutil.copy(file, place)
        for path in (place, *place.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)
        target = folder / "to"
        target.mkdir()
        target.chmod(0o777)
        place.chmod(0o555)
        yield place / "compozy.db"


async def test_a_store_in_a_folder_that_cannot_be_written_is_copied_all_the_same(home: Home) -> None:
    with read_only_store(home) as store, unprivileged():
        assert not store.with_name("compozy.db-wal").exists()
        facts = copy_store(store, store.parent.parent / "to" / "copy.db")
    assert (facts.sessions, facts.events) == (1, 100)


async def test_where_its_journal_cannot_be_read_the_store_is_blamed_and_no_copy_is_left(home: Home) -> None:
    (home.root / "compozy.db-wal").write_bytes(b"something that was written")
    with read_only_store(home) as store:
        copy = store.parent.parent / "to" / "copy.db"
        with unprivileged(), pytest.raises(StoreUnavailable, match=r"home/compozy\.db' was not closed"):
            copy_store(store, copy)
        assert not copy.exists()


def names(path: Path) -> set[str]:
    with tarfile.open(path) as archive:
        return set(archive.getnames())


async def test_a_backup_holds_what_a_person_made_and_nothing_else(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "b.backup"
    report = make_backup(home, target)
    assert names(target) == {"compozy.db", "config.toml", "agents/ann/AGENT.md", "agents/ann/run.sh", "backup.json"}
    assert (report.sessions, report.events, report.files, report.skipped) == (1, 100, 4, ("agents/ann/link",))
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.backup", "home"]


async def test_the_vault_comes_along_only_when_asked_for(home: Home, tmp_path: Path) -> None:
    make_backup(home, tmp_path / "b", with_secrets=True)
    assert {"vault.json", "vault.key"} <= names(tmp_path / "b")


async def test_a_backup_never_replaces_a_file_unasked_nor_lands_in_what_it_copies(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "b"
    target.write_text("mine")
    with pytest.raises(Conflict, match="exists already"):
        make_backup(home, target)
    assert target.read_text() == "mine"
    make_backup(home, target, overwrite=True)
    assert "compozy.db" in names(target)
    with pytest.raises(InvalidRequest, match="not absolute"):
        make_backup(home, Path("b"))
    with pytest.raises(NotFound, match="not a folder"):
        make_backup(home, tmp_path / "none" / "b")
    with pytest.raises(InvalidRequest, match="outside of "):
        make_backup(home, home.agents / "b")
    assert not [path for path in home.agents.rglob("*") if path.name.startswith(".b")]


@pytest.mark.parametrize("name", ["compozy.db-wal", "compozy.db-shm", "daemon.lock", "new", "logs/compozy.log"])
async def test_no_file_of_the_home_is_ever_the_target_of_a_backup(home: Home, tmp_path: Path, name: str) -> None:
    (home.root / "logs").mkdir(exist_ok=True)
    (tmp_path / "way").symlink_to(home.root)
    store = SqliteStore(home.database)
    await store.open()
    await store.append_events(ID, make_drafts(50))
    before = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
    for root in (home.root, tmp_path / "way"):
        with pytest.raises(InvalidRequest, match="outside of "):
            make_backup(home, root / name, overwrite=True)
    assert {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()} == before
    await store.close()
    assert await events_of(home) == 150


@pytest.mark.parametrize(
    "name", ["a\0b", "x" * 300, "x" * 240, "y" * 300 + "/b", "z/" * 3000 + "b", "\ud800", "\udcff"]
)
async def test_a_name_that_no_file_can_have_is_refused_in_words(home: Home, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"absolute|too long|UTF-8"):
        make_backup(home, Path(f"{tmp_path}/{name}"))


async def test_a_device_or_pipe_is_never_replaced_by_a_backup(home: Home, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Conflict, match="exists already"):
        make_backup(home, tmp_path / "pipe", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "pipe"]


async def test_a_backup_is_one_moment_while_the_store_is_written(home: Home, tmp_path: Path) -> None:
    store = SqliteStore(home.database)
    await store.open()
    make_backup(home, tmp_path / "b")
    await store.append_events(ID, make_drafts(50))
    assert make_backup(home, tmp_path / "c").events == 150
    await store.close()
    assert await events_of(home) == 150
    stage(home, tmp_path / "b")
    assert finish(home) is None, "nothing was decided"
    assert await events_of(home) == 150


async def test_a_restore_brings_all_of_the_old_state_back_and_keeps_the_new_one(home: Home, tmp_path: Path) -> None:
    make_backup(home, tmp_path / "b")
    store = SqliteStore(home.database)
    await store.open()
    await store.append_events(ID, make_drafts(50))
    await store.close()
    home.config_file.write_text("# changed\n")
    (home.agents / "bob").mkdir()
    (home.agents / "bob" / "AGENT.md").write_text("---\nname: bob\n---\nHi.\n")
    (home.root / "mcp.json").write_text("{}")
    staged = stage(home, tmp_path / "b")
    assert set(staged.replaces) >= {"compozy.db", "config.toml", "agents", "mcp.json"}
    assert staged.now is not None and staged.now.events == 150
    old = commit(home, staged)
    assert finish(home) == old and finish(home) is None
    assert await events_of(home) == 100
    assert home.config_file.read_text().startswith("[defaults]")
    assert not (home.agents / "bob").exists() and not (home.root / "mcp.json").exists()
    assert os.access(home.agents / "ann" / "run.sh", os.X_OK)
    assert (old / "agents" / "bob" / "AGENT.md").exists() and (old / "config.toml").read_text() == "# changed\n"
    assert (home.root / "vault.key").read_text() == "key", "what is not in the backup stays"
    assert not (home.root / "restore").exists()


@pytest.mark.parametrize("steps", range(1, 8))
async def test_a_swap_that_was_interrupted_anywhere_is_finished_by_the_next_start(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    make_backup(home, tmp_path / "b")
    store = SqliteStore(home.database)
    await store.open()
    await store.append_events(ID, make_drafts(50))
    await store.close()
    (home.agents / "bob").mkdir()
    commit(home, stage(home, tmp_path / "b"))
    real, left = Path.rename, [steps]

    def rename(self: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        try:
            finish(home)
        except KeyboardInterrupt:
            with pytest.raises(Conflict, match="not finished"):
                stage(home, tmp_path / "b")
    finish(home)
    assert await events_of(home) == 100
    assert sorted(path.name for path in home.agents.iterdir()) == ["ann"]
    assert home.config_file.exists() and not (home.root / "restore").exists()


def rewrite(source: Path, target: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> None:
    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for member in old:
            content = old.extractfile(member)
            assert content is not None
            changed = change(member.name, content.read())
            if changed is not None:
                head = tarfile.TarInfo(changed[0])
                head.size = len(changed[1])
                new.addfile(head, io.BytesIO(changed[1]))


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("cut", "cut off"),
        ("text", "no backup"),
        ("missing", "does not exist"),
        ("folder", "folder"),
        ("no list", "list of files is missing"),
        ("changed file", "not what it was"),
        ("missing file", "not what it was"),
        ("outside", "which no backup holds"),
        ("other form", "upgrade compozy"),
        ("bad list", "cannot be read"),
    ],
)
async def test_a_backup_that_is_not_whole_is_refused_and_nothing_changes(
    home: Home, tmp_path: Path, what: str, message: str
) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    make_backup(home, good)
    changes: dict[str, Callable[[str, bytes], tuple[str, bytes] | None]] = {
        "no list": lambda name, data: None if name == "backup.json" else (name, data),
        "changed file": lambda name, data: (name, data.replace(b"Hello", b"Hallo")),
        "missing file": lambda name, data: None if name == "config.toml" else (name, data),
        "outside": lambda name, data: ("agents/../../evil" if name == "config.toml" else name, data),
        "other form": lambda name, data: (name, data.replace(b"compozy.backup.v1", b"compozy.backup.v9")),
        "bad list": lambda name, data: (name, b"{" if name == "backup.json" else data),
    }
    if what == "cut":
        bad.write_bytes(good.read_bytes()[:-200])
    elif what == "text":
        bad.write_text("hello")
    elif what == "folder":
        bad.mkdir()
    elif what in changes:
        rewrite(good, bad, changes[what])
    with pytest.raises((Unprocessable, NotFound), match=message):
        stage(home, bad)
    assert not (home.root / "restore").exists() and not (tmp_path / "evil").exists()
    assert await events_of(home) == 100


async def test_a_backup_of_a_newer_or_a_foreign_store_is_refused(home: Home, tmp_path: Path) -> None:
    for statement in ("PRAGMA user_version = 999", "PRAGMA application_id = 7"):
        backup = tmp_path / statement[-3:].strip()
        make_backup(home, backup)
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        with tarfile.open(backup) as archive:
            members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
        (folder / "db").write_bytes(members["compozy.db"])
        with sqlite3.connect(folder / "db") as connection:
            connection.execute(statement)
        connection.close()
        members["compozy.db"] = (folder / "db").read_bytes()
        manifest = json.loads(members["backup.json"])
        for file in manifest["files"]:
            file["sha256"] = hashlib.sha256(members[file["path"]]).hexdigest()
        members["backup.json"] = json.dumps(manifest).encode()
        rewrite(backup, tmp_path / "other", lambda name, _, known=members: (name, known[name]))
        with pytest.raises(CompozyError, match=r"newer compozy|another program"):
            stage(home, tmp_path / "other")
        assert await events_of(home) == 100


async def test_what_was_staged_is_discarded_unless_it_was_decided(home: Home, tmp_path: Path) -> None:
    make_backup(home, tmp_path / "b")
    staged = stage(home, tmp_path / "b")
    discard(home)
    assert not (home.root / "restore").exists()
    staged = stage(home, tmp_path / "b")
    commit(home, staged)
    discard(home)
    assert finish(home) is not None


async def test_what_is_gone_is_never_put_in_place(home: Home, tmp_path: Path) -> None:
    make_backup(home, tmp_path / "b")
    staged = stage(home, tmp_path / "b")
    discard(home)
    with pytest.raises(Conflict, match="nothing was changed"):
        commit(home, staged)
    assert finish(home) is None and home.database.exists()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("compozy.db", True),
        ("agents/a/AGENT.md", True),
        ("compozy.db/x", False),
        ("compozy.db-wal", False),
        ("/etc/passwd", False),
        ("agents/../x", False),
        ("agents//x", False),
        ("./config.toml", False),
        ("logs/x", False),
        ("", False),
    ],
)
def test_only_known_places_of_a_home_are_written(path: str, expected: bool) -> None:
    assert belongs(path) is expected


_DIES = """
import os, signal, sys
from pathlib import Path
from compozy.config.home import Home
from compozy.runtime.backups import making
making._add_file = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
making.make_backup(Home(Path(sys.argv[1])), Path(sys.argv[2]))
"""


async def test_what_a_killed_backup_left_is_removed_by_the_next_and_nothing_else_is(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    died = subprocess.run([sys.executable, "-c", _DIES, str(home.root), str(folder / "first")], check=False)
    left = {path.name.rpartition(".")[2] for path in folder.iterdir()}
    assert died.returncode == -9 and left == {"compozy-part", "compozy-db"}
    assert list(backup_findings(home)) == [], "it may be at work"
    parts = sorted(folder.iterdir())
    for path in parts:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    (found,) = backup_findings(home)
    assert (found.code, found.severity) == ("backup_left", "warn")
    assert f"in {str(folder)!r};" in found.message
    assert found.suggested_command == "rm -f " + " ".join(map(str, parts))
    for path in parts:
        os.utime(path)
    mine = [
        folder / ".notes.0123456789abcdef.part",
        folder / ".x.compozy-part",
        folder / "a.0123456789abcdef.compozy-db",
    ]
    at_work = folder / ".other.0123456789abcdef.compozy-part"
    for path in (*mine, at_work):
        path.write_text("mine")
    # A backup that was begun a moment ago may not have its lock yet.
    make_backup(home, folder / "second")
    assert len(list(folder.iterdir())) == 2 + len(mine) + 2
    for path in folder.iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    with at_work.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        make_backup(home, folder / "third")
    assert set(folder.iterdir()) == {*mine, at_work, folder / "second", folder / "third"}
    make_backup(home, folder / "fourth")
    assert not at_work.exists()
    assert list((home.root / "cache" / "backups").iterdir()) == []


async def test_the_doctor_forgets_what_was_removed_and_remembers_what_lies_on_a_disk_that_is_away(
    home: Home, tmp_path: Path
) -> None:
    folder, away = tmp_path / "kept", tmp_path / "away"
    folder.mkdir()
    subprocess.run([sys.executable, "-c", _DIES, str(home.root), str(folder / "first")], check=False)
    for path in folder.iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    folder.rename(away)
    assert list(backup_findings(home)) == []
    make_backup(home, tmp_path / "elsewhere")
    away.rename(folder)
    (found,) = backup_findings(home)
    assert found.suggested_command is not None
    subprocess.run(found.suggested_command, shell=True, check=True)
    assert list(backup_findings(home)) == list(folder.iterdir()) == []
    make_backup(home, folder / "second")
    assert list((home.root / "cache" / "backups").iterdir()) == []


@pytest.mark.parametrize("state", ["closed", "killed", "killed, without its index"])
async def test_a_home_that_cannot_be_written_is_backed_up_or_the_message_says_how(state: str) -> None:
    assert gzip.__name__, "loaded while everything can be read"
    with shared_folder() as folder:
        folder.chmod(0o777)
        with unprivileged():
            home = Home(folder / "home")
            home.create()
            store = SqliteStore(home.database)
            await store.open()
            await store.append_events(ID, make_drafts(10), record=make_session(ID))
            if state == "closed":
                await store.close()
            log, index = (home.database.with_name(home.database.name + end) for end in ("-wal", "-shm"))
            if state != "closed":
                kept = {path: path.read_bytes() for path in (home.database, log, index)}
                await store.close()
                for path, data in kept.items():
                    path.write_bytes(data)
            if "without" in state:
                index.unlink()
            home.root.chmod(0o500)
            try:
                if "without" not in state:
                    assert make_backup(home, folder / "backup").events == 10
                else:
                    with pytest.raises(CompozyError, match=r"was not closed.*cp -r .*compozy backup FILE"):
                        make_backup(home, folder / "backup")
                    assert [path.name for path in folder.iterdir()] == ["home"]
            finally:
                home.root.chmod(0o700)
