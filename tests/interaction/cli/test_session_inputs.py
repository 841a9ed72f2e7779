"""The commands about prompts that wait, files given with prompts, and sessions put away."""

import threading
from pathlib import Path

import pytest

from tests.kit.cli import Cli, sequence, steps
from tests.kit.daemons import wait_until


@pytest.fixture
def session(shared: Cli) -> str:
    """A new session in the project."""
    return str(shared("session", "new", "--permissions", "approve-reads", "-o", "json").object()["id"])


def test_prompts_that_wait_are_listed_edited_promoted_and_withdrawn(shared: Cli, session: str) -> None:
    gate = shared.folder / "gate"
    task = steps({"text": "one"}, {"wait_file": str(gate)})
    runner = threading.Thread(target=lambda: shared("session", "prompt", session, task))
    runner.start()
    status = ("session", "status", session, "-o", "json")
    wait_until(lambda: shared(*status).object()["badge"] == "running", "the first turn runs")
    for text in ("first", "second"):
        answer = shared("session", "prompt", session, text, "--queue", "-o", "json").object()
        assert answer["prompt"]["status"] == "queued"  # type: ignore[index]
    listed = sequence(shared("session", "input", "list", session, "-o", "json").json())
    assert [row["text"] for row in listed] == ["first", "second"]
    first, second = (str(row["id"]) for row in listed)
    changed = shared("session", "input", "edit", session, first, steps({"text": "better"}), "-o", "json").object()
    assert changed["id"] == first
    promoted = shared("session", "input", "steer", session, second, "--text", steps({"text": "now"}), "-o", "json")
    assert promoted.object()["status"] == "steering"
    stale = shared("session", "input", "steer", session, first, "--expected-turn-id", "turn-0")
    assert stale.code == 71 and "turn-0" in stale.err
    assert shared("session", "input", "cancel", session, first).out == f"{first} will not run\n"
    assert shared("session", "input", "cancel", session, first).code == 69
    assert "steer" in shared("session", "input", "list", session).out
    gate.touch()
    runner.join(30)
    events = ("session", "events", session, "--type", "user_message", "-o", "json")
    wait_until(lambda: len(sequence(shared(*events).json())) == 2, "the promoted prompt runs")
    assert shared("session", "input", "list", session).out == "no prompt waits in this session\n"


def test_files_go_with_a_prompt(shared: Cli, session: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Look here\n")
    call = shared("session", "prompt", session, steps({"text": "seen"}), "--attach", str(notes))
    assert (call.code, call.out) == (0, "seen\n")
    events = sequence(shared("session", "events", session, "--type", "user_message", "-o", "json").json())
    assert [file["name"] for file in events[0]["content"]["attachments"]] == ["notes.md"]
    assert shared("session", "prompt", session, "x", "--attach", str(tmp_path / "none")).code == 2
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\0")
    refused = shared("session", "prompt", session, "x", "--attach", str(program))
    assert refused.code != 0 and "program" in refused.err
    kept = sequence(shared("session", "attachments", "upload", session, str(notes), "-o", "json").json())
    assert kept[0]["mime_type"] == "text/markdown" and str(kept[0]["id"]).startswith("att-")


def test_run_takes_files_too(shared: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("words")
    call = shared("run", steps({"text": "seen"}), "--agent", "general", "--attach", str(notes))
    assert (call.code, call.out) == (0, "seen\n")


def test_a_stopped_session_is_put_away_and_taken_back(shared: Cli, session: str) -> None:
    assert shared("session", "archive", session).code == 65
    shared("session", "stop", session)
    assert shared("session", "archive", session, "-o", "json").object()["archived_at"]
    assert session not in shared("session", "list", "--all").out
    assert session in shared("session", "list", "--archived").out
    assert shared("session", "prompt", session, "go").code == 65
    assert shared("session", "unarchive", session, "-o", "json").object()["archived_at"] is None
    assert shared("session", "prompt", session, steps({"text": "back"})).out == "back\n"


def test_a_child_is_started_from_inside_a_session_only(shared: Cli, session: str) -> None:
    call = ("spawn", "--agent", "general", "--role", "look", "--ttl", "5m")
    outside = shared(*call)
    assert outside.code == 64 and "COMPOZY_SESSION_ID" in outside.err
    env = {"COMPOZY_SESSION_ID": session, "COMPOZY_AGENT": "general"}
    answer = shared(*call, "--overlay", "Look only.", "-o", "json", env=env).object()
    child = answer["session"]
    assert isinstance(child, dict) and child["type"] == "spawned"
    assert answer["lineage"]["parent_session_id"] == session  # type: ignore[index]
    wider = shared(*call, "--mcp-server", "other", env=env)
    assert wider.code == 71 and "other" in wider.err
    listed = shared("session", "list", "--parent", session, "-o", "json").object()["sessions"]
    assert [row["id"] for row in sequence(listed)] == [child["id"]]
    assert shared("session", "new", "--parent", session, "-o", "json").object()["type"] == "spawned"


def test_a_conversation_is_taken_back_from_the_command_line(shared: Cli, session: str) -> None:
    assert shared("session", "rewind", session).code == 69
    for text in ("one", "two"):
        shared("session", "prompt", session, steps({"text": text}), "--message-id", f"msg-{text}")
    last = shared("session", "rewind", session)
    assert last.code == 0 and "events archived" in last.out and '"text": "two"' in last.out
    answer = shared("session", "rewind", session, "--to", "msg-one", "-o", "json").object()
    assert answer["rewind"]["target_message_id"] == "msg-one"  # type: ignore[index]
    assert shared("session", "rewind", session, "--to", "msg-one").code == 69
    shared("session", "prompt", session, steps({"text": "anew"}))
    assert shared("session", "clear", session).code == 2
    assert shared("session", "clear", session, "--yes", "-o", "json").object()["transcript_epoch"] == 1
