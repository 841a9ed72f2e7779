"""The session commands against a running daemon and a scripted agent."""

import json
import subprocess
import sys

import pytest

from tests.kit.cli import Cli, sequence, steps
from tests.kit.daemons import wait_until

EDIT = {
    "permission": {"title": "Write notes.md", "kind": "edit"},
    "then": [{"text": "wrote"}],
    "else": [{"text": "not"}],
}


@pytest.fixture
def session(shared: Cli) -> str:
    """A new session in the project."""
    new = ("session", "new", "--name", "demo", "--permissions", "approve-reads", "-o", "json")
    return str(shared(*new).object()["id"])


def test_new_answers_the_bare_session_and_registers_the_folder(shared: Cli) -> None:
    found = shared("session", "new", "--agent", "general", "--name", "demo", "-o", "json").object()
    assert next(iter(found)) == "resolution_source" and found["resolution_source"] == "cwd"
    assert found["name"] == "demo" and found["workspace_path"] == str(shared.folder)
    roots = [row["root_dir"] for row in sequence(shared("workspace", "list", "-o", "json").json())]
    assert str(shared.folder) in roots


def test_new_refuses_contradictions_before_it_asks_the_daemon(shared: Cli) -> None:
    assert shared("session", "new", "--workspace", "a", "--cwd", "/").code == 2
    assert shared("session", "new", "--cwd", "relative").code == 2


def test_a_prompt_streams_its_answer_and_the_session_stays(shared: Cli, session: str) -> None:
    call = shared("session", "prompt", session, steps({"text": "hello"}))
    assert (call.code, call.out) == (0, "hello\n")
    assert shared("session", "status", session, "-o", "json").object()["state"] == "active"


def test_a_prompt_in_jsonl_is_the_stream_of_the_contract(shared: Cli, session: str) -> None:
    call = shared("session", "prompt", session, steps({"text": "hello"}), "-o", "jsonl")
    kinds = [json.loads(line)["type"] for line in call.out.splitlines()]
    assert kinds[0] == "start" and kinds[-2:] == ["finish", "compozy-result"]


def test_the_list_shows_active_sessions_unless_told_otherwise(shared: Cli, session: str) -> None:
    assert shared("session", "stop", session).code == 0
    assert "no active session here" in shared("session", "list").out
    answer = shared("session", "list", "--all", "-o", "json").object()
    assert list(answer) == ["resolution_source", "sessions", "page"]
    assert [row["id"] for row in sequence(answer["sessions"])] == [session]
    lines = shared("session", "list", "--all").out.splitlines()
    assert lines[0].startswith("ID") and session in lines[1] and "stopped" in lines[1]


def test_stopping_twice_is_fine(shared: Cli, session: str) -> None:
    assert shared("session", "stop", session).out == f"stopped {session}\n"
    assert shared("session", "stop", session).code == 0


def test_events_are_numbered_and_can_be_narrowed(shared: Cli, session: str) -> None:
    shared("session", "prompt", session, steps({"text": "hello"}))
    events = sequence(shared("session", "events", session, "-o", "json").json())
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    only = sequence(shared("session", "events", session, "--type", "agent_message", "-o", "json").json())
    assert {event["type"] for event in only} == {"agent_message"}
    last = shared("session", "events", session, "--last", "1", "-o", "jsonl").out.splitlines()
    assert json.loads(last[0])["type"] == "done" and len(last) == 1
    human = shared("session", "events", session).out
    assert human.splitlines()[0].split() == ["SEQ", "TIME", "TYPE", "WHAT"] and "hello" in human


