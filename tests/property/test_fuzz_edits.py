"""Edits of mutated files: refused in one sentence, or exactly what was asked with everything else as it was (D3)."""

import pytest

from compozy.documents.agent_header import read_header
from compozy.documents.edits import EditRefused, edit_frontmatter, edit_json, edit_toml
from compozy.documents.edits.header import Parts
from compozy.documents.json_document import JsonDocument
from compozy.documents.source import SourceText
from compozy.documents.toml_reader import TomlProblem, read_toml
from tests.kit import fuzzing
from tests.kit.mutations import mutations
from tests.property.test_fuzz_formats import RICH_CATALOG, RICH_MCP, RICH_TOML, RICH_YAML, SEED

pytestmark = pytest.mark.fuzz

# Fewer than for the readers: each case parses several times.
COUNT = fuzzing.times(2_500)


@pytest.mark.parametrize("seed", [RICH_YAML, RICH_TOML], ids=["yaml", "toml"])
def test_a_header_that_loads_is_edited_and_keeps_its_body_or_the_edit_is_refused(seed: str) -> None:
    edited = refused = 0
    for data in mutations([seed], COUNT, seed=SEED):
        text = data.decode("utf-8", "replace")
        before = read_header(SourceText(text), "AGENT.md").definition
        try:
            result = edit_frontmatter(text, {"model": "zz-1", "tools": ["compozy__skill_view", "new__*"]})
        except EditRefused as refusal:
            assert refusal.message, data
            refused += before is not None
            continue
        assert result.text[Parts(result.text).body :] == text[Parts(text).body :], data
        if before is not None:
            after = read_header(SourceText(result.text), "AGENT.md").definition
            assert after is not None, data
            assert (after.model, after.tools) == ("zz-1", ("compozy__skill_view", "new__*")), data
            assert (after.name, after.hooks, after.mcp_servers) == (before.name, before.hooks, before.mcp_servers), (
                data
            )
            edited += 1
    assert edited > 30
    # Aliases, anchors and tags over the edited fields are the only reasons to refuse what loads.
    assert refused < edited / 3


def test_a_catalog_that_parses_is_edited_or_the_edit_is_refused() -> None:
    edited = 0
    for data in mutations([RICH_CATALOG], COUNT, seed=SEED):
        text = data.decode("utf-8", "replace")
        try:
            before = read_toml(text)
        except TomlProblem:
            before = None
        try:
            result = edit_toml(text, {("capabilities", 0, "summary"): "New.", "added": 1})
        except EditRefused as refusal:
            assert refusal.message, data
            continue
        assert before is not None, data
        after = read_toml(result.text)
        assert after["added"] == 1 and after["capabilities"][0]["summary"] == "New.", data  # type: ignore[index]
        edited += 1
    assert edited > 30


def test_an_mcp_json_that_parses_is_edited_or_the_edit_is_refused() -> None:
    edited = 0
    for data in mutations([RICH_MCP], COUNT, seed=SEED):
        text = data.decode("utf-8", "replace")
        try:
            result = edit_json(
                text, {("mcpServers", "sonar", "command"): "new", ("mcpServers", "more"): {"url": "x"}}
            )
        except EditRefused as refusal:
            assert refusal.message, data
            continue
        document = JsonDocument(SourceText(result.text).normal, "decode")
        assert not document.broken or text.startswith("\ufeff"), data
        edited += 1
    assert edited > 30
