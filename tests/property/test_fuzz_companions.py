"""Mutated SOUL.md, HEARTBEAT.md and SKILL.md: a result or our own diagnostics in the right places, nothing else."""

from collections.abc import Callable

import pytest

from compozy.documents.heartbeat import read_heartbeat
from compozy.documents.problems import has_errors
from compozy.documents.skill_file import read_skill
from compozy.documents.soul import read_soul
from compozy.documents.source import InvalidUtf8, SourceText
from compozy.model.diagnostic import Diagnostic
from tests.kit.mutations import mutations
from tests.property.test_fuzz_formats import COUNT, SEED, check_places

Read = Callable[[bytes], tuple[object, tuple[Diagnostic, ...]]]

SOUL = """---
version: 1.2
role: "A careful clerk"   # one line
tone: [calm, exact]
principles:
  - Say where every number comes from.
tags: harbour
---

# Voice

Short sentences.
"""
HEARTBEAT = """---
version: 1
enabled: true
summary: Look around
preferences:
  min_interval: 30m
  active_hours:
    - {timezone: Europe/Berlin, start: "08:00", end: "18:00"}
  quiet_windows: []
context: {include: [inbox]}
---

Look at the ledger: report what does not balance.
"""
SKILL = """---
name: reconcile
description: "Reconciles ledgers. Use when: totals drift."
version: 1.2.0
metadata:
  author: ada
  compozy:
    when:
      platforms: [linux]
      requires_tools: [mcp__ledger__read]
    mcp_servers:
      - {name: ledger, command: ledger-mcp, env: {MODE: x}}
    hooks:
      - {name: note, event: turn.end, command: note, matcher: {agent_name: clerk}}
---

# Reconcile
"""
FORMATS: dict[str, tuple[Read, str]] = {
    "soul": (read_soul, SOUL),
    "heartbeat": (read_heartbeat, HEARTBEAT),
    "skill": (read_skill, SKILL),
}


@pytest.mark.fuzz
@pytest.mark.parametrize("name", FORMATS)
def test_a_mutated_companion_gives_a_result_or_our_diagnostics(name: str) -> None:
    read, seed = FORMATS[name]
    loaded = 0
    for data in mutations([seed], COUNT, seed=SEED):
        try:
            value, diagnostics = read(data)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} for {data!r}") from error
        assert (value is None) == has_errors(diagnostics), data
        loaded += value is not None
        try:
            check_places(diagnostics, SourceText.decode(data), data)
        except InvalidUtf8:
            assert value is None
    assert 0 < loaded < COUNT
