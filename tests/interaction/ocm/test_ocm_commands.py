"""`compozy ocm` as a user calls it: summaries, exit codes, formats, files written (issue 8 items 4, 5; D30)."""

import json
from pathlib import Path

import pytest

from compozy.cli.app import main
from compozy.documents.agents import load_agent

GOOD = 'ocm: "1"\nid: acme/x\nkind: tool\ndescription: Pays back broken orders\nexamples: [refund order 1]\n'
BAD = 'ocm: "1"\nid: acme/y\nkind: agnt\ndescription: d\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / "home"))
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "warn.yaml").write_text(GOOD.replace("acme/x", "acme/z") + "version: 1:30\n")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["ocm", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_validate_gives_the_summary_that_users_know(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "validate", "good.yaml", "bad.yaml")
    assert code == 2
    lines = out.splitlines()
    assert lines[0] == "ok good.yaml [acme/x]"
    assert lines[1] == "INVALID bad.yaml [acme/y]"
    assert "3:7: kind is 'agnt'" in lines[2] and "did you mean 'agent'" in lines[2]
    assert lines[-1] == "1/2 manifest(s) valid"


def test_validate_json_has_valid_manifests_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "validate", "good.yaml", "bad.yaml", "--json")
    told = json.loads(out)
    assert (code, told["valid"]) == (2, False)
    assert [(one["path"], one["id"], len(one["errors"])) for one in told["manifests"]] == [
        ("good.yaml", "acme/x", 0),
        ("bad.yaml", "acme/y", 1),
    ]
    assert told["manifests"][1]["diagnostics"][0]["line"] == 3


@pytest.mark.parametrize(
    ("words", "want"),
    [
        (("good.yaml",), 0),
        (("bad.yaml",), 2),
        (("warn.yaml",), 0),
        (("warn.yaml", "--strict"), 2),
        (("missing.yaml",), 2),
        ((), 2),
        (("--nonsense",), 2),
    ],
)
def test_exit_codes_are_those_of_the_family(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], want: int
) -> None:
    for command in ("validate", "lint"):
        assert run(capsys, command, *words)[0] == want