def test_following_shows_what_was_and_what_comes_each_once(shared: Cli, session: str) -> None:
    shared("session", "prompt", session, steps({"text": "first"}))
    before = len(sequence(shared("session", "events", session, "-o", "json").json()))
    follower = subprocess.Popen(
        [sys.executable, "-m", "compozy", "session", "events", session, "--follow", "-o", "jsonl"],
        env=shared.environment,
        cwd=shared.folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert follower.stdout is not None
    try:
        seen = [json.loads(follower.stdout.readline()) for _ in range(before)]
        shared("session", "prompt", session, steps({"text": "second"}))
        shared("session", "stop", session)
        seen += [json.loads(line) for line in follower.stdout]
        assert follower.wait(30) == 0
    finally:
        follower.kill()
        follower.stdout.close()
        follower.wait(30)
    assert [event["sequence"] for event in seen] == list(range(1, len(seen) + 1))
    assert seen[-1]["type"] == "session_stopped" and len(seen) > before


def test_since_understands_times_and_lengths_of_time(shared: Cli, session: str) -> None:
    shared("session", "prompt", session, steps({"text": "hello"}))
    assert sequence(shared("session", "events", session, "--since", "1h", "-o", "json").json())
    assert shared("session", "events", session, "--since", "2999-01-01T00:00:00Z", "-o", "json").json() == []
    assert shared("session", "events", session, "--since", "yesterday").code == 2


def test_a_question_can_be_listed_and_answered_from_elsewhere(shared: Cli, session: str) -> None:
    prompt = subprocess.Popen(
        [sys.executable, "-m", "compozy", "session", "prompt", session, steps(EDIT), "--on-ask", "ask"],
        env=shared.environment,
        cwd=shared.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        wait_until(
            lambda: shared("session", "interactions", session, "--status", "pending", "-o", "json").object()[
                "interactions"
            ],
            "the question is pending",
        )
        shown = shared("session", "interactions", session).out
        assert "Write notes.md" in shown and "pending" in shown
        assert "session approve" in shared("session", "status", session).out
        answer = shared("session", "approve", session, "--decision", "allow-once", "-o", "json").object()
        assert answer["outcome"] == "applied" and answer["decision"] == "allow-once"
        out, _ = prompt.communicate(timeout=30)
    finally:
        prompt.kill()
        prompt.wait(30)
    assert (prompt.returncode, out) == (0, "wrote\n")


def test_answering_nothing_is_65_with_the_command_that_shows_why(shared: Cli, session: str) -> None:
    call = shared("session", "approve", session, "--decision", "allow-once")
    assert call.code == 65 and "no pending permission question" in call.err
    assert shared(*call.err.split("try: compozy ")[1].split()).code == 0


def test_cancelling_nothing_is_66(shared: Cli, session: str) -> None:
    call = shared("session", "prompt-cancel", session)
    assert call.code == 66 and call.out == "nothing is running\n"


def test_rename_and_remove(shared: Cli, session: str) -> None:
    assert shared("session", "rename", session, "better", "-o", "json").object()["name"] == "better"
    refused = shared("session", "remove", session)
    assert refused.code == 2 and "--yes" in refused.err
    assert shared("session", "remove", session, "--yes").code == 0
    assert shared("session", "status", session).code == 69


def test_an_unknown_session_is_69(shared: Cli) -> None:
    call = shared("session", "events", "sess-0000000000000000")
    assert call.code == 69 and "sess-0000000000000000" in call.err


def test_an_agents_own_calls_use_its_sessions_workspace(shared: Cli, session: str) -> None:
    env = {"COMPOZY_SESSION_ID": session, "COMPOZY_AGENT": "general"}
    rows = sequence(shared("agent", "list", "-o", "json", cwd=shared.folder.parent, env=env).json())
    assert {row["resolution_source"] for row in rows} == {"session_identity"}
    wrong = shared("agent", "list", "-o", "json", env={**env, "COMPOZY_AGENT": "other"})
    assert wrong.code == 65 and json.loads(wrong.err)["error"]["code"] == "identity_mismatch"


def test_a_prompt_without_a_terminal_denies_what_the_agent_asks_and_says_so(shared: Cli, session: str) -> None:
    call = shared("session", "prompt", session, steps(EDIT), "-o", "json")
    assert call.code == 77 and call.object()["exit_reason"] == "denied"
    assert json.loads(call.err)["error"] == "permission denied by policy: edit Write notes.md"
    again = shared("session", "prompt", session, steps(EDIT), "--on-ask", "allow")
    assert (again.code, again.out) == (0, "wrote\n")


def test_a_busy_session_queues_a_prompt_and_says_so(shared: Cli, session: str) -> None:
    gate = shared.folder / "go"
    first = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "compozy",
            "session",
            "prompt",
            session,
            steps({"text": "busy\n"}, {"wait_file": str(gate)}),
        ],
        env=shared.environment,
        cwd=shared.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout is not None
    try:
        assert first.stdout.readline() == "busy\n"
        answer = shared("session", "prompt", session, steps({"text": "later"}), "--queue", "-o", "json").object()
        prompt = answer["prompt"]
        assert isinstance(prompt, dict) and prompt["status"] == "queued"
        gate.touch()
        first.communicate(timeout=30)
    finally:
        first.kill()
        first.wait(30)
    assert first.returncode == 0
    wait_until(
        lambda: "later" in shared("session", "events", session, "-o", "json").out, "the queued prompt was answered"
    )
