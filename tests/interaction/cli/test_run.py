"""`compozy run` from a task to its exit code, over real processes and a scripted agent."""

import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

from compozy.cli.app import EXIT_BROKEN_PIPE
from compozy.daemon import control
from tests.kit.cli import COMPOZY, Cli, sequence, steps

EDIT = {
    "permission": {"title": "Write notes.md", "kind": "edit"},
    "then": [{"text": "wrote"}],
    "else": [{"text": "not"}],
}


def test_a_task_is_answered_on_a_home_where_nothing_runs_yet(cli: Cli) -> None:
    call = cli("run", steps({"text": "forty-two"}))
    assert call.code == 0, call.err
    assert call.out == "forty-two\n"
    assert "starting the daemon" in call.err
    assert "agent general" in call.err and f"workspace {cli.folder}" in call.err
    assert "compozy session events sess-" in call.err


def test_the_answer_alone_goes_to_standard_output(shared: Cli) -> None:
    call = shared(
        "run",
        steps(
            {"plan": ["look", "answer"]},
            {"tool_call": {"toolCallId": "t", "title": "Read a.txt", "kind": "read"}},
            {"tool_update": {"toolCallId": "t", "status": "completed"}},
            {"text": "done"},
        ),
    )
    assert call.out == "done\n"
    assert "[ ] look" in call.err and "✓ Read a.txt" in call.err
    assert "\x1b" not in call.out + call.err, "colours and moving lines are for terminals"


def test_json_is_one_object_with_the_whole_story(shared: Cli) -> None:
    call = shared(
        "run",
        steps({"tool_call": {"toolCallId": "t", "title": "Read a.txt", "kind": "read"}}, {"text": "done"}),
        "--name",
        "story",
        "-o",
        "json",
    )
    assert call.code == 0 and call.err == ""
    story = call.object()
    assert next(iter(story)) == "resolution_source" and story["resolution_source"] == "cwd"
    assert story["agent"] == "general" and story["text"] == "done"
    assert story["exit_reason"] == "done" and story["stop_reason"] == "end_turn" and story["exit_code"] == 0
    assert [tool["title"] for tool in sequence(story["tool_calls"])] == ["Read a.txt"]
    session = shared("session", "status", str(story["session_id"]), "-o", "json").object()
    assert session["name"] == "story" and session["state"] == "stopped", "no agent program is left behind"


def test_jsonl_is_the_stream_and_a_last_line_with_the_result(shared: Cli) -> None:
    call = shared("run", steps({"text": "hi"}), "-o", "jsonl")
    frames = [json.loads(line) for line in call.out.splitlines()]
    assert [frame["type"] for frame in frames] == [
        "start",
        "text-start",
        "text-delta",
        "text-end",
        "finish",
        "compozy-result",
    ]
    assert frames[-1]["text"] == "hi"


def test_without_a_terminal_a_question_is_denied_and_the_exit_code_says_so(shared: Cli) -> None:
    call = shared("run", steps(EDIT), "-o", "json")
    assert call.code == 77
    story = call.object()
    assert story["exit_reason"] == "denied" and story["text"] == "not"
    assert story["error"] == "permission denied by policy: edit Write notes.md"
    (question,) = sequence(story["permissions"])
    assert (question["decision"], question["decided_by"]) == ("reject-once", "on-ask")
    assert json.loads(call.err)["error"] == story["error"]


def test_the_remedy_of_a_denial_works_as_printed(shared: Cli) -> None:
    denied = shared("run", steps(EDIT))
    assert denied.code == 77 and "error: permission denied by policy" in denied.err
    remedy = denied.err.split("try: ", 1)[1].splitlines()[0]
    again = shared(*shlex.split(remedy)[1:])
    assert (again.code, again.out) == (0, "wrote\n")


def test_what_a_mode_denied_is_not_blamed_on_the_answer(shared: Cli) -> None:
    denied = shared("run", steps(EDIT), "--permissions", "deny-all", "--workspace", str(shared.folder))
    assert denied.code == 77
    remedy = denied.err.split("try: ", 1)[1].splitlines()[0]
    assert remedy.endswith(f"--workspace {shared.folder} --permissions approve-reads")
    wider = shared("run", steps(EDIT), "--permissions", "approve-reads", "--on-ask", "allow")
    assert (wider.code, wider.out) == (0, "wrote\n")


def test_allow_answers_yes_and_deny_all_says_no_whatever_is_answered(shared: Cli) -> None:
    assert shared("run", steps(EDIT), "--on-ask", "allow").out == "wrote\n"
    call = shared("run", steps(EDIT), "--on-ask", "allow", "--permissions", "deny-all")
    assert (call.code, call.out) == (77, "not\n")


def test_a_missing_login_is_told_once_with_the_line_that_logs_in(shared: Cli) -> None:
    call = shared("run", steps({"error": {"code": -32000, "message": "Authentication required"}}))
    assert call.code == 78 and call.err.count("Authentication required") == 1
    assert "error: the agent program is not logged in: Authentication required (-32000)\n" in call.err
    assert "\ntry: compozy provider auth login scripted\n" in call.err


