"""Mutated files of every format: our own diagnostics or a result, never another exception, a hang or a bad place.

20,000 files of each format, always the same ones; `make fuzz` reads others and more.
"""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.documents.agent_header import read_header
from compozy.documents.canonical import NoDigest, definition_digest
from compozy.documents.capability_records import read_catalog, read_record
from compozy.documents.mcp_json import read_mcp_json
from compozy.documents.problems import has_errors
from compozy.documents.sidecars import read_source
from compozy.documents.source import SourceText
from compozy.model.definition import AgentDefinition
from compozy.model.diagnostic import Diagnostic
from tests.kit import fuzzing
from tests.kit.mutations import mutations

SEED = fuzzing.seed(20261130)
COUNT = fuzzing.times(20_000)
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/format_cases.jsonl").read_text("utf-8").split("\n")
    if line
]
RICH_YAML = """---
# owner: harbour
name: tide-clerk
provider: claude
command: "npx -y tide-acp"
model: &m gauge-1
reasoning_effort: medium
permissions: approve-reads
tools: [compozy__skill_view, mcp__sonar__*]
deny_tools:
  - compozy__task_*
skills: {disabled: [dredge]}
category_path: [Harbour, Tides]
mcp_servers:
  - &s
    name: sonar
    command: sonar-mcp
    args: [-y, "@s/p", 'a: b']
    env: {DEPTH: low, API_TOKEN: x}
    secret_env:
      PIN: env:PIN
  - name: radar
    url: https://radar.example/mcp
    headers: {X-Harbour: north}
    auth: {registration: pre_registered, issuer_url: https://id.example, client_id: crew, scopes: [a, b]}
hooks:
  - name: log-turn
    event: turn.start
    mode: sync
    priority: 7
    timeout: 1m30s
    matcher: {input_class: 'us*'}
    executor: {kind: subprocess, command: tide-log, args: [-v]}
---

Keep the tide tables current.
"""
RICH_TOML = """---
name = "tide-clerk"
provider = 'claude'
tools = ["compozy__skill_view",
  "mcp__sonar__*", # all
]
skills.disabled = ["dredge"]
[[mcp_servers]]
name = "sonar"
command = "sonar-mcp"
env = { DEPTH = "low" }
[[hooks]]
name = "log"
event = "turn.start"
command = "c"
timeout = 1500
[hooks.matcher]
input_class = "user"
---
Body.
"""
RICH_CATALOG = """[[capabilities]]
id = "chart-tides"
summary = "Chart the tides."
outcome = '''
A tide chart.'''
version = "2.1"
context_needed = ["harbour id", "date"]
requirements = ["fetch-weather", "read-gauges"]

[[capabilities]]
id = "log"
summary = "Log."
outcome = "A log."
"""
RICH_MCP = """{
  "mcpServers": {
    "sonar": {"command": "sonar-mcp", "args": ["-y"], "env": {"DEPTH": "low"}, "secret_env": {"PIN": "env:PIN"}},
    "radar": {"url": "https://radar.example/mcp", "auth": {"scopes": ["a"]}}
  },
  "mcp_servers": {"sonar": {"command": "other", "args": null}}
}
"""


def seeds(suffix: str, rich: str) -> list[str]:
    found = {text for case in CASES for name, text in case["files"].items() if name.endswith(suffix)}
    return [rich] * (len(found) + 1) + sorted(found)


Read = tuple[tuple[Diagnostic, ...], bool, AgentDefinition | None]


def read_agent(source: SourceText) -> Read:
    outcome = read_header(source, "AGENT.md")
    return outcome.diagnostics, outcome.definition is not None, outcome.definition


def read_mcp(source: SourceText) -> Read:
    outcome = read_mcp_json(source, "mcp.json")
    return outcome.diagnostics, outcome.servers is not None, None


def read_toml_catalog(source: SourceText) -> Read:
    outcome = read_catalog(source, "capabilities.toml", "toml")
    return outcome.diagnostics, outcome.capabilities is not None, None


def read_json_catalog(source: SourceText) -> Read:
    outcome = read_catalog(source, "capabilities.json", "json")
    return outcome.diagnostics, outcome.capabilities is not None, None


def read_toml_record(source: SourceText) -> Read:
    outcome = read_record(source, "capabilities/log.toml", "toml", "log")
    return outcome.diagnostics, outcome.capabilities is not None, None


RICH_JSON_CATALOG = (
    '{"capabilities": [{"id": "chart-tides", "summary": "Chart.", "outcome": "A chart.", "examples": ["a"]}]}\n'
)
FORMATS: dict[str, tuple[Callable[[SourceText], Read], list[str]]] = {
    "agent-yaml": (read_agent, seeds("AGENT.md", RICH_YAML)),
    "agent-toml": (read_agent, [RICH_TOML]),
    "mcp-json": (read_mcp, seeds("mcp.json", RICH_MCP)),
    "catalog-toml": (read_toml_catalog, seeds("capabilities.toml", RICH_CATALOG)),
    "catalog-json": (read_json_catalog, seeds("capabilities.json", RICH_JSON_CATALOG)),
    "record-toml": (read_toml_record, ['id = "log"\nsummary = "Log."\noutcome = "A log."\n']),
}


@pytest.mark.fuzz
@pytest.mark.parametrize("name", FORMATS)
def test_a_mutated_file_gives_a_result_or_our_diagnostics(name: str) -> None:
    read, texts = FORMATS[name]
    for data in mutations(texts, COUNT, seed=SEED):
        source = read_source(data, "file", "decode")
        if isinstance(source, Diagnostic):
            assert source.code == "invalid-utf8"
            continue
        try:
            diagnostics, loaded, definition = read(source)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} for {data!r}") from error
        assert loaded != has_errors(diagnostics), data
        check_places(diagnostics, source, data)
        if definition is not None:
            try:
                definition_digest(definition)
            except NoDigest as problem:
                assert problem.message


ANY_TEXT = st.text(max_size=60) | st.text("-: #[]{}*&!|>%'\"\\\n\t=,.a0_~@`?<", max_size=60)


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT)
def test_any_text_gives_a_result_or_our_diagnostics(text: str) -> None:
    for name, (read, _) in FORMATS.items():
        for whole in (text, f"---\n{text}\n---\nx\n") if name.startswith("agent") else (text,):
            source = SourceText(whole)
            diagnostics, loaded, _ = read(source)
            assert loaded != has_errors(diagnostics)
            check_places(diagnostics, source, whole.encode("utf-8", "surrogatepass"))


def check_places(diagnostics: tuple[Diagnostic, ...], source: SourceText, data: bytes) -> None:
    lines = source.text.split("\n")
    for found in diagnostics:
        if found.position is not None:
            assert 1 <= found.position.line <= len(lines), (found, data)
            assert 1 <= found.position.column <= len(lines[found.position.line - 1]) + 1, (found, data)
        if found.repair is not None:
            edges = [(edit.start, edit.end) for edit in sorted(found.repair.edits, key=lambda e: e.start)]
            assert all(0 <= start <= end <= len(source.text) for start, end in edges), (found, data)
            assert all(left[1] <= right[0] for left, right in pairwise(edges)), (found, data)
