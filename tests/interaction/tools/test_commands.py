"""The commands of tools, as a person calls them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.daemon import control
from tests.kit.cli import Cli
from tests.kit.daemons import make_home


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    folder = tmp_path_factory.mktemp("person")
    home = make_home(folder / "home", http=False, config='[permissions]\nmode = "approve-reads"\n')
    project = folder / "project"
    project.mkdir()
    made = Cli(home, project)
    control.start_detached(home, environ=made.environment)
    assert made("workspace", "add", str(project)).code == 0
    (home.agents / "narrow").mkdir(parents=True)
    (home.agents / "narrow" / "AGENT.md").write_text(
        "---\nname: narrow\ntoolsets: [compozy__bootstrap]\n---\nFind tools.\n"
    )
    yield made
    control.stop(home)


def test_lists_show_what_can_be_called_through_whose_eyes(person: Cli) -> None:
    mine = json.loads(person("tool", "list", "-o", "json").out)
    assert {row["descriptor"]["tool_id"] for row in mine} > {"compozy__session_list", "compozy__tool_list"}
    narrow = json.loads(person("tool", "list", "--agent", "narrow", "-o", "json").out)
    assert len(narrow) == 4
    every = person("tool", "list", "--agent", "narrow", "--all").out
    assert "compozy__session_stop" in every and "policy_denied" in every


def test_info_shows_the_input_and_explain_the_layers(person: Cli) -> None:
    info = person("tool", "info", "compozy__tool_search")
    assert info.code == 0 and '"query"' in info.out
    explained = person("tool", "explain", "compozy__session_stop", "--agent", "narrow")
    assert "agent_allow" in explained.out and "callable: no policy_denied" in explained.out
    missing = person("tool", "info", "compozy__session_lists")
    assert missing.code == 69 and "compozy__session_list" in missing.err


def test_a_call_that_needs_an_approval_says_how_to_give_it(person: Cli) -> None:
    given = json.dumps({"scope": "workspace", "name": "made", "prompt": "Do it."})
    asked = person("tool", "invoke", "compozy__agent_create", "--input", given)
    assert asked.code != 0 and "compozy tool approve compozy__agent_create" in asked.err
    approved = json.loads(person("tool", "approve", "compozy__agent_create", "--input", given, "-o", "json").out)
    token = approved["approval_token"]
    done = person("tool", "invoke", "compozy__agent_create", "--input", given, "--approval-token", token)
    assert done.code == 0 and "made" in done.out, done.err
    again = person("tool", "invoke", "compozy__agent_create", "--input", given, "--approval-token", token)
    assert again.code == 77 and "used before" in again.err


def test_answers_are_set_listed_and_revoked(person: Cli) -> None:
    made = json.loads(person("tool", "approvals", "set", "compozy__session_stop", "reject", "-o", "json").out)
    rows = json.loads(person("tool", "approvals", "list", "-o", "json").out)
    assert [row["id"] for row in rows] == [made["id"]]
    assert person("tool", "approvals", "revoke", made["id"]).code == 0
    assert json.loads(person("tool", "approvals", "list", "-o", "json").out) == []


def test_groups_are_listed_with_everything_they_come_to(person: Cli) -> None:
    assert "compozy__sessions" in person("toolsets", "list").out
    catalog = json.loads(person("toolsets", "info", "compozy__catalog", "-o", "json").out)
    assert {"compozy__skill_view", "compozy__tool_search"} <= set(catalog["expanded_tools"])
    assert person("toolsets", "info", "compozy__nothing").code == 69


@pytest.mark.parametrize("text", ["[1]", "{", "@nowhere.json"])
def test_an_input_that_is_no_object_is_a_usage_error(person: Cli, text: str) -> None:
    assert person("tool", "invoke", "compozy__tool_list", "--input", text).code == 2


def test_agents_do_not_approve(person: Cli) -> None:
    inside = {"COMPOZY_SESSION_ID": "sess-1", "COMPOZY_AGENT": "narrow"}
    for words in (("tool", "approve", "compozy__session_stop"), ("tool", "approvals", "set", "a__b", "allow")):
        assert person(*words, env=inside).code != 0


def test_search_reads_from_the_project_one_stands_in(person: Cli, tmp_path: Path) -> None:
    found = person("tool", "search", "rename a session", "--limit", "1", "-o", "json")
    (row,) = json.loads(found.out)
    assert row["descriptor"]["tool_id"] == "compozy__session_rename"