def test_a_denial_outside_the_workspace_is_explained_by_the_line_that_is_printed(shared: Cli) -> None:
    ask = {"permission": {"kind": "edit", "title": "Write it", "locations": [{"path": "/elsewhere/x"}]}}
    denied = shared("run", steps(ask), "--on-ask", "allow")
    remedy = denied.err.split("try: ", 1)[1].splitlines()[0]
    told = shared(*shlex.split(remedy)[1:])
    assert told.code == 0 and "'/elsewhere/x' is outside the session's roots" in told.out


def test_a_dead_agent_is_70_and_says_how_it_died(shared: Cli) -> None:
    call = shared("run", steps({"text": "half"}, {"exit": 3}), "-o", "json")
    assert call.code == 70
    story = call.object()
    assert story["exit_reason"] == "agent_died" and "3" in str(story["error"])


def test_an_agent_that_cannot_start_is_70_too(cli: Cli) -> None:
    cli.use_command("false")
    call = cli("run", "anything", "-o", "json")
    assert call.code == 70
    assert "exited" in json.loads(call.err)["error"]


def test_a_timeout_cancels_the_turn_and_is_75(shared: Cli) -> None:
    call = shared("run", steps({"text": "begun"}, {"wait_cancel": True}), "--timeout", "1s", "-o", "json")
    assert call.code == 75
    assert call.object()["exit_reason"] == "timeout"


def test_a_refusal_is_no_success(shared: Cli) -> None:
    call = shared("run", steps({"stop": "refusal"}))
    assert call.code == 1 and "refused" in call.err


def test_an_unknown_agent_is_one_sentence_with_a_next_step(shared: Cli) -> None:
    call = shared("run", "x", "--agent", "nobody")
    assert call.code == 65 and "'nobody'" in call.err


def test_a_blank_task_starts_nothing(cli: Cli) -> None:
    call = cli("run", "  ")
    assert call.code == 2 and not cli.home.record_file.exists()


def test_the_named_workspace_is_registered_and_used(shared: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    call = shared("run", steps({"text": "{cwd}"}), "--workspace", str(other), "-o", "json")
    story = call.object()
    assert story["text"] == str(other) and story["resolution_source"] == "flag"


def test_a_task_can_come_from_standard_input(shared: Cli) -> None:
    call = shared("run", "-", stdin=steps({"text": "heard"}))
    assert (call.code, call.out) == (0, "heard\n")


def test_a_daemon_that_is_killed_during_the_turn_loses_nothing_that_was_shown(served: Cli) -> None:
    process = subprocess.Popen(
        [*COMPOZY, "run", steps({"text": "half"}, {"wait_cancel": True})],
        env=served.environment,
        cwd=served.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    shown = process.stdout.read(4)
    record = control.running(served.home)
    assert record is not None
    os.kill(record.pid, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert shown == "half" and process.returncode == 69
    assert err.rstrip().endswith("try: compozy daemon start") and err.count("error: ") == 1
    session = re.search(r"sess-[0-9a-f]{16}", err)
    assert session is not None
    assert served("daemon", "start").code == 0
    events = sequence(served("session", "events", session[0], "-o", "json").json())
    assert "half" in json.dumps([event for event in events if event["type"] == "agent_message"])


def test_an_agent_that_offers_no_refusal_is_cancelled_instead_of_obeyed(shared: Cli) -> None:
    question = {"permission": {"title": "Write it", "kind": "edit"}, "options": ["allow_once"]}
    call = shared("run", steps(question, {"text": "did it"}), "-o", "json")
    assert call.code == 77
    assert "did it" not in str(call.object()["text"])


def test_any_text_can_be_printed_whatever_the_terminal_speaks(shared: Cli) -> None:
    text = "ünï 漢字 ✓"
    call = shared("run", steps({"text": text}), env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert (call.code, call.out) == (0, text.encode("ascii", "backslashreplace").decode() + "\n")
    structured = shared("run", steps({"text": text}), "-o", "json", env={"PYTHONIOENCODING": "ascii"})
    assert structured.object()["text"] == text


def test_a_run_whose_reader_goes_away_leaves_no_turn_behind(shared: Cli) -> None:
    task = steps({"text": "first\n"}, {"wait_file": str(shared.folder / "go")}, {"flood": 5000})
    process = subprocess.Popen(
        [*COMPOZY, "run", task, "--name", "piped"],
        env=shared.environment,
        cwd=shared.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "first\n"
    process.stdout.close()
    (shared.folder / "go").touch()
    assert process.wait(60) == EXIT_BROKEN_PIPE
    assert sequence(shared("session", "list", "-o", "json").object()["sessions"]) == []


def test_sigterm_cancels_like_ctrl_c(shared: Cli) -> None:
    process = subprocess.Popen(
        [*COMPOZY, "run", steps({"text": "busy\n"}, {"wait_cancel": True})],
        env=shared.environment,
        cwd=shared.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "the turn was cancelled" in err


def test_runs_that_begin_together_share_one_daemon_and_one_workspace(cli: Cli) -> None:
    calls = [
        subprocess.Popen(
            [*COMPOZY, "run", steps({"text": f"answer {number}"}), "-o", "json"],
            env=cli.environment,
            cwd=cli.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    stories = []
    for call in calls:
        out, err = call.communicate(timeout=90)
        assert call.returncode == 0, err
        stories.append(json.loads(out))
    assert [story["text"] for story in stories] == ["answer 0", "answer 1", "answer 2"]
    assert len({story["workspace_id"] for story in stories}) == 1
