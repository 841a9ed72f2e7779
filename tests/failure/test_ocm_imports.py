"""What strangers wrote, made into manifests and agents: valid ones, or none; nothing overwritten, nothing unsaid."""

import json
from pathlib import Path

import pytest

from tests.failure.test_ocm_bad_input import run


def described(identity: str, **ours: object) -> dict[str, object]:
    publisher = identity.partition("/")[0]
    metadata = {"compozy": {"agent": "reviewer", "capability": "review", "outcome": "o", **ours}}
    head = {"ocm": "1", "id": identity, "kind": "agent", "description": f"by {publisher}", "publisher": publisher}
    return {**head, "metadata": metadata}


def importing(folder: Path, manifests: list[dict[str, object]]) -> tuple[int, str]:
    (folder / "given.json").write_text(json.dumps(manifests))
    done = run(folder, "import", "given.json", "--to", "agents", "--out", "agents")
    told = (done.stdout + done.stderr).decode()
    assert "fault of compozy" not in told
    return done.returncode, told


def test_agents_of_two_publishers_under_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    code, told = importing(tmp_path, [described("acme/reviewer/review"), described("evil/reviewer/review")])
    assert code == 2 and "two publishers" in told and not (tmp_path / "agents").exists()


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("command", "rm -rf /", "a command"),
        ("permissions", "approve-all", "permissions"),
        ("mcp_servers", [{"name": "s", "command": "x"}], "MCP servers"),
    ],
)
def test_what_an_imported_definition_would_run_is_said(tmp_path: Path, field: str, value: object, word: str) -> None:
    carried = {"name": "reviewer", "prompt": "p", field: value}
    code, told = importing(tmp_path, [described("acme/reviewer/review", definition=carried)])
    assert code == 0 and f"brings {word} of its publisher; review AGENT.md" in told


def test_an_agent_that_cannot_be_written_keeps_the_others_from_being_written(tmp_path: Path) -> None:
    good, bad = described("acme/good/review", agent="good"), described("acme/bad/review", agent="bad")
    bad["description"] = "half a character: \ud800"
    code, told = importing(tmp_path, [good, bad])
    assert code == 2 and "half a character" in told and not (tmp_path / "agents").exists()


@pytest.mark.parametrize(
    "schema",
    [
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1e999}',
        '{"a": 1' + "0" * 400 + "}",
        '{"a": ' * 100 + "1" + "}" * 100,
        '{"a": ' * 500 + "1" + "}" * 500,
        '{"\\ud800": 1}',
        '{"a": "\\udfff"}',
    ],
    ids=range(8),
)
def test_a_tool_list_becomes_valid_manifests_or_none(tmp_path: Path, schema: str) -> None:
    (tmp_path / "tools.json").write_text('{"tools": [{"name": "t", "inputSchema": ' + schema + "}]}")
    for words in (("--out", "made"), (), ("-o", "json")):
        done = run(tmp_path, "import", "tools.json", "--from", "mcp-tools", *words)
        assert done.returncode == 2 and b"fault of compozy" not in done.stderr and not done.stdout, done.stderr
    assert not (tmp_path / "made").exists()
