"""Publishing, verifying, keys and outcomes against kills, rivals, full disks and files that are none (issue 8)."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compozy.documents.atomic import TEMPORARY_PREFIX
from compozy.model.errors import LocalError
from compozy.ocm.folder_run import NOTE_NAME
from compozy.ocm.index import PublishError
from compozy.ocm.publishing import publish, verify_folder
from compozy.ocm.selection import model_files
from compozy.ocm.selection.model_files import load_model
from compozy.ocm.selection.outcomes import Result, read_results, record
from compozy.ocm.signing import SignatureError, make_keys, read_private_key, read_public_key
from tests.failure.test_ocm_bad_input import HEAD, run

MANY = 40
PATIENCE = 60.0


def documents(version: str, first: int = 0) -> list[dict[str, object]]:
    return [
        {"ocm": "1", "id": f"acme/c{n}", "kind": "tool", "description": "Pays back", "version": version}
        for n in range(first, first + MANY)
    ]


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def publish_in_a_process(folder: Path, version: str, first: int = 0, key: str = "") -> "subprocess.Popen[bytes]":
    script = (
        "import json, sys\nfrom pathlib import Path\n"
        "from compozy.ocm.publishing import publish\nfrom compozy.ocm.signing import read_private_key\n"
        "key = read_private_key(Path(sys.argv[3])) if sys.argv[3] else None\n"
        "publish(json.loads(sys.argv[1]), Path(sys.argv[2]), key=key)\n"
    )
    words = [sys.executable, "-c", script, json.dumps(documents(version, first)), str(folder), key]
    return subprocess.Popen(words, stderr=subprocess.PIPE)


def kill_when(process: "subprocess.Popen[bytes]", is_time: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_time() and process.poll() is None:
        assert time.monotonic() < end
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_killed_run_is_seen_and_the_next_one_leaves_nothing_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "public"
    make_keys(tmp_path / "key")
    key, public = read_private_key(tmp_path / "key"), read_public_key(tmp_path / "key.pub")
    publish(documents("1"), folder, key=key)
    seen: set[str] = set()
    # Four times at least, and on until one was killed in time: a busy machine may let each come to its end.
    for count in range(100):
        if count >= 4 and "interrupted" in seen:
            break
        # Others than before: the killed run writes some that no index will ever list.
        process = publish_in_a_process(folder, "2", first=1_000 * (count + 1), key=str(tmp_path / "key"))
        part = folder / "manifests" / "acme" / f"c{1_000 * (count + 1) + 5 * (count % 4)}"
        kill_when(process, part.exists)
        try:
            verify_folder(folder, public)
            seen.add("whole")
        except PublishError as error:
            assert "interrupted" in str(error)
            seen.add("interrupted")
        for path in names(folder):
            if path.endswith(".json"):
                json.loads((folder / path).read_bytes())
    assert "interrupted" in seen
    publish(documents("3"), folder, key=key)
    assert verify_folder(folder, public).problems == ()
    wanted = {f"manifests/acme/c{n}/capability.json" for n in range(MANY)}
    assert {name for name in names(folder) if name.startswith("manifests/")} == wanted
    assert not [name for name in names(folder) if TEMPORARY_PREFIX in name or NOTE_NAME in name]


def test_runs_at_once_wait_for_each_other_and_one_of_them_stands_whole(tmp_path: Path) -> None:
    folder = tmp_path / "public"
    publish(documents("0"), folder)
    running = [publish_in_a_process(folder, str(n), first=n * 10) for n in range(1, 5)]
    while any(process.poll() is None for process in running):
        # Whoever verifies meanwhile sees one of them, never a mixture.
        assert verify_folder(folder).problems == ()
    assert [process.communicate()[1] for process in running] == [b""] * 4
    assert verify_folder(folder).problems == ()
    index = json.loads((folder / "index.json").read_bytes())
    (version,) = {row["version"] for row in index["capabilities"]}
    found = {str(Path(row["path"])) for row in index["capabilities"]}
    assert {name for name in names(folder) if name.startswith("manifests/")} == found and version != "0"


def test_a_hostile_note_of_a_killed_run_removes_nothing_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "public"
    folder.mkdir()
    for name in ("victim", "public/mine.txt"):
        (tmp_path / name).write_text("keep")
    told = ["../victim", "mine.txt", "manifests/../mine.txt", "/etc/hostname", str(tmp_path / "victim"), 5, None]
    (folder / NOTE_NAME).write_text(json.dumps({"paths": told}))
    publish(documents("1"), folder)
    assert (tmp_path / "victim").read_text() == (folder / "mine.txt").read_text() == "keep"


def test_a_link_in_the_way_is_found_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "public"
    publish(documents("1"), folder)
    (folder / "index.html").unlink()
    (folder / "index.html").symlink_to(tmp_path / "elsewhere")
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    with pytest.raises(PublishError, match="follows none"):
        publish(documents("2"), folder)
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before


@pytest.mark.parametrize("identity", ["a" * 201, "/".join(["a" * 150] * 8)])
def test_an_id_too_long_for_a_file_is_refused_before_anything_is_written(tmp_path: Path, identity: str) -> None:
    with pytest.raises(PublishError, match="too long"):
        publish([{"ocm": "1", "id": identity, "kind": "tool", "description": "d"}], tmp_path / "public")
    assert not (tmp_path / "public").exists()


@pytest.mark.parametrize("name", ["index.json", "index.json.sig", "manifests/acme/c0/capability.json"])
@pytest.mark.parametrize("kind", ["pipe", "zeros", "huge", "folder"])
def test_a_strangers_folder_with_files_that_are_none_is_refused_at_once(tmp_path: Path, name: str, kind: str) -> None:
    folder = tmp_path / "public"
    make_keys(tmp_path / "key")
    publish(documents("1"), folder, key=read_private_key(tmp_path / "key"))
    target = folder / name
    target.unlink()
    if kind == "pipe":
        os.mkfifo(target)
    elif kind == "zeros":
        target.symlink_to("/dev/zero")
    elif kind == "folder":
        target.mkdir()
    else:
        with target.open("wb") as file:
            file.truncate(20 << 30)
    done = run(tmp_path, "verify", "public", "--key", "key.pub")
    assert done.returncode == 2 and b"fault of compozy" not in done.stderr, done.stderr


def test_keys_that_are_pipes_or_devices_are_refused_at_once(tmp_path: Path) -> None:
    publish(documents("1"), tmp_path / "public")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for key in ("pipe", "/dev/zero"):
        assert run(tmp_path, "verify", "public", "--key", key).returncode != 0
        with pytest.raises((OSError, SignatureError)):
            read_private_key(tmp_path / key)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_private_key_that_others_may_use_signs_nothing_and_is_not_shown(tmp_path: Path, mode: int) -> None:
    make_keys(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    (tmp_path / "good.yaml").write_text(HEAD + "id: a\n")
    done = run(tmp_path, "publish", "public", "good.yaml", "--sign", "key")
    assert done.returncode == 2 and b"chmod 600" in done.stderr
    assert b"PRIVATE" not in done.stdout + done.stderr and not (tmp_path / "public").exists()


def result(number: int) -> Result:
    return Result(id=f"acme/c{number}", quality=1.0, at="2026-01-01T00:00:00+00:00")


def test_eight_processes_record_outcomes_at_once_and_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    script = (
        "import sys\nfrom pathlib import Path\nfrom compozy.ocm.selection.outcomes import Result, record\n"
        "for n in range(50):\n"
        "    one = Result(id=f'acme/{sys.argv[2]}-{n}', quality=1.0, at='2026-01-01T00:00:00Z')\n"
        "    record(Path(sys.argv[1]), one)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(path), str(n)]) for n in range(8)]
    assert [process.wait(PATIENCE) for process in running] == [0] * 8
    assert len({one.id for one in read_results(path)}) == 400


def test_what_a_killed_writer_left_of_an_outcome_neither_stays_nor_spoils_the_next(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    record(path, result(1))
    with path.open("ab") as file:
        file.write(b'{"id": "acme/c2", "qual')
    assert [one.id for one in read_results(path)] == ["acme/c1"]
    record(path, result(3))
    assert [one.id for one in read_results(path)] == ["acme/c1", "acme/c3"]


def test_a_whole_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    record(path, result(1))
    path.write_bytes(path.read_bytes().rstrip())
    record(path, result(2))
    assert [one.id for one in read_results(path)] == ["acme/c1", "acme/c2"]


@pytest.mark.parametrize("room", [0, 20])
def test_an_outcome_that_does_not_fit_on_the_disk_leaves_the_file_as_it_was(tmp_path: Path, room: int) -> None:
    path = tmp_path / "outcomes.jsonl"
    record(path, result(1))
    before = path.read_bytes()
    # A limit on the size of files stands for a full disk.
    script = (
        "import resource, signal, sys\nfrom pathlib import Path\n"
        "from compozy.cli.app import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))\n"
        "sys.exit(main(['ocm', 'learn', sys.argv[1], '--good', 'acme/c2']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), str(len(before) + room)], capture_output=True, timeout=PATIENCE
    )
    assert done.returncode in (1, 2) and b"fault of compozy" not in done.stderr, done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("identity", ["", "a\udcff", "a\nb", "a" * 2_000])
def test_an_id_that_could_not_be_read_again_is_not_recorded(tmp_path: Path, identity: str) -> None:
    with pytest.raises(LocalError, match="no capability's id"):
        record(tmp_path / "outcomes.jsonl", Result(id=identity, quality=1.0, at="2026-01-01T00:00:00Z"))
    assert not (tmp_path / "outcomes.jsonl").exists()


@pytest.mark.parametrize("kind", ["pipe", "zeros"])
def test_outcomes_tasks_and_models_that_are_no_files_are_refused_at_once(tmp_path: Path, kind: str) -> None:
    (tmp_path / "good.yaml").write_text(HEAD + "id: a\n")
    if kind == "pipe":
        os.mkfifo(tmp_path / "it")
    else:
        (tmp_path / "it").symlink_to("/dev/zero")
    for words in (
        ("learn", "it"),
        ("learn", "it", "--good", "a"),
        ("publish", "public", "good.yaml", "--outcomes", "it"),
        ("select", "task", "good.yaml", "--outcomes", "it"),
        ("select", "task", "good.yaml", "--model", "it"),
        ("train", "it", "good.yaml", "--to", "model"),
    ):
        done = run(tmp_path, *words)
        assert done.returncode in (1, 2) and b"fault of compozy" not in done.stderr, (words, done.stderr)
    assert not (tmp_path / "public").exists() and not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "head",
    [b"[" * 50_000, b"{}", b"[]", b"5", b'{"features": [["a", 1' + b"0" * 400 + b']], "ids": [], "words": []}'],
)
def test_a_damaged_model_is_said_to_be_damaged(tmp_path: Path, head: bytes) -> None:
    pytest.importorskip("numpy")
    digest = "sha256:" + "0" * 64
    path = tmp_path / "model"
    data = head + b"\n"
    told = hashlib.sha256(data).hexdigest().encode()
    path.write_bytes(model_files._MAGIC + digest.encode() + b" " + told + b"\n" + data)
    with pytest.raises(LocalError, match="damaged"):
        load_model(path, digest)


def test_a_model_with_any_byte_changed_or_cut_off_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    (tmp_path / "t.yaml").write_text("- {ocm: '1', id: a, kind: tool, description: maps}\n")
    (tmp_path / "tasks.jsonl").write_text('{"task": "draw a map", "id": "a"}\n')
    assert run(tmp_path, "train", "tasks.jsonl", "t.yaml", "--to", "model").returncode == 0
    path = tmp_path / "model"
    data = path.read_bytes()
    digest = data.split(b" ")[1].decode()
    load_model(path, digest)
    for place in range(0, len(data), max(len(data) // 60, 1)):
        for damaged in (data[:place], data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(LocalError):
                load_model(path, digest)


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    from compozy.cli.ocm.command import InvalidManifests
    from compozy.cli.ocm.replacing import replace

    path = tmp_path / "capability.yaml"
    path.write_text("of somebody else")
    with pytest.raises(InvalidManifests, match="meanwhile"):
        replace(path, "as it was read", "as it would be")
    assert path.read_text() == "of somebody else"
