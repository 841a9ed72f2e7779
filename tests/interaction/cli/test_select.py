"""`compozy select` against a running daemon: the choice, its reasons, "none fits", and a file of tasks as a test."""

import json

import pytest

from tests.kit.cli import Cli, sequence, write_agent

REVIEWER = "---\nname: reviewer\nprovider: offline\n---\nYou review.\n"
CAPABILITIES = """[[capabilities]]
id = "review-code"
summary = "Review a change for faults"
outcome = "A list of findings"
version = "1.2"
context_needed = ["the diff"]
"""


@pytest.fixture
def workspace(shared: Cli) -> Cli:
    write_agent(shared.folder / ".compozy", "reviewer", REVIEWER)
    (shared.folder / ".compozy/agents/reviewer/capabilities.toml").write_text(CAPABILITIES)
    assert shared("workspace", "add", ".").code == 0
    return shared


def test_the_choice_comes_with_its_reason_and_what_it_still_needs(workspace: Cli) -> None:
    call = workspace("select", "please review this change")
    assert call.code == 0
    assert call.out.startswith("reviewer  ")
    assert "a capability mentions review" in call.out and "review-code needs: the diff" in call.out


def test_none_fits_ends_with_one_and_names_the_default_and_the_reasons(workspace: Cli) -> None:
    call = workspace("select", "sail to Malta", "--explain")
    assert call.code == 1
    assert call.out.startswith("none fits: ") and "a run would use general" in call.out
    assert "reviewer: shares no word with the task" in call.out


def test_required_ids_and_pins_decide_before_words(workspace: Cli) -> None:
    assert workspace("select", "anything", "--require", "review-code@1.2").out.startswith("reviewer")
    call = workspace("select", "review this change", "--require", "review-code@9", "-o", "json")
    assert call.code == 1
    answer = call.json()
    assert isinstance(answer, dict) and answer["agent"] == ""
    assert {"name": "reviewer", "reason": "has review-code as 1.2, not 9"} in sequence(answer["rejected"])


def test_a_file_of_tasks_is_a_test_that_fails_by_the_task(workspace: Cli) -> None:
    file = workspace.folder / "tasks.jsonl"
    good = [{"task": "review this change", "expect": "reviewer"}, {"task": "sail to Malta", "expect": "none"}]
    file.write_text("# a remark\n\n" + "".join(json.dumps(case) + "\n" for case in good))
    call = workspace("select", "--test", str(file))
    assert call.code == 0 and "2 of 2 tasks went where expected" in call.out
    file.write_text(json.dumps({"task": "review this change", "expect": "general"}) + "\n")
    call = workspace("select", "--test", str(file), "-o", "json")
    assert call.code == 1
    assert sequence(call.json())[0]["chosen"] == "reviewer"


def test_a_task_that_went_elsewhere_is_told_with_the_reason(workspace: Cli) -> None:
    file = workspace.folder / "tasks.jsonl"
    file.write_text('{"task": "review this change", "expect": "general", "require": ["review-code@9"]}\n')
    call = workspace("select", "--test", str(file))
    assert call.code == 1 and "0 of 1 task went where expected" in call.out
    assert "review this change: none of" in call.out and "review-code@9: nobody is chosen" in call.out


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]\n",
        '{"task": 5}\n',
        '{"task": "a", "expect": "general", "require": "review-code"}\n',
        '{"task": "a", "expect": "general", "prefer": [5]}\n',
        '{"task": "a", "expect": "general", "reqire": ["review-code"]}\n',
    ],
)
def test_a_file_that_holds_no_test_is_refused_with_its_line(workspace: Cli, text: str) -> None:
    file = workspace.folder / "bad.jsonl"
    file.write_text(text)
    call = workspace("select", "--test", str(file))
    assert call.code == 1 and "bad.jsonl" in call.err and "Errno" not in call.err
    call = workspace("select", "--test", "missing.jsonl")
    assert call.code == 1 and call.err.startswith("error: could not read 'missing.jsonl': no such file")


def test_run_takes_the_agent_that_select_names(workspace: Cli) -> None:
    chosen = workspace("select", "please review this change", "-o", "json").json()
    ran = workspace("run", "please review this change", "-o", "json").json()
    assert isinstance(chosen, dict) and isinstance(ran, dict)
    assert (ran["agent"], ran["agent_reason"]) == (chosen["agent"], chosen["reason"]) and chosen["fits"] is True


def test_by_meaning_an_agent_is_found_that_shares_no_word_with_the_task(cli: Cli) -> None:
    write_agent(cli.folder / ".compozy", "nurse", REVIEWER.replace("reviewer", "nurse"))
    (cli.folder / ".compozy/agents/nurse/capabilities.toml").write_text(
        '[[capabilities]]\nid = "triage"\nsummary = "Help patients with headache, fever and other symptoms"\n'
        'outcome = "What to do about an illness"\n'
    )
    task = "my throat is sore"
    assert cli("config", "set", "selection.semantic", "true").code == 0
    assert cli("daemon", "start").code == 0
    assert cli("workspace", "add", ".").code == 0

    call = cli("select", task, "-o", "json")

    answer = call.json()
    assert isinstance(answer, dict)
    assert (answer["agent"], answer["fits"]) == ("nurse", True), call.out


def test_a_folder_that_is_no_workspace_yet_is_said_so_by_every_command_that_misses_its_agents(shared: Cli) -> None:
    write_agent(shared.folder / ".compozy", "reviewer", REVIEWER)
    (shared.folder / ".compozy/agents/reviewer/capabilities.toml").write_text(CAPABILITIES)
    line = f"compozy workspace add {shared.folder}"
    chosen = shared("select", "please review this change")
    assert chosen.code == 1 and line in chosen.err
    assert "a run would use" not in chosen.out, "a run would register the folder and choose its agent"
    assert line in shared("agent", "list").err
    assert line in shared("agent", "why", "reviewer").err
    which = shared("agent", "which", "reviewer")
    assert which.code == 69 and which.err.endswith(f"is no workspace yet\ntry: {line}\n")
    assert shared("workspace", "add", ".").code == 0
    assert shared("select", "please review this change").out.startswith("reviewer")
