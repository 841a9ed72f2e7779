"""SKILL.md (contract §8; reports P01, P02, P06, P15, P16)."""

import pytest

from compozy.documents.skill_file import LONG_SKILL_CHARACTERS, SkillConditions, read_skill
from compozy.model.diagnostic import Severity

GOOD = b"""---
name: reconcile
description: "Reconciles ledgers. Use when: totals drift."
version: 1.10
license: MIT
metadata:
  author: ada
  compozy:
    when:
      platforms: [linux]
      requires_tools: [mcp__ledger__read]
    mcp_servers:
      - {name: ledger, command: ledger-mcp}
    hooks:
      - {name: note, event: turn.end, command: note, matcher: {agent_name: clerk}}
---

# Reconcile
"""


def test_everything_a_skill_brings_is_read() -> None:
    skill, diagnostics = read_skill(GOOD)
    assert diagnostics == () and skill is not None
    assert (skill.name, skill.version) == ("reconcile", "1.1")
    assert skill.metadata["author"] == "ada"
    assert [one.name for one in skill.mcp_servers] == ["ledger"]
    assert skill.hooks[0].matcher == {"agent_name": "clerk"}
    assert skill.body == "\n# Reconcile"


def test_a_condition_is_a_list() -> None:
    skill, diagnostics = read_skill(GOOD.replace(b"[mcp__ledger__read]", b"[a__b, ' ']"))
    assert diagnostics == () and skill is not None
    assert skill.when == SkillConditions(platforms=("linux",), requires_tools=("a__b",))


def test_the_header_is_required() -> None:
    skill, (problem,) = read_skill(b"# Just text\n")
    assert skill is None and problem.code == "skill-malformed-frontmatter"


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"---\ndescription: x\n---\n", "skill-name-required", 2),
        (b"---\nname: ' '\n---\n", "skill-name-required", 2),
        (b"---\nname: [x]\n---\n", "type-mismatch", 2),
        (b"---\nname: a\nname: b\n---\n", "skill-malformed-frontmatter", 3),
        (b"---\nname: a\nmetadata: x\n---\n", "type-mismatch", 3),
        (b"---\nname: a\nmetadata:\n  compozy:\n    when:\n      platform: [linux]\n---\n", "unknown-field", 6),
        (
            b"---\nname: a\nmetadata:\n  compozy:\n    hooks:\n    - {name: x, event: turn.stop, command: y}\n---\n",
            "hook-event-invalid",
            6,
        ),
    ],
)
def test_an_error_has_its_code_and_line(data: bytes, code: str, line: int) -> None:
    skill, diagnostics = read_skill(data)
    assert skill is None
    errors = [one for one in diagnostics if one.severity is Severity.ERROR]
    assert [(one.code, one.position.line) for one in errors if one.position] == [(code, line)]


def test_an_unknown_top_level_key_only_warns_with_the_nearest_name() -> None:
    skill, (warning,) = read_skill(b"---\nname: a\ndescripton: x\n---\n")
    assert skill is not None
    assert (warning.code, warning.severity, warning.suggestion) == (
        "skill-unknown-field",
        Severity.WARNING,
        "description",
    )


def test_a_bad_server_costs_only_itself() -> None:
    data = (
        b"---\nname: a\nmetadata:\n  compozy:\n    mcp_servers:\n    - {name: bad, url: 'ftp://x'}\n"
        b"    - {name: good, command: x}\n---\n"
    )
    skill, (warning,) = read_skill(data)
    assert skill is not None and [one.name for one in skill.mcp_servers] == ["good"]
    assert (warning.code, warning.severity) == ("skill-server-skipped", Severity.WARNING)
    assert warning.position is not None and warning.position.line == 6


def test_a_very_long_skill_gets_a_note() -> None:
    skill, (note,) = read_skill(b"---\nname: a\n---\n" + b"x" * LONG_SKILL_CHARACTERS)
    assert skill is not None and note.severity is Severity.INFO
