"""Containment while the tree changes under us: what an agent reads or writes lies below the session's roots, whatever
is exchanged on the way in between (contract §5.5)."""

import ctypes
import itertools
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compozy.acp.contract import RequestRefused
from compozy.documents.files import open_folder, read_file
from compozy.runtime.sessions.callbacks import READ_BYTES, FileCallbacks
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.policy import Grants
from tests.kit.unprivileged import shared_folder, unprivileged

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="exchanges as Linux does")]
# renameat2(2): relative to the working folder; exchange both.
_HERE, _EXCHANGE = -100, 2
TURNS = 400
# However loaded the machine is, some attempt finds the folder in place throughout within this time.
PATIENCE_S = 60.0


def turns(least: int, *, until: Callable[[], bool]) -> Iterator[int]:
    """Count attempts: `least` of them, then on until one came through, for a bounded time."""
    end = time.monotonic() + PATIENCE_S
    for number in itertools.count():
        if number >= least and (until() or time.monotonic() > end):
            return
        yield number


@contextmanager
def exchanging(folder: Path, outside: Path) -> Iterator[None]:
    """Let a folder be itself and a link to the outside in turns."""
    link = folder.with_name("link")
    link.symlink_to(outside)
    libc = ctypes.CDLL(None)
    done = threading.Event()

    def exchange() -> None:
        rests = random.Random(1)
        while not done.is_set():
            # One step: there is always something of that name.
            assert libc.renameat2(_HERE, bytes(folder), _HERE, bytes(link), _EXCHANGE) == 0
            # Now and then both stay as they are for a while: without that, a loaded machine may let nothing through.
            if rests.random() < 0.1:
                time.sleep(rests.random() / 500)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if folder.is_symlink():
            link.replace(folder.with_name("kept"))
            folder.unlink()
            folder.with_name("kept").rename(folder)


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path, FileCallbacks]:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (root / "a/file").write_text("inside")
    (outside / "file").write_text("outside")
    roots = Roots(str(root))
    return root, outside, FileCallbacks(roots, Grants(roots))


async def test_a_folder_exchanged_for_a_link_never_leads_a_read_outside(
    trees: tuple[Path, Path, FileCallbacks],
) -> None:
    root, outside, files = trees
    found = set[str]()
    with exchanging(root / "a", outside):
        for _ in turns(TURNS, until=lambda: "inside" in found):
            try:
                found.add(await files.read("approve-all", "a/file", None, None))
            except RequestRefused:
                found.add("refused")
    assert "inside" in found and "outside" not in found


async def test_a_folder_exchanged_for_a_link_never_leads_a_write_outside(
    trees: tuple[Path, Path, FileCallbacks],
) -> None:
    root, outside, files = trees
    written = list[int]()
    with exchanging(root / "a", outside):
        for number in turns(TURNS // 2, until=lambda: bool(written)):
            try:
                await files.write("approve-all", f"a/new{number}/deep/file", "text")
                written.append(number)
            except RequestRefused:
                pass
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert written
    assert all((root / f"a/new{number}/deep/file").read_text() == "text" for number in written)


async def test_a_pipe_put_in_place_of_a_file_makes_nobody_wait(trees: tuple[Path, Path, FileCallbacks]) -> None:
    root, _, files = trees
    os.mkfifo(root / "pipe")
    with pytest.raises(RequestRefused, match="not a regular file"):
        await files.read("approve-all", "pipe", None, None)


async def test_a_file_above_the_limit_is_refused_and_one_at_the_limit_is_read(
    trees: tuple[Path, Path, FileCallbacks],
) -> None:
    root, _, files = trees
    (root / "large").write_bytes(b"x" * READ_BYTES)
    assert len(await files.read("approve-all", "large", None, None)) == READ_BYTES
    (root / "large").write_bytes(b"x" * (READ_BYTES + 1))
    with pytest.raises(RequestRefused, match="larger than"):
        await files.read("approve-all", "large", None, None)


async def test_a_folder_that_may_be_entered_but_not_listed_is_no_obstacle_on_the_way() -> None:
    with shared_folder() as folder:
        (folder / "closed/open").mkdir(parents=True)
        (folder / "closed/open/file").write_text("found")
        (folder / "closed").chmod(0o711)
        with unprivileged():
            handle = open_folder(folder / "closed/open", "folder")
            try:
                assert read_file(handle, "file", "file", "file")[0] == b"found"
                assert os.listdir(handle) == ["file"]  # noqa: PTH208 - of a handle
            finally:
                os.close(handle)
