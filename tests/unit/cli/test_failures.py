"""How errors are shown and which exit code they carry (contract §4.3, §4.4)."""

import json

import click
import pytest

from compozy.cli.failures import IdentityError, describe, local, refusal, render
from compozy.model.errors import Conflict, LocalError

DIAGNOSTIC = {
    "id": "x",
    "code": "agent_name_reserved",
    "severity": "error",
    "suggested_command": "compozy agent list",
}


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, 65),
        (401, 77),
        (403, 77),
        (404, 69),
        (408, 69),
        (409, 65),
        (410, 69),
        (413, 69),
        (422, 78),
        (429, 69),
        (500, 69),
        (503, 69),
    ],
)
def test_an_api_status_has_its_exit_code(status: int, code: int) -> None:
    assert refusal(status, {"error": "no"}).exit_code == code


@pytest.mark.parametrize(("severity", "code"), [("error", 71), ("critical", 71), ("warn", 70), ("info", 78)])
def test_a_diagnostic_wins_over_the_status(severity: str, code: int) -> None:
    assert refusal(422, {"error": "no", "diagnostic": {"severity": severity}}).exit_code == code


@pytest.mark.parametrize("code", ["identity_mismatch", "identity_stale", "identity_unauthorized"])
def test_an_invalid_identity_exits_with_65(code: str) -> None:
    assert refusal(403, {"error": "no", "diagnostic": {"code": code, "severity": "error"}}).exit_code == 65


def test_a_person_reads_the_error_and_the_command_that_helps() -> None:
    failure = refusal(422, {"error": "agent name 'coordinator' is reserved", "diagnostic": DIAGNOSTIC})
    assert render(failure, "human") == "error: agent name 'coordinator' is reserved\ntry: compozy agent list\n"


def test_a_remedy_is_found_without_a_diagnostic_too() -> None:
    failure = refusal(404, {"error": "no such agent", "details": {"suggested_command": "compozy agent list"}})
    assert failure.remedy == "compozy agent list"


def test_programs_get_the_payload_of_the_api() -> None:
    payload = {"error": "no", "diagnostic": DIAGNOSTIC}
    assert json.loads(render(refusal(422, payload), "json")) == payload
    assert json.loads(render(refusal(422, payload), "jsonl")) == {"type": "error", "error": payload}
    assert render(refusal(422, payload), "toon") == 'error{message,try}:\n  "no",compozy agent list\n'.replace(
        '"no"', "no"
    )


def test_identity_errors_have_a_payload_of_their_own() -> None:
    error = IdentityError("identity_required", "who are you?", action="set COMPOZY_AGENT", exit_code=64)
    failure = describe(error)
    inner = {"code": "identity_required", "message": "who are you?", "action": "set COMPOZY_AGENT", "exit_code": 64}
    assert failure.exit_code == 64 and failure.payload == {"error": inner}
    assert render(failure, "human") == "error: who are you?; set COMPOZY_AGENT\n"


def test_a_refusal_of_the_tool_endpoints_is_its_message_and_nothing_more() -> None:
    failure = refusal(404, {"error": {"code": "tool_not_found", "message": "it does not exist; search for another"}})
    assert render(failure, "human").startswith("error: it does not exist; search for another\n")


def test_a_local_error_keeps_its_exit_code_and_remedy() -> None:
    failure = describe(LocalError("no daemon; start one", exit_code=69, hint="compozy daemon start"))
    assert (failure.exit_code, failure.remedy) == (69, "compozy daemon start")
    assert failure.payload["code"] == "local_error"


def test_other_errors_of_the_product_map_by_their_status() -> None:
    assert describe(Conflict("taken; choose another")).exit_code == 65


def test_ctrl_c_is_130_and_says_nothing() -> None:
    for error in (KeyboardInterrupt(), click.Abort()):
        failure = describe(error)
        assert failure.exit_code == 130 and render(failure, "human") == "\n"


def test_a_system_error_names_the_path_and_the_reason() -> None:
    failure = describe(PermissionError(13, "Permission denied", "/x/y"))
    assert failure.message == "'/x/y': permission denied; check the path and its permissions"


def test_a_fault_of_ours_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    failure = describe(ValueError("boom"))
    assert failure.exit_code == 1 and "ValueError: boom" in failure.message
    assert "Traceback" not in capsys.readouterr().err


def test_terminal_commands_in_a_message_are_taken_out() -> None:
    assert "\x1b" not in render(local("bad \x1b[2J name", code="x"), "human")


def test_an_argument_that_is_not_utf8_is_no_fault_of_ours() -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        "--agent \udcff".encode()
    failure = describe(caught.value)
    assert failure.exit_code == describe(click.UsageError("x")).exit_code
    assert "is not UTF-8" in failure.message and "udcff" in failure.message
