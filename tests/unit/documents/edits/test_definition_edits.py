"""Replacing the fields of any definition that loads, over every recorded case (decisions D3)."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from compozy.documents.agent_header import read_header
from compozy.documents.canonical import NoDigest, render
from compozy.documents.edits import EditRefused, edit_definition
from compozy.documents.source import SourceText
from compozy.model.definition import AgentDefinition

CASES = Path(__file__).resolve().parents[3] / "data/format_cases.jsonl"


def read(text: str) -> AgentDefinition | None:
    return read_header(SourceText(text), "AGENT.md").definition


def loading_texts() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in CASES.read_text(encoding="utf-8").split("\n"):
        case = json.loads(line) if line else {"files": {}}
        for name, text in case["files"].items():
            if name.endswith("AGENT.md") and read(text) is not None:
                found.setdefault(text, case["id"])
    return {case: text for text, case in found.items()}


TEXTS = loading_texts()


def can_be_rendered(definition: AgentDefinition) -> bool:
    try:
        render(definition)
    except NoDigest:
        return False
    return True


def test_there_are_many_cases() -> None:
    assert len(TEXTS) > 100


@pytest.mark.parametrize("case", TEXTS)
def test_saying_the_same_changes_no_byte(case: str) -> None:
    definition = read(TEXTS[case])
    assert definition is not None
    result = edit_definition(TEXTS[case], definition)
    assert result.in_place and result.text == TEXTS[case]


@pytest.mark.parametrize("case", TEXTS)
def test_every_field_can_be_replaced_and_all_others_stay(case: str) -> None:
    old = read(TEXTS[case])
    assert old is not None
    if not can_be_rendered(old):
        return
    for wanted in (
        replace(old, model="a: b #c", permissions="deny-all"),
        replace(old, tools=("x__y", *old.tools), deny_tools=("d__*",)),
        replace(old, provider="", command="", model="", reasoning_effort="", category_path=("Tides", "Lock: 3")),
        replace(old, skills_disabled=("s",), toolsets=(), prompt="New\n---\n\ntext: here"),
        replace(old, name="renamed", tools=(), skills_disabled=(), category_path=()),
    ):
        if not can_be_rendered(wanted):
            continue
        if wanted.name != old.name:
            # The matcher of each hook carries the agent's name.
            wanted = replace(wanted, hooks=old.hooks)
        result = edit_definition(TEXTS[case], wanted)
        found = read(result.text)
        assert found is not None
        assert found.prompt.replace("\r\n", "\n") == wanted.prompt.replace("\r\n", "\n")
        assert sorted(found.tools) == sorted(wanted.tools)
        assert (found.model, found.provider, found.permissions) == (wanted.model, wanted.provider, wanted.permissions)
        assert (found.category_path, found.mcp_servers) == (wanted.category_path, old.mcp_servers)
        assert [hook.name for hook in found.hooks] == [hook.name for hook in old.hooks]
        if result.in_place and wanted.prompt == old.prompt:
            body = TEXTS[case].replace("\r\n", "\n").split("\n---", 1)[1]
            assert result.text.replace("\r\n", "\n").split("\n---", 1)[1] == body
        if not result.in_place:
            assert result.note


def test_nearly_every_edit_is_made_in_place() -> None:
    replaced = []
    for case, text in TEXTS.items():
        old = read(text)
        if old is not None and can_be_rendered(old):
            result = edit_definition(text, replace(old, model="other", tools=("x__y", *old.tools)))
            if not result.in_place:
                replaced.append(case)
    assert len(replaced) <= len(TEXTS) // 20, replaced


def test_a_text_that_does_not_load_is_refused() -> None:
    with pytest.raises(EditRefused, match="check --fix"):
        edit_definition("---\nname: [x\n---\nHi\n", AgentDefinition(name="a", prompt="b"))