def test_findings_come_as_sarif_and_workflow_commands(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "validate", "bad.yaml", "-o", "sarif")
    (log,) = json.loads(out)["runs"]
    assert code == 2
    assert log["tool"]["driver"]["name"] == "compozy ocm validate"
    assert log["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    _, out, _ = run(capsys, "lint", "bad.yaml", "-o", "github")
    assert out.startswith("::error file=bad.yaml,line=3,col=7")


def test_lint_advises_and_fails_under_strict_only(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "persona.yaml").write_text(GOOD.replace("tool", "persona"))
    code, out, _ = run(capsys, "lint", "persona.yaml")
    assert code == 0 and "lint-persona-primary" in out
    assert run(capsys, "lint", "persona.yaml", "--strict")[0] == 2


def test_fmt_writes_checks_and_shows(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    path = folder / "untidy.yaml"
    path.write_text("id: a  \nocm: '1'\nkind: tool\ndescription: no\n")
    assert run(capsys, "fmt", "--check", "untidy.yaml")[0] == 2
    _, out, _ = run(capsys, "fmt", "--diff", "untidy.yaml")
    assert '+description: "no"' in out
    assert run(capsys, "fmt", "untidy.yaml")[0] == 0
    assert path.read_text() == "ocm: '1'\nid: a\nkind: tool\ndescription: \"no\"\n"
    assert run(capsys, "fmt", "--check", "untidy.yaml")[0] == 0


def test_diff_fails_on_breaking_changes_only(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "more.yaml").write_text(GOOD + "cost: {usd_per_call: 1}\n")
    code, out, _ = run(capsys, "diff", "good.yaml", "more.yaml")
    assert code == 2 and "breaking  acme/x cost.usd_per_call" in out
    assert run(capsys, "diff", "more.yaml", "good.yaml")[0] == 0


def test_native_entries_that_a_command_passes_over_are_told(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    manifest = '{ocm: "1", id: acme/x, kind: tool, description: Pays back}'
    (folder / "old.yaml").write_text(f"- {manifest}\n- {{id: gpt, kind: llm}}\n")
    (folder / "new.yaml").write_text(f"- {manifest}\n- {{id: gpt, kind: tool}}\n- {{id: other, kind: llm}}\n")
    code, out, err = run(capsys, "diff", "old.yaml", "new.yaml", "--strict")
    assert (code, out) == (0, "0 breaking, 0 additive\n")
    assert "old.yaml: 1 native entry is passed over" in err and "new.yaml: 2 native entries are passed over" in err
    told = json.loads(run(capsys, "diff", "old.yaml", "new.yaml", "--json")[1])
    assert told == {"breaking": 0, "changes": [], "native_entries_passed_over": {"old": 1, "new": 2}}
    code, out, _ = run(capsys, "diff", "old.yaml", "new.yaml", "--strict", "-o", "github")
    assert code == 0 and out.count("::notice") == 3 and "gpt: a native entry, not compared" in out
    _, out, err = run(capsys, "index", "new.yaml")
    assert "acme/x" in out and "gpt" not in out and "2 native entries are passed over" in err
    assert "passed over" not in run(capsys, "diff", "good.yaml", "good.yaml")[2]


def test_convert_writes_json_yaml_and_targets(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    _, out, _ = run(capsys, "convert", "good.yaml", "--to", "json")
    (folder / "good.json").write_text(out)
    _, out, _ = run(capsys, "convert", "good.json")
    (folder / "again.yaml").write_text(out)
    assert run(capsys, "diff", "good.yaml", "again.yaml")[1] == "0 breaking, 0 additive\n"
    _, out, _ = run(capsys, "convert", "good.yaml", "--to", "targets")
    assert json.loads(out)[0]["latency_ms"] == 500


def test_keys_publishing_and_verifying(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(capsys, "keygen", "k")[0] == 0
    code, out, _ = run(capsys, "publish", "out", "good.yaml", "warn.yaml", "--sign", "k")
    assert code == 0 and "signed by ed25519:" in out
    assert run(capsys, "verify", "out", "--key", "k.pub")[0] == 0
    assert run(capsys, "publish", "out", "bad.yaml")[0] == 2
    (folder / "out" / "manifests" / "acme" / "x" / "capability.json").unlink()
    code, out, _ = run(capsys, "verify", "out", "--key", "k.pub", "--json")
    assert code == 2 and "acme/x" in json.loads(out)["problems"][0]
    assert json.loads(run(capsys, "index", "good.yaml")[1])["count"] == 1


def test_agents_leave_and_come_back(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    agent = folder / "agents" / "reviewer"
    agent.mkdir(parents=True)
    (agent / "AGENT.md").write_text("---\nname: reviewer\nprovider: claude\ncommand: /private\n---\nPrompt.\n")
    catalog = '[[capabilities]]\nid = "review"\nsummary = "Reviews"\noutcome = "Findings"\n'
    (agent / "capabilities.toml").write_text(catalog)
    code, out, _ = run(capsys, "export", "agents", "--publisher", "acme")
    assert code == 0 and "id: acme/reviewer/review" in out and "/private" not in out
    assert run(capsys, "export", "agents", "--publisher", "acme", "--include", "definition", "--out", "ocm")[0] == 0
    assert run(capsys, "validate", "ocm", "--strict")[0] == 0
    assert run(capsys, "import", "ocm", "--to", "agents", "--out", "back")[0] == 0
    assert "command: /private" in (folder / "back" / "reviewer" / "AGENT.md").read_text()
    left, came = (load_agent(folder / one / "reviewer" / "AGENT.md") for one in ("agents", "back"))
    assert came.definition_digest == left.definition_digest
    assert came.capabilities_digest == left.capabilities_digest
    code, _, err = run(capsys, "import", "ocm", "--to", "agents", "--out", "back")
    assert code == 2 and "is there already" in err
    card = json.loads(run(capsys, "export", "agents", "--publisher", "acme", "--to", "agent-card")[1])
    (folder / "card.json").write_text(json.dumps(card))
    code, out, _ = run(capsys, "import", "card.json")
    assert code == 0 and "id: acme/reviewer" in out
    code, _, err = run(capsys, "export", "agents", "--publisher", "Acme Corp")
    assert code == 2 and "acme-corp/reviewer/review" in err


def test_the_schema_of_a_manifest_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "ocm"]) == 0
    assert json.loads(capsys.readouterr().out)["required"] == ["ocm", "id", "kind", "description"]
