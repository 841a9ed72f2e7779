"""Each real agent as a user meets it: a provider in the home's config, `compozy run`, and what is stored."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.config.home import Home
from tests.e2e.conftest import Prepared, turn_script
from tests.kit.daemons import wait_until
from tests.kit.leftovers import left_after, living_with

pytestmark = pytest.mark.e2e

# The slowest agent starts in nine seconds on an idle machine; each bound covers a start and a turn.
PATIENCE = 180.0
SECRET_NAMES = ("API_KEY",)


class User:
    """A person with a home of their own and the command line."""

    def __init__(self, prepared: Prepared, root: Path) -> None:
        self.prepared = prepared
        self.home = Home(root / "compozy")
        self.home.root.mkdir(mode=0o700)
        self.environment = {**prepared.env, "COMPOZY_HOME": str(self.home.root)}
        self.home.config_file.write_text(self._config())
        agent = self.home.root / "agents" / "tester"
        agent.mkdir(parents=True)
        (agent / "AGENT.md").write_text(
            f"---\nname: tester\nprovider: {prepared.agent.name}\n---\nDo what is asked.\n"
        )

    def _config(self) -> str:
        name, command = self.prepared.agent.name, json.dumps(" ".join(self.prepared.argv))
        secrets = [one for one in self.prepared.env if one.endswith(SECRET_NAMES)]
        slots = "".join(
            f'[[providers.{name}.credential_slots]]\nname = "api_key"\ntarget_env = "{secret}"\nkind = "api_key"\n'
            f'secret_ref = "env:{secret}"\n'
            for secret in secrets
        )
        access = 'auth_mode = "bound_secret"' if secrets else 'auth_mode = "native_cli"'
        # A title would start the agent once more, beside the run that is looked at.
        quiet = "[http]\nenabled = false\n[roles.auto_title]\nenabled = false\n"
        effort = f'[providers.{name}.models.reasoning]\napply = "acp_option"\n'
        return f"{quiet}[providers.{name}]\ncommand = {command}\n{access}\n{slots}{effort}"

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "compozy", *args],
            env=self.environment,
            cwd=self.prepared.workspace,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def compozy(self, *args: str, code: int = 0) -> str:
        """Run a command to its end and return its standard output."""
        process = self.start(*args)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        assert process.returncode == code, f"{args}: {process.returncode}\n{out}\n{err}"
        return out

    def run(self, task: str, *args: str, code: int = 0) -> dict[str, object]:
        """`compozy run` with the agent, and its report."""
        options = ["--agent", "tester", "--workspace", str(self.prepared.workspace), "-o", "json", *args]
        answer = json.loads(self.compozy("run", task, *options, code=code))
        assert isinstance(answer, dict)
        return answer

    def offered(self, session_id: str, option: str) -> list[str]:
        """Return the values an agent offers for an option of its runtime, from the refusal of one it does not."""
        wrong = "no-such-model" if option == "model" else "minimal"
        choice = ("--provider", self.prepared.agent.name, f"--{option}", wrong)
        process = self.start("session", "runtime", "set", session_id, *choice, "-o", "json")
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        assert process.returncode == 71, f"{option}: {process.returncode}\n{out}\n{err}"
        offered = json.loads(err)["diagnostic"]["evidence"]["valid_choices"]
        # Models of a service that no test may reach are left out, and the agent's word for "no choice".
        return [value for value in offered if not value.startswith("opencode/") and value != "default"]

    def agents_alive(self) -> list[str]:
        """Return every process of this test but the daemon and the command line."""
        return [line for line in living_with(self.prepared.marker) if " -m compozy" not in line]


@pytest.fixture
def user(prepared: Prepared, tmp_path: Path) -> Iterator[User]:
    person = User(prepared, tmp_path)
    yield person
    person.compozy("daemon", "stop")
    assert left_after(prepared.marker) == [], "the daemon stopped, so nothing may live"


def stored_types(user: User, session_id: object) -> list[str]:
    """Return the types of a session's stored events, oldest first."""
    lines = user.compozy("session", "events", str(session_id), "--last", "1000", "-o", "jsonl").splitlines()
    return [json.loads(line)["type"] for line in lines]


