"""Repairs end, repeat to nothing, and leave the body alone, whatever was broken how (issue 3, idempotence)."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.catalog.checking.files import text_check
from compozy.documents.repairs import apply_repairs, repair
from compozy.model.diagnostic import Diagnostic, Repair, Severity, TextEdit
from tests.kit import fuzzing

SEEDS = {
    "AGENT.md": """---
# who
name: tide-clerk
provider: claude   # fast
model: "4.10"
reasoning_effort: high
tools: [compozy__list, mcp__bell__*]
deny_tools:
  - compozy__write
permissions: approve-reads
skills:
  disabled: [x]
category_path: [Tides, Harbour]
mcp_servers:
  - name: bell
    command: bell-mcp
    env: {A: "1"}
hooks:
  - name: log
    event: turn.end
    timeout: 5s
    command: log
---

Keep the tables current.
""",
    "SKILL.md": """---
name: reconcile
description: "Use when: totals drift"
metadata:
  compozy:
    when:
      platforms: [linux]
---
# R
""",
    "SOUL.md": "---\nversion: 1\nrole: clerk\ntone: [calm]\n---\nBe kind.\n",
    "HEARTBEAT.md": "---\nversion: 1\npreferences:\n  min_interval: 30m\n---\nLook.\n",
    "mcp.json": """{
  "mcpServers": {
    "bell": {"command": "bell", "args": ["-y"], "env": {"A": "b"}},
    "far": {"url": "https://h.example/mcp"}
  }
}
""",
    "capabilities.toml": '[[capabilities]]\nid = "a"\nsummary = "S."\noutcome = "O."\nrequirements = ["b"]\n',
    "capabilities.json": '{"capabilities": [{"id": "a", "summary": "S.", "outcome": "O."}]}',
}  # fmt: skip
NOISE = [
    "\t",
    " ",
    "\n",
    ":",
    ": ",
    " #",
    "-",
    "'",
    '"',
    "[",
    "]",
    "{",
    "}",
    ",",
    "\r\n",
    "\ufeff",
    "é",
    "---\n",
    "*",
    "&a",
    "\x00",
    "=",
]


def mutated(text: str, draw: random.Random) -> str:
    """Damage a text the way hands and tools do: drop, double, swap, insert."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + draw.randint(1, 3) :]
        elif kind == 1:
            text = text[:at] + draw.choice(NOISE) + text[at:]
        elif kind == 2:
            lines = text.splitlines(keepends=True)
            lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines) if lines else "x\n")
            text = "".join(lines)
        elif kind == 3 and at + 1 < len(text):
            text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        else:
            lines = text.splitlines(keepends=True)
            if lines:
                index = draw.randrange(len(lines))
                lines[index] = draw.choice(["  ", " ", ""]) + lines[index].lstrip(" ")
            text = "".join(lines)
    return text


@pytest.mark.fuzz
@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_file_never_crashes_the_checker_and_repairing_twice_is_repairing_once(name: str) -> None:
    check = text_check(Path("/w") / name)
    draw = fuzzing.draws(name)
    repairable = 0
    for _ in range(fuzzing.times(400)):
        text = mutated(SEEDS[name], draw)
        outcome = repair(text, check)
        again = repair(outcome.text, check)
        assert again.text == outcome.text, text
        first = check(text)
        errors = [one for one in first if one.severity is Severity.ERROR]
        if errors and all(one.repair for one in errors):
            repairable += 1
            left = [one for one in outcome.diagnostics if one.severity is Severity.ERROR]
            assert left == [], (text, outcome.text)
    assert repairable > 5


# What `make fuzz` has found: a misspelled field that stands there twice, beside what else has to be mended.
TWICE = {
    "capabilities.toml": SEEDS["capabilities.toml"].replace(
        'summary = "S."\noutcome = "O."\n', 'summary = "S."\noutco = "O."\n' * 2
    ),
    "SOUL.md": "---\nrol: e: clerk\nversion: 1\nrol: e: clerk\ntone: [calm]\n---\nBe kind.\n",
    "mcp.json": '{"mcpServers": {' + '"a": {"commad": "b", "args": ["-y"]}, ' * 2 + '"c": {"command": "d"}}}',
    "AGENT.md": "---\nname: a\nmodle: b: c\nmodle: b: c\n---\nDo it.\n",
}


@pytest.mark.parametrize("name", TWICE)
def test_of_a_misspelled_field_that_stands_twice_one_is_left_with_its_name(name: str) -> None:
    outcome = repair(TWICE[name], text_check(Path("/w") / name))
    assert [one for one in outcome.diagnostics if one.severity is Severity.ERROR] == [], outcome.text
    assert not any(wrong in outcome.text for wrong in ("outco ", "rol:", "commad", "modle"))


@pytest.mark.parametrize(
    ("header", "mended"),
    [
        ("role\t: clerk", "role : clerk"),
        ("role \t: clerk", "role  : clerk"),
        ("\trole: clerk", "  role: clerk"),
        ("rol:e\t: clerk", "role : clerk"),
        ("ro\tle: clerk", ""),
    ],
)
def test_a_tab_around_a_key_becomes_a_space_and_one_inside_stays(header: str, mended: str) -> None:
    text = f"---\n{header}\n---\nBe kind.\n"
    outcome = repair(text, text_check(Path("/w/SOUL.md")))
    assert outcome.text == (f"---\n{mended}\n---\nBe kind.\n" if mended else text)


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_clean(name: str) -> None:
    assert text_check(Path("/w") / name)(SEEDS[name]) == ()


EDITS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 3), st.text("xyz", max_size=3)).map(
        lambda t: TextEdit(start=t[0], end=min(t[0] + t[1], 20), replacement=t[2])
    ),
    min_size=1,
    max_size=2,
)


@settings(max_examples=300)
@given(st.lists(EDITS, max_size=5))
def test_edits_that_touch_are_never_applied_together(groups: list[list[TextEdit]]) -> None:
    text = "abcdefghijklmnopqrst"
    diagnostics = [
        Diagnostic(
            code="x", severity=Severity.ERROR, path="p", message="m", repair=Repair(title=str(i), edits=tuple(edits))
        )
        for i, edits in enumerate(groups)
    ]
    result, titles = apply_repairs(text, diagnostics)
    if not groups:
        assert result == text
    assert len(titles) <= len(groups)
    kept = [char for char in result if char in text]
    assert kept == sorted(kept), "what stays keeps its order"


def test_two_repairs_that_undo_each_other_end() -> None:
    def check(text: str) -> tuple[Diagnostic, ...]:
        edit = TextEdit(start=0, end=1, replacement="b" if text == "a" else "a")
        fix = Repair(title="swap", edits=(edit,))
        return (Diagnostic(code="x", severity=Severity.ERROR, path="p", message="m", repair=fix),)

    assert repair("a", check).text in ("a", "b")
