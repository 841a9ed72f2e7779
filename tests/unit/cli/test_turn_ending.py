"""One reason and one exit code for every way a turn can end (decisions D30, report P45)."""

import pytest

from compozy.cli.turn_ending import judge
from compozy.cli.turn_record import Permission, TurnRecord


def finished(*permissions: Permission, errors: list[str] | None = None, reason: str = "stop") -> TurnRecord:
    asked = {permission.request_id: permission for permission in permissions}
    return TurnRecord(permissions=asked, errors=errors or [], finish_reason=reason, is_finished=True)


def denied(by: str, *, was_pending: bool = False) -> Permission:
    return Permission(
        "p", kind="edit", places=("/r/x",), decision="reject-once", decided_by=by, was_pending=was_pending
    )


def test_a_turn_that_ends_by_itself_is_done() -> None:
    assert judge(finished(), on_ask="ask", stop_reason="end_turn") == ("done", 0, "")


@pytest.mark.parametrize(
    ("permission", "on_ask", "reason", "code"),
    [
        (denied("on-ask", was_pending=True), "deny", "denied", 77),
        (denied("provider"), "ask", "denied", 77),
        (denied("provider", was_pending=True), "ask", "unanswered", 75),
        (denied("person", was_pending=True), "ask", "done", 0),
    ],
)
def test_a_denial_by_policy_is_no_success_but_a_persons_no_is_theirs(
    permission: Permission, on_ask: str, reason: str, code: int
) -> None:
    ending = judge(finished(permission), on_ask=on_ask, stop_reason="end_turn")
    assert (ending.reason, ending.exit_code) == (reason, code)
    if reason == "denied":
        assert ending.message == "permission denied by policy: edit /r/x"


@pytest.mark.parametrize("kind", ["process_exit", "startup_failure", "handshake_failure", "protocol_failure"])
def test_a_dead_agent_wins_over_what_it_was_denied(kind: str) -> None:
    failure = {"kind": kind, "summary": "exit status 3"}
    ending = judge(finished(denied("provider"), errors=["gone"]), on_ask="deny", failure=failure)
    assert (ending.reason, ending.exit_code) == ("agent_died", 70)
    assert ending.message.endswith("exit status 3")


def test_our_own_cancelling_and_timeout_come_first() -> None:
    dead = {"kind": "process_exit"}
    assert judge(finished(), on_ask="ask", failure=dead, was_interrupted=True)[:2] == ("cancelled", 130)
    assert judge(finished(), on_ask="ask", failure=dead, timed_out_after="5s")[:2] == ("timeout", 75)


def test_a_timeout_names_the_question_that_waited() -> None:
    open_question = Permission("p", kind="edit", places=("/r/x",), was_pending=True)
    ending = judge(finished(open_question), on_ask="ask", timed_out_after="5s")
    assert ending.message == "nobody answered within 5s: edit /r/x; the turn was cancelled"


@pytest.mark.parametrize(
    ("stop_reason", "finish", "reason", "code"),
    [
        ("refusal", "other", "refused", 1),
        ("max_tokens", "length", "cut_off", 1),
        ("max_turn_requests", "other", "cut_off", 1),
        ("", "length", "cut_off", 1),
        ("cancelled", "other", "cancelled", 130),
        ("", "stop", "done", 0),
    ],
)
def test_the_agents_stop_reason_decides_the_rest(stop_reason: str, finish: str, reason: str, code: int) -> None:
    assert judge(finished(reason=finish), on_ask="ask", stop_reason=stop_reason)[:2] == (reason, code)


def test_a_stream_that_stops_early_is_no_success() -> None:
    assert judge(TurnRecord(), on_ask="ask").exit_code == 1
