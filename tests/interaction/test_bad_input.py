"""The bad input of issue 2 through the command line: one clear sentence with the next step, a documented exit code,
no traceback, nothing lost."""

import http.client
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.daemon import control
from tests.kit.cli import COMPOZY, Cli, sequence, steps, write_agent
from tests.kit.daemons import make_home
from tests.kit.users import run_as_ordinary_user


def assert_one_sentence(text: str) -> None:
    """One line that says what and what next, and perhaps one line with a command."""
    lines = [line for line in text.splitlines() if line.startswith(("error: ", "try: "))]
    assert lines and lines[0].startswith("error: ") and len(lines) <= 2, text
    assert "Traceback" not in text
    sentence = lines[0].removeprefix("error: ")
    assert len(lines) == 2 or any(mark in sentence for mark in (";", ": ", "`")), f"no next step in: {sentence}"


def remedy(text: str) -> list[str]:
    """Return the command of the `try:` line, without the program's name."""
    (line,) = [line for line in text.splitlines() if line.startswith("try: ")]
    words = shlex.split(line.removeprefix("try: "))
    assert words[0] == "compozy", line
    return words[1:]


def test_no_agent_found(served: Cli) -> None:
    (served.home.agents / "general" / "AGENT.md").unlink()
    call = served("run", "anything")
    assert call.code == 65
    assert_one_sentence(call.err)
    assert served(*remedy(call.err)).code == 0
    assert served("run", steps({"text": "fine"})).out == "fine\n", "the remedy mends it"


def test_unknown_agent(served: Cli) -> None:
    call = served("run", "anything", "--agent", "revewer")
    assert call.code == 65 and "'revewer'" in call.err
    assert_one_sentence(call.err)


def test_the_providers_program_is_missing(cli: Cli) -> None:
    cli.use_command("no-such-program-anywhere --acp")
    call = cli("run", "anything")
    assert call.code == 71 and "'no-such-program-anywhere'" in call.err
    assert_one_sentence(call.err)
    (session,) = sequence(cli("session", "list", "--all", "-o", "json").object()["sessions"])
    assert session["agent_name"] == "general", "the session is kept and can be prompted again"


def test_the_workspace_path_is_missing(served: Cli) -> None:
    missing = served.folder / "gone"
    for words in (("run", "x", "--workspace"), ("agent", "list", "--workspace"), ("session", "new", "--cwd")):
        call = served(*words, str(missing))
        assert call.code == 1 and str(missing) in call.err
        assert_one_sentence(call.err)
    assert call.err.splitlines()[-1] == f"try: mkdir -p {missing}"


def test_the_workspace_folder_went_away(served: Cli) -> None:
    gone = served.folder / "gone"
    gone.mkdir()
    assert served("workspace", "add", str(gone), "--name", "gone").code == 0
    shutil.rmtree(gone)
    call = served("session", "new", "--workspace", "gone")
    assert call.code == 69
    assert_one_sentence(call.err)


def test_a_malformed_agent_file_stops_nothing_else(served: Cli) -> None:
    path = write_agent(served.home.root, "broken", "---\nname: [\n---\nhello\n")
    listed = served("agent", "list")
    assert listed.code == 0 and "general" in listed.out and "1 definition does not load" in listed.out
    call = served("run", "anything", "--agent", "broken")
    assert call.code == 65 and str(path) in call.err
    assert_one_sentence(call.err)
    assert served("run", steps({"text": "fine"})).out == "fine\n"


def test_an_agent_that_exits_at_once(cli: Cli) -> None:
    cli.use_command(f"{sys.executable} -c 'import sys; sys.exit(\"no licence found\")'")
    call = cli("run", "anything")
    assert call.code == 70 and "exited" in call.err and "no licence found" in call.err
    assert_one_sentence(call.err)


def test_an_agent_that_prints_junk_before_it_speaks_is_understood(served: Cli) -> None:
    call = served("run", steps({"line": "Welcome to AgentMaster 3000!"}, {"line": "{not json"}, {"text": "fine"}))
    assert (call.code, call.out) == (0, "fine\n")


def test_an_agent_that_prints_nothing_but_junk(cli: Cli) -> None:
    cli.use_command(f'{sys.executable} -c \'print("junk " * 100); print("more")\'')
    call = cli("run", "anything")
    assert call.code == 70
    assert_one_sentence(call.err)


def test_the_daemon_is_not_running(cli: Cli) -> None:
    lines = [("agent", "list"), ("session", "list"), ("workspace", "list"), ("status",), ("undrain",)]
    for words in lines:
        call = cli(*words)
        assert call.code == 69 and "the daemon is not running" in call.err
        assert_one_sentence(call.err)
    assert cli(*remedy(call.err)).code == 0
    for words in lines:
        assert cli(*words).code == 0, "the remedy mends it"


def test_a_second_daemon(served: Cli) -> None:
    for words in (("daemon", "start"), ("daemon", "start", "--foreground")):
        call = served(*words)
        assert call.code == 1 and "already running" in call.err
        assert_one_sentence(call.err + "\ntry: compozy status" if "try:" not in call.err else call.err)
    assert served("status").code == 0, "the first one is unharmed"


@pytest.mark.parametrize("words", [("daemon", "start"), ("run", "anything"), ("agent", "list")], ids=" ".join)
def test_a_home_that_cannot_be_read(cli: Cli, words: tuple[str, ...]) -> None:
    cli.home.root.chmod(0)
    try:
        done = run_as_ordinary_user([*COMPOZY, *words], env=cli.environment, cwd=cli.folder)
    finally:
        cli.home.root.chmod(0o700)
    assert done.returncode not in (0, 2) and str(cli.home.root) in done.stderr
    assert_one_sentence(done.stderr)


def test_a_compozy_db_of_another_program_is_left_alone(cli: Cli) -> None:
    with sqlite3.connect(cli.home.database) as foreign:
        foreign.execute("CREATE TABLE goose_db_version (id INTEGER)")
    foreign.close()
    before = cli.home.database.read_bytes()
    for words in (("daemon", "start"), ("run", "anything")):
        call = cli(*words)
        assert call.code not in (0, 2) and "compozy.db" in call.err
        assert_one_sentence(call.err)
    assert cli.home.database.read_bytes() == before


def test_a_wrong_host_header_is_403_with_the_envelope(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    record = control.start_detached(home)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", record.port, timeout=30)
        connection.request("GET", "/api/status", headers={"Host": "evil.example:2123"})
        answer = connection.getresponse()
        envelope = json.loads(answer.read())
        connection.close()
    finally:
        control.stop(home)
    assert answer.status == 403 and "host" in envelope["error"].lower()


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    first = make_home(tmp_path / "first")
    second = make_home(tmp_path / "second")
    second.config_file.write_text(first.config_file.read_text())
    record = control.start_detached(first)
    try:
        env = {**os.environ, "COMPOZY_HOME": str(second.root)}
        done = subprocess.run([*COMPOZY, "daemon", "start"], env=env, capture_output=True, text=True, timeout=60)
    finally:
        control.stop(first)
    assert done.returncode == 1 and str(record.port) in done.stderr
    assert_one_sentence(done.stderr)
