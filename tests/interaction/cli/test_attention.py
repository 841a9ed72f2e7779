"""`compozy attention`, `permissions explain` and the session commands around a turn, on a real daemon."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.kit.cli import COMPOZY, Cli, sequence, steps
from tests.kit.daemons import wait_until

ASK = {
    "permission": {"title": "Write notes.md", "kind": "edit", "locations": [{"path": "notes.md"}]},
    "then": [{"text": "wrote"}],
    "else": [{"text": "not"}],
}


@pytest.fixture
def session(shared: Cli) -> str:
    new = ("session", "new", "--name", "demo", "--permissions", "approve-reads", "-o", "json")
    return str(shared(*new).object()["id"])


@contextmanager
def asking(cli: Cli, session: str) -> Iterator[subprocess.Popen[str]]:
    """Run a prompt in another process whose agent asks a question that nobody answers there."""
    words = [*COMPOZY, "session", "prompt", session, steps(ASK), "--on-ask", "ask"]
    done = subprocess.Popen(words, env=cli.environment, cwd=cli.folder, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: _waiting(cli, session), "the question is there")
        yield done
    finally:
        cli("session", "prompt-cancel", session)
        done.communicate(timeout=60)


def _waiting(cli: Cli, session: str) -> list[dict[str, object]]:
    found = cli("attention", "--session", session, "-o", "json").object()
    return [dict(item) for item in sequence(found["items"])]


def test_the_list_says_who_asks_what_until_when_and_how_to_answer(shared: Cli, session: str) -> None:
    with asking(shared, session) as prompt:
        (item,) = _waiting(shared, session)
        shown = shared("attention", "--session", session).out
        assert "Write notes.md (notes.md)" in shown and "then reject-once" in shown and str(item["command"]) in shown
        answered = shared(*str(item["command"]).split()[1:])
        assert (answered.code, answered.out) == (0, f"applied: {sequence_first(item)}\n")
        assert prompt.wait(60) == 0
    assert shared("attention", "--session", session).out == "nobody waits for you\n"


def sequence_first(item: dict[str, object]) -> str:
    decisions = item["decisions"]
    assert isinstance(decisions, list)
    return str(decisions[0])


def test_the_session_or_the_beginning_of_an_id_is_enough_and_a_second_answer_is_refused(
    shared: Cli, session: str
) -> None:
    with asking(shared, session) as prompt:
        (item,) = _waiting(shared, session)
        call = shared("attention", "answer", session, "--decision", "reject-once", "-o", "json")
        assert call.object()["decision"] == "reject-once"
        prompt.wait(60)
    late = shared("attention", "answer", str(item["id"]), "--decision", "allow-once")
    assert late.code == 65 and "waits for a person" in late.err


def test_an_agent_may_look_and_not_answer(shared: Cli, session: str) -> None:
    inside = {"COMPOZY_SESSION_ID": session, "COMPOZY_AGENT": "general"}
    for words in (
        ("attention", "answer", "int-1", "--decision", "allow-once"),
        ("session", "approve", session, "--decision", "allow-once"),
        ("session", "clarify", "answer", session, "r", "--text", "yes"),
    ):
        call = shared(*words, env=inside)
        assert call.code == 77 and "for a person" in call.err, words
    assert shared("attention", "answer", "int-1").code == 2


def test_watching_prints_each_thing_once_as_it_begins_to_wait(shared: Cli, session: str) -> None:
    words = [*COMPOZY, "attention", "--watch", "--session", session, "-o", "jsonl"]
    watcher = subprocess.Popen(words, env=shared.environment, cwd=shared.folder, stdout=subprocess.PIPE, text=True)
    assert watcher.stdout is not None
    try:
        with asking(shared, session):
            first = json.loads(watcher.stdout.readline())
        assert first["session_id"] == session and first["kind"] == "permission"
        with asking(shared, session):
            second = json.loads(watcher.stdout.readline())
        assert second["id"] != first["id"]
    finally:
        watcher.terminate()
        watcher.communicate(timeout=60)


def test_explain_names_mode_sources_layers_and_remedies(shared: Cli) -> None:
    words = ("permissions", "explain", "general", "--permissions", "approve-reads")
    told = shared(*words, "--tool", "write", "--path", "notes.md", "-o", "json").object()
    assert (told["verdict"], told["operation"]) == ("reject-once", "write")
    mode = told["mode"]
    assert isinstance(mode, dict) and (mode["mode"], mode["source"]) == ("approve-reads", "request")
    human = shared(*words, "--tool", "Bash", "--kind", "execute").out
    assert human.startswith("Verdict     ask\n") and "What would change it:" in human
    assert "a person answers within 5 minutes; otherwise it is reject-once" in human
    outside = shared("permissions", "explain", "general", "--tool", "read", "--path", "/etc/passwd").out
    assert "Layers      containment: reject-once\n" in outside and "--add-dir" in outside
    assert shared("permissions", "explain").code == 2
    assert shared("permissions", "explain", "nobody-here").code == 65


def test_explain_of_a_session_counts_its_own_mode(shared: Cli, session: str) -> None:
    told = shared("permissions", "explain", "--session", session, "--kind", "edit", "-o", "json").object()
    assert told["session_id"] == session and told["verdict"] == "ask"
    changes = told["changes"]
    assert isinstance(changes, list) and "fixed when it is created" in changes[-1]


def test_waiting_ends_with_the_badge_or_with_75(shared: Cli, session: str) -> None:
    done = shared("session", "wait", session, "-o", "json")
    assert done.code == 0 and done.object()["state"] == "idle"
    late = shared("session", "wait", session, "--until", "failed", "--timeout", "50ms")
    assert late.code == 75 and late.out.startswith("timeout after")
    with asking(shared, session):
        call = shared("session", "wait", session)
        assert call.code == 0 and call.out.startswith("waiting-for-auth after") and "compozy attention" in call.err
    assert shared("session", "wait", session, "--unbounded", "--timeout", "1s").code == 2


def test_a_session_is_looked_at_from_all_sides(shared: Cli, session: str) -> None:
    shared("session", "prompt", session, steps({"commands": ["plan"]}, {"text": "hello there"}))
    assert "hello there" in shared("session", "recap", session).out
    assert shared("session", "usage", session, "-o", "json").object()["turn_count"] == 1
    assert shared("session", "health", session, "-o", "json").object()["health"] == "healthy"
    assert "request sets approve-reads" in shared("session", "inspect", session).out
    assert "/plan" in shared("session", "commands", session).out
    history = shared("session", "history", session, "-o", "json").object()
    assert any(turn["turn_id"] for turn in sequence(history["history"]))
    assert "turn-" in shared("session", "history", session).out
    assert shared("session", "repair", session, "--dry-run").out == "the history is whole\n"


def test_a_session_is_held_put_away_and_taken_back(shared: Cli, session: str) -> None:
    held = shared("session", "resume", "--latest", "--as", "desk", "-o", "json").object()
    attach = held["attach"]
    assert isinstance(attach, dict) and (attach["session_id"], attach["attached_to"]) == (session, "desk")
    assert shared("session", "resume", session, "--as", "phone").code == 65
    assert shared("session", "archive", session).code == 65
    shared("session", "stop", session)
    assert shared("session", "archive", session).code == 0
    assert shared("session", "list", "--archived", "-o", "json").out.count(f'"id": "{session}"') == 1
    assert shared("session", "unarchive", session).code == 0
    resumable = shared("session", "list", "--resumable", "-o", "json").object()
    assert [row["id"] for row in sequence(resumable["sessions"])] == [session]


def test_the_runtime_is_chosen_and_cleared(shared: Cli, session: str) -> None:
    chosen = shared("session", "runtime", "set", session, "--provider", "offline", "-o", "json").object()
    assert isinstance(chosen["runtime"], dict) and chosen["runtime"]["selected"] == {"provider": "offline"}
    cleared = shared("session", "runtime", "clear", session, "-o", "json").object()
    assert isinstance(cleared["runtime"], dict) and "selected" not in cleared["runtime"]
    assert shared("session", "runtime", "clear", session, "--expected-revision", "99").code == 65


def test_lists_are_narrowed_by_badge_and_summed_up(shared: Cli, session: str) -> None:
    with asking(shared, session):
        found = shared("session", "list", "--badge", "waiting-for-auth", "--include-health", "-o", "json").object()
        (row,) = sequence(found["sessions"])
        health = row["health"]
        assert row["id"] == session and isinstance(health, dict) and health["active_prompt"] is True
        summary = shared("session", "list", "--summary", "-o", "json").object()
        assert summary["needs_you"]
    assert shared("session", "clarify", "pending", session).out == "no question waits\n"


def test_completion_offers_what_waits(shared: Cli, session: str) -> None:
    with asking(shared, session):
        (item,) = _waiting(shared, session)
        env = {"COMP_WORDS": "compozy attention answer int", "COMP_CWORD": "3", "_COMPOZY_COMPLETE": "bash_complete"}
        assert str(item["id"]) in shared(env={**os.environ, **shared.environment, **env}).out


def test_a_question_in_words_is_declined_where_nobody_can_be_asked(shared: Cli, session: str) -> None:
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    params = {"sessionId": "{session}", "mode": "form", "message": "Which colour?", "requestedSchema": schema}
    work = steps({"request": "elicitation/create", "params": params}, {"text": "{last}"})
    call = shared("session", "prompt", session, work, "--on-ask", "deny")
    assert json.loads(call.out) == {"action": "cancel"}
    assert "the agent asks: Which colour? — colour; answer with: compozy attention answer int-" in call.err