def test_a_run_streams_text_has_its_effect_and_is_stored(user: User) -> None:
    workspace, agent = user.prepared.workspace, user.prepared.agent
    options = ("--permissions", "approve-all", "--timeout", "2m")
    report = user.run(turn_script(user.prepared), *options, code=0 if agent.stays_inside else 77)
    assert report["stop_reason"] == "end_turn"
    if agent.has_model:
        assert "All is done here" in str(report["text"])
        assert (workspace / "out.txt").read_text() == "written by the model"
        assert (workspace / "made.txt").exists()
    else:
        assert "I understand" in str(report["text"]) and "have been applied" not in str(report["text"])
    assert user.agents_alive() == [], "the session is stopped after a run"
    types = stored_types(user, report["session_id"])
    assert types.index("user_message") < types.index("agent_message") < types.index("done")
    assert {"tool_call", "tool_result"} <= set(types) and types[-1] == "session_stopped"


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_what_the_agent_asks_is_answered_as_told(user: User, answer: str) -> None:
    made, agent = user.prepared.workspace / "made.txt", user.prepared.agent
    is_denied = not agent.stays_inside or (agent.asks_a_person and answer == "deny")
    options = ("--permissions", "approve-reads", "--on-ask", answer, "--timeout", "2m")
    report = user.run(f"[[sh touch {made}]] [[say Then not]]", *options, code=77 if is_denied else 0)
    assert report["exit_reason"] == ("denied" if is_denied else "done")
    assert bool(report["permissions"]) == (agent.asks_a_person or not agent.stays_inside)
    assert made.exists() == (agent.asks_a_person and answer == "allow")
    assert ("permission" in stored_types(user, report["session_id"])) == bool(report["permissions"])


def test_a_daemon_killed_in_a_turn_loses_nothing_and_the_next_ends_the_agent(user: User) -> None:
    options = ["--agent", "tester", "--workspace", str(user.prepared.workspace), "-o", "jsonl", "--timeout", "2m"]
    running = user.start("run", "[[slow 4000 50]]", *options, "--permissions", "approve-all")
    assert running.stdout is not None
    shown = []
    try:
        for line in running.stdout:
            shown.append(json.loads(line))
            if sum("delta" in one for one in shown) >= (5 if user.prepared.agent.has_model else 1):
                break
        pid = json.loads(user.home.record_file.read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        shown += [json.loads(line) for line in running.stdout]
        assert running.wait(PATIENCE) != 0
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
        if running.stderr:
            running.stderr.close()
    user.compozy("daemon", "start")
    wait_until(lambda: not user.agents_alive(), "the old agent is ended", PATIENCE)
    (session,) = json.loads(user.compozy("session", "list", "--all", "--all-workspaces", "-o", "json"))["sessions"]
    assert session["state"] == "stopped"
    stored = user.compozy("session", "events", session["id"], "--last", "1000", "-o", "jsonl")
    words = "".join(str(one.get("delta", "")) for one in shown)
    assert words and words.split()[-2] in stored, "what was shown is stored"


def test_a_conversation_goes_on_after_a_restart_and_with_another_model_or_effort(user: User) -> None:
    agent, workspace = user.prepared.agent, str(user.prepared.workspace)
    done = 0 if agent.stays_inside else 77
    user.compozy("daemon", "start")
    user.compozy("workspace", "add", workspace)
    session_id = json.loads(
        user.compozy("session", "new", "--agent", "tester", "--workspace", workspace, "-o", "json")
    )["id"]
    user.compozy("session", "prompt", session_id, "[[say one]]", code=done)
    user.compozy("daemon", "stop")
    user.compozy("daemon", "start")

    # The SDK's example keeps no session: that is said before anything is sent.
    user.compozy(
        "session", "prompt", session_id, "[[say two]]", "--require-context", code=0 if agent.has_model else 74
    )
    if not agent.has_model:
        return
    for option, count in (("model", agent.models), ("reasoning-effort", agent.efforts)):
        offered = user.offered(session_id, option)
        assert len(offered) >= count
        for value in offered[:2]:
            choice = ("--provider", agent.name, f"--{option}", value)
            user.compozy("session", "runtime", "set", session_id, *choice)
            report = json.loads(user.compozy("session", "prompt", session_id, f"[[say {value}]]", "-o", "json"))
            assert report["stop_reason"] == "end_turn"
        user.compozy("session", "runtime", "clear", session_id)
