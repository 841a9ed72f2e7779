"""Which files are read and which are left out."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from compozy_offline_agent.listing import MAX_FILE_BYTES, Ignore, Listing, Walk, from_output


def walk(root: Path) -> Listing:
    return Walk(str(root), lambda path: Path(path).read_text(), threading.Event()).run()


def write(root: Path, path: str, text: str = "text\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_what_tools_made_is_left_out_and_the_rest_is_listed_with_its_size(tmp_path: Path) -> None:
    for path in ("a.py", "src/b.py", "node_modules/x/i.js", ".git/config", "__pycache__/a.pyc", "pic.PNG"):
        write(tmp_path, path)
    write(tmp_path, "empty.txt", "")
    write(tmp_path, "huge.txt", "x" * (MAX_FILE_BYTES + 1))
    found = walk(tmp_path)
    assert [(entry.path, entry.size) for entry in found.files] == [("a.py", 5), ("src/b.py", 5)]
    assert found.skipped == {"ignored": 3, "binary": 1, "empty": 1, "larger than 512 KiB": 1}


def test_links_and_special_files_are_never_followed(tmp_path: Path) -> None:
    write(tmp_path, "real.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    found = walk(tmp_path)
    assert [entry.path for entry in found.files] == ["real.py"]
    assert found.skipped == {"link": 2, "not a regular file": 1}


RULES = """\
# comment
*.log
!keep.log
/build
docs/*.tmp
**/gen/**
cache/
name\\ with space
[ab].txt
"""
PATHS = [
    "x.log", "keep.log", "sub/y.log", "build/out.py", "sub/build/in.py", "docs/a.tmp", "docs/sub/b.tmp",
    "x/gen/y/z.py", "gen/z.py", "cache/c.py", "sub/cache/c.py", "name with space", "a.txt", "c.txt", "plain.py",
]  # fmt: skip


def test_gitignore_rules_mean_what_git_takes_them_to_mean(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", RULES)
    write(tmp_path, "sub/.gitignore", "*.py\n!build\n")
    for path in PATHS:
        write(tmp_path, path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    by_git = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert sorted(entry.path for entry in walk(tmp_path).files) == sorted(by_git.rstrip("\0").split("\0"))


@pytest.mark.parametrize("text", ["[", "***", "\\", "!", "/", "[]", "[!", "a[b", "[z-a]"])
def test_a_rule_that_makes_no_sense_ignores_nothing_else(text: str) -> None:
    assert Ignore(text + "\nother").decide("plain.py", False) in (None, True)
    assert Ignore(text + "\nother").decide("other", False) is True


def test_a_program_s_output_is_believed_only_as_far_as_the_files_exist(tmp_path: Path) -> None:
    write(tmp_path, "a b.py")
    write(tmp_path, "node_modules/x.js")
    (tmp_path / "link").symlink_to("/etc/passwd")
    found = from_output(str(tmp_path), "./a b.py\0gone.py\0node_modules/x.js\0link\0", "ran find")
    assert [entry.path for entry in found.files] == ["a b.py"]
    assert found.skipped == {"link": 1}
