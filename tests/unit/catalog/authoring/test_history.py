"""Kept states: private, found by hash, bounded by age and size, and honest about damage (issue 4 item 7)."""

import os
import stat
from pathlib import Path

import pytest

from compozy.catalog.authoring.history import AgentHistory
from compozy.catalog.authoring.states import Entry, FolderState, read_state, write_state
from compozy.model import times
from compozy.model.authoring import Kept
from compozy.model.errors import InvalidRequest, NotFound

PLACE = frozenset({"/w/agents"})


def history(folder: Path, *, max_age: float = 0, max_bytes: int = 1 << 20) -> AgentHistory:
    return AgentHistory(folder / "history/agents", max_age=max_age, max_bytes=max_bytes)


def keep(store: AgentHistory, text: bytes, *, name: str = "tide-clerk", digest: str = "") -> Kept:
    state = FolderState(entries=(Entry(b"AGENT.md", "f", 0o600, text),))
    kept = Kept(
        hash=state.content_hash,
        name=name,
        path=f"/w/agents/{name}/AGENT.md",
        origin="workspace",
        operation="update",
        at=times.now(),
        definition_digest=digest or state.content_hash,
        files=state.files,
        size=state.size,
    )
    store.keep(kept, state)
    return kept


def test_states_are_listed_newest_first_and_found_by_the_beginning_of_their_hash(tmp_path: Path) -> None:
    store = history(tmp_path)
    first, second = keep(store, b"one"), keep(store, b"two")
    assert store.states("tide-clerk") == (second, first) and store.states("other") == ()
    assert store.find("tide-clerk", first.hash[:8].upper(), PLACE) == first
    assert FolderState(entries=store.entries(first)).file("AGENT.md") == b"one"
    assert store.with_digest("tide-clerk", second.definition_digest) == second
    for wanted, error in (("abc", InvalidRequest), ("f" * 64, NotFound), ("../../x", NotFound)):
        with pytest.raises(error):
            store.find("tide-clerk", wanted, PLACE)
    with pytest.raises(NotFound):
        store.find("tide-clerk", first.hash, frozenset({"/elsewhere"}))


def test_a_state_that_comes_back_is_kept_once_with_its_newest_time(tmp_path: Path) -> None:
    store = history(tmp_path)
    first = keep(store, b"one")
    keep(store, b"two")
    again = keep(store, b"one")
    found = store.states("tide-clerk")
    assert found[0].hash == first.hash and len(found) == 2 and found[0].at == again.at


def test_everything_kept_is_private(tmp_path: Path) -> None:
    keep(history(tmp_path), b"one")
    for path in [tmp_path / "history", *(tmp_path / "history").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_oldest_states_go_when_there_are_too_many_bytes_and_the_newest_stays(tmp_path: Path) -> None:
    store = history(tmp_path, max_bytes=8_000)
    rows = [keep(store, os.urandom(2_000), name=f"agent-{n}") for n in range(8)]
    left = [row for row in rows if store.states(row.name)]
    assert left == rows[-len(left) :] and 1 <= len(left) <= 4
    total = sum(path.stat().st_size for path in tmp_path.rglob("*.state"))
    assert total <= 8_000


def test_a_state_larger_than_the_bound_is_kept_alone(tmp_path: Path) -> None:
    store = history(tmp_path, max_bytes=1_000)
    kept = keep(store, os.urandom(3_000))
    assert store.states("tide-clerk") == (kept,)


def test_old_states_go(tmp_path: Path) -> None:
    store = history(tmp_path, max_age=3600)
    keep(store, b"old")
    for path in tmp_path.rglob("*.state"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    newer = keep(history(tmp_path, max_age=3600), b"new")
    assert store.states("tide-clerk") == (newer,)


def test_a_damaged_or_changed_state_is_never_restored_and_hides_no_other(tmp_path: Path) -> None:
    store = history(tmp_path)
    good, bad = keep(store, b"good"), keep(store, b"bad")
    shelf = tmp_path / "history/agents/tide-clerk"
    path = next(shelf.glob(f"{bad.hash}*"))
    facts = path.read_bytes().partition(b"\n")[0]
    other = FolderState(entries=(Entry(b"AGENT.md", "f", 0o600, b"evil"),))
    for data in (facts + b"\n" + other.pack(), facts + b"\nnoise", facts):
        path.write_bytes(data)
        with pytest.raises(NotFound):
            store.entries(bad)
    path.write_bytes(b"\xff\xfe")
    assert store.states("tide-clerk") == (good,)


def test_a_state_that_leads_out_of_its_folder_is_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    handle = os.open(folder, os.O_RDONLY)
    try:
        for path in (b"../x", b"/x", b"a/../../x", b""):
            with pytest.raises(ValueError):
                write_state((Entry(path, "f", 0o600, b""),), handle)
    finally:
        os.close(handle)
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]


def test_a_file_that_is_too_large_is_named_and_what_was_authored_is_kept(tmp_path: Path) -> None:
    (tmp_path / "AAA.bin").write_bytes(b"x" * 5_000)
    (tmp_path / "AGENT.md").write_bytes(b"y" * 900)
    os.mkfifo(tmp_path / "pipe")
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        state = read_state(handle, limit=1_000)
    finally:
        os.close(handle)
    assert [entry.path for entry in state.entries] == [b"", b"AGENT.md"]
    assert state.left_out == ("AAA.bin", "pipe")


def test_what_a_killed_writer_left_beside_kept_states_goes(tmp_path: Path) -> None:
    shelf = tmp_path / "history/agents/tide-clerk"
    keep(history(tmp_path), b"one")
    left, fresh = shelf / ".compozy-tmp-00ff", shelf / ".compozy-tmp-11ff"
    for path in (left, fresh):
        path.write_text("half")
    os.utime(left, (1_000_000_000, 1_000_000_000))
    keep(history(tmp_path), b"two")
    assert not left.exists() and fresh.exists()
