"""Every console example of docs/mcp.md says what the page shows, with real servers behind it (design §4)."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.daemon import control
from tests.kit.agent_files import write_agent
from tests.kit.cli import Cli, make_cli
from tests.kit.daemons import free_port, wait_until
from tests.kit.mcp_remote import browse, guarded_server

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def calls() -> list[tuple[str, str]]:
    """Return every command of the page with the output shown below it, in order."""
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall((ROOT / "docs" / "mcp.md").read_text()):
        for line in block.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:].strip(), ""))
            else:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Cli]:
    """A home with the servers the page speaks of: `tracker` on this machine, `search` behind a login."""
    made = make_cli(tmp_path)
    with guarded_server(tmp_path) as (url, _):
        tracker = {"command": sys.executable, "args": [str(ROOT / "tests/kit/mcp_stdio.py"), "good"]}
        servers = {"tracker": tracker, "search": {"url": url}}
        # The browser comes back to the daemon's own address.
        settings = made.home.config_file.read_text()
        assert "enabled = false" in settings
        made.home.config_file.write_text(settings.replace("enabled = false", f"port = {free_port()}", 1))
        made.home.mcp_file.write_text(json.dumps({"mcpServers": servers}))
        write_agent(made.home.agents, "reviewer")
        control.start_detached(made.home, environ=made.environment)
        yield made
        control.stop(made.home)


def log_in(desk: Cli, words: list[str]) -> None:
    """Run the command that waits for a browser, and be that browser."""
    program = [sys.executable, "-m", "compozy", *words]
    with subprocess.Popen(program, env=desk.environment, cwd=desk.folder, stderr=subprocess.PIPE, text=True) as login:
        assert login.stderr is not None
        assert "open this address" in login.stderr.readline()
        browse(login.stderr.readline().strip())
        rest = login.stderr.read()
        assert login.wait(60) == 0 and "logged in at search" in rest


def test_the_commands_of_the_page_say_what_it_shows(desk: Cli) -> None:
    shown = calls()
    assert [command.split()[1:4] for command, _ in shown if " status" in command] == [
        ["mcp", "status"],
        ["mcp", "auth", "status"],
    ]
    for command, output in shown:
        program, *words = shlex.split(command)
        assert program == "compozy"
        if "login" in words:
            log_in(desk, words)
            continue
        called = desk(*words)
        assert called.code == 0, (command, called.err)
        if output:
            assert called.out == output, command
        if words[:3] == ["mcp", "auth", "status"]:
            assert "logged_in" in called.out


def test_the_status_shows_a_server_that_was_used_with_its_process_and_tools(desk: Cli) -> None:
    assert desk("workspace", "add", ".").code == 0
    call = ("tool", "invoke", "mcp__tracker__echo", "--input", '{"text": "hello"}')
    # On a busy machine a server may need longer than a call waits for it.
    wait_until(lambda: desk(*call).code == 0, "the server answers", 60)
    (row,) = (line for line in desk("mcp", "status").out.splitlines() if line.startswith("tracker"))
    assert "ready" in row and "stdio" in row
