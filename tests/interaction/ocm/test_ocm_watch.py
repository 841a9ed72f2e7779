"""`--watch` of every command that has it, as a process of its own (issue 8 item 4)."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

GOOD = (
    'ocm: "1"\nid: acme/x\nkind: tool\ndescription: Pays back broken orders\nexamples: [refund order 1, pay back]\n'
)
BAD = GOOD.replace("kind: tool", "kind: agnt")
PATIENCE = 60.0


class Watching:
    """A running command; `until` waits for a text in what it has printed since the last one."""

    def __init__(self, folder: Path, words: tuple[str, ...]) -> None:
        environment = {**os.environ, "COMPOZY_HOME": str(folder / "home")}
        command = [sys.executable, "-m", "compozy", "ocm", *words]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def until(self, text: str) -> str:
        assert self.process.stdout is not None
        told, end = "", time.monotonic() + PATIENCE
        while text not in told:
            assert time.monotonic() < end and self.process.poll() is None, told
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                told += os.read(self.process.stdout.fileno(), 1 << 16).decode()
        return told

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def end(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (("validate", "."), "1/1 manifest(s) valid", "0/1 manifest(s) valid"),
        (("lint", "."), "checked 1 file", "kind is 'agnt'"),
        (("lint", ".", "-o", "github"), "", "::error file=capability.yaml"),
        (("fmt", "--check", "."), "", "would change"),
        (("eval", "."), "2 examples of 1 capability", "error: "),
        (("publish", "../public", "."), "published 5 files", "error: "),
    ],
)
def test_a_change_gets_a_run_of_its_own_and_ctrl_c_ends(
    tmp_path: Path, words: tuple[str, ...], first: str, second: str
) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    file = folder / "capability.yaml"
    file.write_text(GOOD)
    watching = Watching(folder, (*words, "--watch"))
    try:
        if first:
            watching.until(first)
        file.write_text(BAD if words[0] != "fmt" else BAD + "  \n\n\n")
        watching.until(second)
        # A run that failed does not end the watch.
        if words[0] in ("validate", "eval", "publish"):
            file.write_text(GOOD + "version: '2'\n")
            watching.until(first)
        assert watching.interrupt() == 130
    finally:
        watching.end()


@pytest.mark.parametrize("words", [("validate",), ("validate", "-"), ("lint", "-")])
def test_there_must_be_something_to_look_at(tmp_path: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "compozy", "ocm", *words, "--watch"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)
    assert done.returncode == 2 and "--watch needs files" in done.stderr


def test_deleted_files_and_a_place_that_cannot_be_written_do_not_end_the_watch(tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    file = folder / "capability.yaml"
    file.write_text(GOOD)
    # A folder where the page would be written.
    in_the_way = tmp_path / "public" / "index.html"
    in_the_way.mkdir(parents=True)
    watching = Watching(folder, ("publish", "../public", ".", "--watch"))
    try:
        watching.until("error: ")
        in_the_way.rmdir()
        file.write_text(GOOD + "version: '2'\n")
        watching.until("published 5 files")
        file.unlink()
        watching.until("error: ")
        file.write_text(GOOD)
        watching.until("published 5 files")
        # Another file under its name, of the same size and time, is a change too.
        state = file.stat()
        other = tmp_path / "other.yaml"
        other.write_text(GOOD.replace("refund", "return"))
        os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
        other.rename(file)
        watching.until("published 5 files")
        assert watching.interrupt() == 130
    finally:
        watching.end()
