import os
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.documents.atomic import TEMPORARY_PREFIX, write_atomically


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(TEMPORARY_PREFIX)]


def test_a_write_replaces_the_content_with_mode_0600_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "AGENT.md"
    target.write_bytes(b"old")
    target.chmod(0o644)
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600
    assert leftovers(tmp_path) == []


def test_the_mode_is_kept_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_atomically(tmp_path / "workspace.toml", b"x", mode=0o644)
    finally:
        os.umask(before)
    assert (tmp_path / "workspace.toml").stat().st_mode & 0o777 == 0o644


def test_an_exclusive_write_never_replaces(tmp_path: Path) -> None:
    target = tmp_path / "AGENT.md"
    write_atomically(target, b"first", exclusive=True)
    with pytest.raises(FileExistsError):
        write_atomically(target, b"second", exclusive=True)
    assert target.read_bytes() == b"first"
    assert leftovers(tmp_path) == []


def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "victim").write_bytes(b"keep")
    (tmp_path / "AGENT.md").symlink_to(real / "victim")
    (tmp_path / "folder").symlink_to(real)
    with pytest.raises(OSError, match="symbolic link"):
        write_atomically(tmp_path / "AGENT.md", b"x")
    with pytest.raises(OSError):
        write_atomically(tmp_path / "folder" / "victim", b"x")
    assert (real / "victim").read_bytes() == b"keep"


def test_a_folder_at_the_target_is_refused(tmp_path: Path) -> None:
    (tmp_path / "AGENT.md").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        write_atomically(tmp_path / "AGENT.md", b"x")
    assert leftovers(tmp_path) == []


def test_a_write_that_hits_the_file_size_limit_keeps_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "AGENT.md"
    target.write_bytes(b"old")
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from compozy.documents.atomic import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    write_atomically(Path(sys.argv[1]), b'n' * 5000)\n"
        "except OSError:\n"
        "    sys.exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(target)], timeout=30, check=False)
    assert done.returncode == 7
    assert target.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


def test_a_killed_writer_leaves_old_or_new_content(tmp_path: Path) -> None:
    target = tmp_path / "AGENT.md"
    old, new = b"o" * 20_000, b"n" * 20_000
    target.write_bytes(old)
    script = (
        "import sys\nfrom pathlib import Path\nfrom compozy.documents.atomic import write_atomically\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    write_atomically(Path(sys.argv[1]), b'n' * 20000)\n"
        "    write_atomically(Path(sys.argv[1]), b'o' * 20000)\n"
    )
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
            for _ in range(200):
                assert target.read_bytes() in (old, new)
            writer.kill()
        assert target.read_bytes() in (old, new)
