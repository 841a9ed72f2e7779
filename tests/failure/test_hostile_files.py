"""Files at the limits and made to hurt: one clear answer each, soon, and all other agents still load (issue 3)."""

from itertools import pairwise
from pathlib import Path

import pytest

from compozy.catalog.discovery import discover
from compozy.documents.limits import MAX_FILE_BYTES, MAX_PROBLEMS
from tests.kit.agent_files import header, only, read, write_agent


def many(line: str, count: int) -> str:
    return "".join(line.format(i=i) for i in range(count))


HEADERS = {
    "duplicates": "name: x\n" + "model: a\n" * 20_000,
    "unknown": "name: x\n" + many("k{i}: a\n", 20_000),
    "near misses": "name: x\n" + many("mode{i}: a\n", 20_000),
    "colons": "name: x\n" + many("m{i}: a: b\n", 5_000),
    "bad tools": "name: x\ntools:\n" + many("- a{i}\n", 20_000),
    "bad hooks": "name: x\nhooks:\n" + "- {name: a}\n" * 5_000,
    "bad names": "name: x\nmcp_servers:\n- name: a\n  command: c\n  env:\n" + many("    K-{i}: a\n", 10_000),
    "tabs": "name: x\n" + "\ta: b\n" * 5_000,
    "toml unknown": "name = 'x'\n" + many("k{i} = 1\n", 20_000),
    "toml types": "name = 'x'\ntools = [" + "1," * 20_000 + "]",
    "control": "name: x\x01" + "\x02" * 50_000,
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_with_thousands_of_faults_is_answered_with_a_bounded_list(name: str) -> None:
    outcome = read(header(HEADERS[name]))
    assert outcome.definition is None
    assert 1 <= len(outcome.diagnostics) <= 4 * MAX_PROBLEMS


def test_a_file_of_exactly_the_limit_loads_and_one_byte_more_is_named(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    path = write_agent(root, "large", prompt="")
    head = path.read_text()
    path.write_text(head + "x" * (MAX_FILE_BYTES - len(head)))
    found = discover(workspace=None, home_agents=root)
    assert [agent.name for agent in found.agents] == ["large"]
    path.write_text(head + "x" * (MAX_FILE_BYTES - len(head) + 1))
    found = discover(workspace=None, home_agents=root)
    assert found.diagnostics[0].diagnostic.code == "file-too-large"


def test_nul_characters_are_named_in_header_and_prompt() -> None:
    found = only(header("name: tide-clerk\nmodel: a\0b"))
    assert "U+0000" in found.message and found.repair is not None
    body = read(header("name: tide-clerk", body="Do\0it."))
    assert body.definition is not None
    assert [(d.code, d.position.line, d.position.column) for d in body.diagnostics if d.position] == [
        ("prompt-nul", 5, 3)
    ]


def test_aliases_that_unfold_without_end_are_refused_and_never_repaired() -> None:
    levels = "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghij"))
    outcome = read(header(f"a: &a [x, x]\n{levels}name: x"))
    assert outcome.definition is None
    assert "too-many-aliases" in [one.code for one in outcome.diagnostics]
    assert [one.repair for one in outcome.diagnostics if one.repair] == []


def test_every_hostile_folder_is_one_row_and_the_good_one_loads(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    write_agent(root, "good")
    (root / "utf8").mkdir()
    (root / "utf8/AGENT.md").write_bytes(b"---\nname: utf8\n---\n\xff\n")
    (root / "folder/AGENT.md").mkdir(parents=True)
    (root / "link").mkdir()
    (root / "link/AGENT.md").symlink_to(root / "good/AGENT.md")
    (root / "deep").mkdir()
    (root / "deep/AGENT.md").write_text(header("name: deep\nmodel: " + "[" * 5_000))
    mcp = write_agent(root, "json").parent / "mcp.json"
    mcp.write_text('{"a":' * 5_000)
    found = discover(workspace=None, home_agents=root)
    assert [agent.name for agent in found.agents] == ["good"]
    assert [(row.name, row.diagnostic.code) for row in found.diagnostics] == [
        ("deep", "nesting-too-deep"),
        ("folder", "not-regular-file"),
        ("json", "nesting-too-deep"),
        ("link", "symlink-rejected"),
        ("utf8", "invalid-utf8"),
    ]
