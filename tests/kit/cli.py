"""Calls the command line as a user would: a home whose default provider is the scripted agent, and a project."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compozy.config.home import Home
from tests.kit.agents import fake_agent_command
from tests.kit.daemons import clean_environment, make_home
from tests.kit.terminal import Terminal

COMPOZY = (sys.executable, "-m", "compozy")
# Far more than a call needs on a busy machine.
PATIENCE = 120


@dataclass
class Cli:
    """Calls the command line as a user of one home, standing in one folder."""

    home: Home
    folder: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        clean = clean_environment(self.home)
        # Compiling the whole program for each of hundreds of calls would only test the compiler.
        clean.pop("PYTHONDONTWRITEBYTECODE", None)
        return {**clean, "LC_ALL": "C.UTF-8", **self.extra}

    def __call__(
        self, *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, stdin: str = ""
    ) -> "Call":
        done = subprocess.run(
            [*COMPOZY, *words],
            cwd=cwd or self.folder,
            env={**self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Call(done.returncode, done.stdout, done.stderr)

    def use_command(self, command: str) -> None:
        """Let the default provider start this command; counts for a daemon that starts afterwards."""
        head = self.home.config_file.read_text().partition("[providers")[0]
        self.home.config_file.write_text(f"{head}[providers.scripted]\ncommand = {json.dumps(command)}\n")

    def terminal(self, *words: str) -> Terminal:
        """Call it on a terminal."""
        return Terminal([*COMPOZY, *words], env=self.environment, cwd=self.folder)


@dataclass(frozen=True)
class Call:
    """What one call answered."""

    code: int
    out: str
    err: str

    def json(self) -> object:
        return json.loads(self.out)

    def object(self) -> dict[str, object]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def steps(*script: Mapping[str, object]) -> str:
    """Return a task that tells the scripted agent what to do."""
    return f"!steps {json.dumps(list(script))}"


def make_cli(folder: Path) -> Cli:
    """Make a home whose default provider is the scripted agent, and a project beside it; nothing runs yet."""
    home = make_home(folder / "home", http=False)
    text = home.config_file.read_text().replace('"offline"', '"scripted"')
    command = json.dumps(fake_agent_command(folder))
    home.config_file.write_text(f"{text}[providers.scripted]\ncommand = {command}\n")
    project = folder / "project"
    project.mkdir()
    return Cli(home, project)


def write_agent(home_or_workspace: Path, name: str, text: str) -> Path:
    """Write an AGENT.md below `agents/` of a home or `.compozy/agents/` of a workspace."""
    path = home_or_workspace / "agents" / name / "AGENT.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def sequence(value: object) -> Sequence[dict[str, object]]:
    assert isinstance(value, list)
    return value
