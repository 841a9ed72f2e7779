"""What a person sees and types: questions, Ctrl-C, tables."""

import json
import signal
import subprocess

from tests.kit.agents import fake_agent_command
from tests.kit.cli import COMPOZY, Cli, sequence, steps
from tests.kit.daemons import wait_until
from tests.kit.leftovers import left_after

EDIT = {
    "permission": {"title": "Write notes.md", "kind": "edit", "locations": [{"path": "notes.md"}]},
    "then": [{"text": "wrote"}],
    "else": [{"text": "did not"}],
}


def test_a_question_is_asked_and_yes_lets_the_agent_go_on(shared: Cli) -> None:
    with shared.terminal("run", steps(EDIT)) as terminal:
        shown = terminal.wait_for("your answer [n]: ")
        assert "? general asks for permission (edit): Write notes.md" in shown
        assert "where    notes.md" in shown or "notes.md" in shown
        assert "no answer within" in shown
        terminal.type("y\n")
        terminal.wait_for("wrote")
        assert terminal.wait_exit() == 0


def test_an_empty_line_means_no_and_a_persons_no_is_no_failure(shared: Cli) -> None:
    with shared.terminal("run", steps(EDIT)) as terminal:
        terminal.wait_for("your answer [n]: ")
        terminal.type("\n")
        terminal.wait_for("did not")
        assert terminal.wait_exit() == 0


def test_what_is_no_answer_is_asked_again(shared: Cli) -> None:
    with shared.terminal("run", steps(EDIT)) as terminal:
        terminal.wait_for("your answer [n]: ")
        terminal.type("perhaps\n")
        terminal.wait_for("please answer")
        terminal.wait_for("your answer [n]: ")
        terminal.type("yes\n")
        terminal.wait_for("wrote")
        assert terminal.wait_exit() == 0


def test_keys_pressed_before_the_question_do_not_answer_it(shared: Cli) -> None:
    with shared.terminal("run", steps({"text": "ready"}, {"wait_file": str(shared.folder / "go")}, EDIT)) as terminal:
        terminal.wait_for("ready")
        terminal.type("y\n")
        (shared.folder / "go").touch()
        terminal.wait_for("your answer [n]: ")
        terminal.type("n\n")
        terminal.wait_for("did not")
        assert terminal.wait_exit() == 0


def test_an_answer_given_elsewhere_takes_the_question_away(shared: Cli) -> None:
    with shared.terminal("run", steps(EDIT)) as terminal:
        terminal.wait_for("your answer [n]: ")
        (session,) = shared("session", "list", "-o", "json").object()["sessions"]  # type: ignore[misc]
        assert shared("session", "approve", session["id"], "--decision", "allow-once").code == 0
        terminal.wait_for("wrote")
        assert terminal.wait_exit() == 0


def test_ctrl_c_cancels_the_turn_and_is_130(shared: Cli) -> None:
    with shared.terminal("run", steps({"text": "busy"}, {"wait_cancel": True})) as terminal:
        terminal.wait_for("busy")
        terminal.press_ctrl_c()
        terminal.wait_for("cancelling the turn")
        assert terminal.wait_exit() == 130


def test_ctrl_c_at_a_question_cancels_the_turn(shared: Cli) -> None:
    with shared.terminal("run", steps(EDIT)) as terminal:
        terminal.wait_for("your answer [n]: ")
        terminal.press_ctrl_c()
        assert terminal.wait_exit() == 130
        assert "\ncancelling the turn" in terminal.text.replace("\r", "").replace("\x1b[2m", "")


def test_a_second_ctrl_c_leaves_at_once_and_the_turn_goes_on(shared: Cli) -> None:
    task = steps({"text": "busy"}, {"wait_file": str(shared.folder / "go")}, {"text": "finished"})
    with shared.terminal("run", task) as terminal:
        terminal.wait_for("busy")
        terminal.press_ctrl_c()
        terminal.wait_for("cancelling the turn")
        terminal.press_ctrl_c()
        shown = terminal.wait_for("the turn goes on in session sess-")
        assert terminal.wait_exit() == 130
        shown = terminal.text
    assert "try: compozy session events sess-" in shown


def test_lists_are_drawn_as_tables_on_a_terminal(shared: Cli) -> None:
    with shared.terminal("agent", "list") as terminal:
        terminal.wait_for("general")
        assert terminal.wait_exit() == 0
        assert "─" in terminal.text and "\x1b[1m" in terminal.raw


def test_no_color_is_honoured(shared: Cli) -> None:
    shared.extra["NO_COLOR"] = "1"
    with shared.terminal("agent", "list") as terminal:
        terminal.wait_for("general")
        assert terminal.wait_exit() == 0
        assert "\x1b[1m" not in terminal.raw and "\x1b[3" not in terminal.raw


def test_ctrl_c_while_the_agent_is_still_starting_ends_the_run_and_the_agent(cli: Cli) -> None:
    started, wait = cli.folder / "started", cli.folder / "never"
    command = fake_agent_command(
        cli.folder, {"start": [{"touch": str(started)}, {"wait_file": str(wait)}]}, name="slow"
    )
    cli.use_command(command)
    with cli.terminal("run", "anything") as terminal:
        wait_until(started.exists, "the agent program has started")
        terminal.press_ctrl_c()
        assert terminal.wait_exit() == 130
    (session,) = sequence(cli("session", "list", "--all", "-o", "json").object()["sessions"])
    assert session["state"] == "stopped"
    assert left_after(f"COMPOZY_SESSION_ID={session['id']}") == []


