"""`compozy fleet`: once, as lines, and live on a real terminal that is as it was before when it ends."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.kit.cli import COMPOZY, Cli, sequence, steps
from tests.kit.daemons import wait_until
from tests.kit.terminal import Terminal

ASK = {"permission": {"title": "Write notes.md", "kind": "edit"}, "then": [{"text": "wrote"}]}
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


@pytest.fixture
def session(shared: Cli) -> str:
    new = ("session", "new", "--name", "demo-run", "--permissions", "approve-reads", "-o", "json")
    return str(shared(*new).object()["id"])


@contextmanager
def asking(cli: Cli, session: str) -> Iterator[None]:
    words = [*COMPOZY, "session", "prompt", session, steps(ASK), "--on-ask", "ask"]
    running = subprocess.Popen(words, env=cli.environment, cwd=cli.folder, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: "waiting-for-auth" in cli("fleet", "--workspace", ".").out, "the question is there")
        yield
    finally:
        cli("session", "prompt-cancel", session)
        running.wait(60)


def _resize(terminal: Terminal, columns: int, lines: int) -> None:
    fcntl.ioctl(terminal._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def test_once_it_is_a_table_and_in_json_the_sessions(shared: Cli, session: str) -> None:
    assert shared("fleet", "--workspace", ".").out.split()[:3] == ["SESSION", "AGENT", "STATE"]
    with asking(shared, session):
        shown = shared("fleet", "--workspace", ".")
        line = next(line for line in shown.out.splitlines() if line.startswith("demo-run"))
        assert "general" in line and "waiting-for-auth" in line and "you: Write notes.md (" in line
        assert "1 session · 0 running · 1 waiting for you" in shown.err
    found = shared("fleet", "--workspace", ".", "-o", "json").object()
    assert [row["id"] for row in sequence(found["sessions"])] == [session] and found["total"] == 1
    shared("session", "stop", session)
    assert "no session is active" in shared("fleet", "--workspace", ".").out
    assert session in shared("fleet", "--workspace", ".", "--all", "-o", "json").out


def test_without_a_terminal_it_prints_a_line_for_each_change(shared: Cli, session: str) -> None:
    words = [*COMPOZY, "fleet", "--watch", "--workspace", ".", "-o", "jsonl"]
    watcher = subprocess.Popen(words, env=shared.environment, cwd=shared.folder, stdout=subprocess.PIPE, text=True)
    assert watcher.stdout is not None
    try:
        first = json.loads(watcher.stdout.readline())
        assert (first["id"], first["badge"]) == (session, "idle")
        with asking(shared, session):
            badges = [first["badge"]]
            while badges[-1] != "waiting-for-auth":
                badges.append(json.loads(watcher.stdout.readline())["badge"])
    finally:
        watcher.terminate()
        watcher.communicate(timeout=60)


def test_live_it_follows_and_q_leaves_the_terminal_as_it_was(shared: Cli, session: str) -> None:
    with shared.terminal("fleet", "--watch", "--workspace", ".") as terminal:
        _resize(terminal, 120, 40)
        terminal.wait_for("demo-run")
        terminal.wait_for("1 session · 0 running · 0 waiting for you")
        assert terminal.attributes() != terminal.untouched, "keys arrive one by one"
        with asking(shared, session):
            terminal.wait_for("waiting-for-auth")
            terminal.wait_for("you: Write notes.md (")
            terminal.wait_for("1 waiting for you")
        terminal.type("jk")
        terminal.type("q")
        assert terminal.wait_exit() == 0
        assert terminal.raw.count(ENTER) == 1 and terminal.raw.rstrip().endswith(LEAVE)
        assert terminal.attributes() == terminal.untouched


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_live_every_end_gives_the_terminal_back(shared: Cli, session: str, number: int, code: int) -> None:
    with shared.terminal("fleet", "--watch", "--workspace", ".") as terminal:
        terminal.wait_for("waiting for you")
        os.kill(terminal.process.pid, number)
        assert terminal.wait_exit() == code
        assert LEAVE in terminal.raw and terminal.attributes() == terminal.untouched
        assert "Traceback" not in terminal.text


def test_live_it_fits_the_size_and_follows_when_that_changes(shared: Cli, session: str) -> None:
    for number in range(6):
        shared("session", "new", "--name", f"extra-{number}", "-o", "json")
    with shared.terminal("fleet", "--watch", "--workspace", ".") as terminal:
        terminal.wait_for("7 sessions")
        _resize(terminal, 60, 6)
        terminal.wait_for("3 more (j, k)")
        drawn = terminal.raw[terminal.raw.rindex("\x1b[H") :]
        assert drawn.count("\r\n") == 5 and "\x1b[6;1H" in drawn
        terminal.type(" ")
        terminal.wait_for("demo-run")
        _resize(terminal, 100, 40)
        terminal.wait_for("7 sessions")
        terminal.type("\x1b")
        assert terminal.wait_exit() == 0


def test_live_it_finds_a_daemon_that_was_restarted(served: Cli) -> None:
    served("session", "new", "--name", "kept", "-o", "json")
    with served.terminal("fleet", "--watch", "--all") as terminal:
        terminal.wait_for("kept")
        assert served("daemon", "stop").code == 0
        terminal.wait_for("no daemon answers")
        assert served("daemon", "start").code == 0
        terminal.wait_for("1 session · ")
        terminal.type("q")
        assert terminal.wait_exit() == 0