def test_ctrl_c_while_following_ends_quietly_with_130(shared: Cli) -> None:
    session = str(shared("session", "new", "-o", "json").object()["id"])
    shared("session", "prompt", session, steps({"text": "seen"}))
    with shared.terminal("session", "events", session, "--follow") as terminal:
        terminal.wait_for("done")
        terminal.press_ctrl_c()
        assert terminal.wait_exit() == 130
        assert "error" not in terminal.text and "Traceback" not in terminal.text


def test_deleting_asks_first_and_no_is_the_default(shared: Cli) -> None:
    session = str(shared("session", "new", "-o", "json").object()["id"])
    with shared.terminal("session", "remove", session) as terminal:
        terminal.wait_for("[y/N]")
        terminal.type("\n")
        assert terminal.wait_exit() == 130
    assert shared("session", "status", session).code == 0
    with shared.terminal("session", "remove", session) as terminal:
        terminal.wait_for("[y/N]")
        terminal.type("y\n")
        assert terminal.wait_exit() == 0
    assert shared("session", "status", session).code == 69


def test_install_asks_for_the_provider_on_a_terminal(cli: Cli) -> None:
    with cli.terminal("install") as terminal:
        terminal.wait_for("provider [")
        terminal.type("offline\n")
        assert terminal.wait_exit() == 0
    assert 'provider = "offline"' in cli.home.config_file.read_text()


def test_a_status_line_says_what_goes_on_and_is_erased_before_anything_else(shared: Cli) -> None:
    gate = shared.folder / "go"
    tool = {"toolCallId": "t", "title": "Run the tests", "kind": "execute"}
    task = steps({"plan": ["look", "test"]}, {"tool_call": tool}, {"wait_file": str(gate)}, {"text": "done"})
    with shared.terminal("run", task) as terminal:
        terminal.wait_for("Run the tests · ")
        terminal.wait_for("step 1 of 2")
        gate.touch()
        terminal.wait_for("done")
        assert terminal.wait_exit() == 0
        before_answer = terminal.raw[: terminal.raw.index("done")]
        assert before_answer.endswith("\r\x1b[K")


def test_a_daemon_in_the_foreground_says_where_it_listens_and_ends_with_ctrl_c(cli: Cli) -> None:
    with cli.terminal("daemon", "start", "--foreground") as terminal:
        terminal.wait_for("is ready: socket")
        assert cli("status").code == 0
        terminal.press_ctrl_c()
        assert terminal.wait_exit() == 0
    assert cli("status").code == 69


def test_what_an_agent_says_meanwhile_is_not_written_over_a_question(shared: Cli) -> None:
    gate = shared.folder / "go"
    call = {"toolCallId": "t", "title": "Write notes.md", "kind": "edit"}
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    params = {"sessionId": "{session}", "toolCall": call, "options": options}
    task = steps(
        {"request": "session/request_permission", "params": params, "async": True},
        {"wait_file": str(gate)},
        {"repeat": 300, "steps": [{"text": "noise "}]},
        {"touch": str(shared.folder / "said")},
        {"wait_file": str(shared.folder / "end")},
        {"text": "finished"},
    )
    with shared.terminal("run", task) as terminal:
        terminal.wait_for("your answer [n]: ")
        gate.touch()
        wait_until((shared.folder / "said").exists, "the agent has said its noise")
        terminal.type("maybe\n")
        terminal.wait_for("please answer")
        assert "noise" not in terminal.text
        terminal.wait_for("your answer [n]: ")
        terminal.type("y\n")
        terminal.wait_for("noise")
        (shared.folder / "end").touch()
        terminal.wait_for("finished")
        assert terminal.wait_exit() == 0
        assert terminal.text.count("noise") == 300


def test_a_question_the_agent_does_not_wait_for_is_withdrawn_and_no_failure(shared: Cli) -> None:
    call = {"toolCallId": "t", "title": "Write notes.md", "kind": "edit"}
    params = {
        "sessionId": "{session}",
        "toolCall": call,
        "options": [{"optionId": "y", "name": "y", "kind": "allow_once"}],
    }
    gate = shared.folder / "go"
    task = steps({"request": "session/request_permission", "params": params, "async": True}, {"wait_file": str(gate)})
    with shared.terminal("run", task) as terminal:
        terminal.wait_for("your answer [n]: ")
        gate.touch()
        terminal.wait_for("withdrawn: edit Write notes.md")
        assert terminal.wait_exit() == 0


def test_cancelling_in_json_keeps_standard_error_for_the_error(shared: Cli) -> None:
    process = subprocess.Popen(
        [*COMPOZY, "run", steps({"text": "busy"}, {"wait_cancel": True}), "-o", "jsonl"],
        env=shared.environment,
        cwd=shared.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "busy" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["exit_reason"] == "cancelled"
    assert [json.loads(line)["type"] for line in err.splitlines()] == ["error"]
