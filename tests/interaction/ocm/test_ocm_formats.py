"""Every command of `compozy ocm` in every format, with its exit codes and --strict (issue 8 item 4; D30)."""

import json
from pathlib import Path

import pytest

from compozy.cli.app import main

GOOD = (
    'ocm: "1"\nid: acme/x\nkind: tool\ndescription: Pays back broken orders\n'
    "examples: [refund order 1, pay back my broken cup]\n"
)
WARN = GOOD.replace("acme/x", "acme/w") + "version: 1:30\n"
BAD = GOOD.replace("kind: tool", "kind: agnt")
# What is read, and where the result goes when standard output is for findings.
READING = {
    "validate": (),
    "lint": (),
    "convert": ("--out", "converted.yaml"),
    "index": ("--out", "index.json"),
    "eval": (),
}
FORMATS = ("human", "json", "jsonl", "toon", "sarif", "github")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / "home"))
    for name, text in (("good", GOOD), ("warn", WARN), ("bad", BAD)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "outcomes.jsonl").write_text('{"id": "acme/x", "quality": 1.0, "at": "2026-01-01T00:00:00+00:00"}\n')
    agent = tmp_path / "agents" / "reviewer"
    agent.mkdir(parents=True)
    (agent / "AGENT.md").write_text("---\nname: reviewer\nprovider: claude\n---\nPrompt.\n")
    catalog = '[[capabilities]]\nid = "review"\nsummary = "Reviews"\noutcome = "Findings"\n'
    (agent / "capabilities.toml").write_text(catalog)
    card = {"name": "N", "description": "Pays orders back", "version": "1", "skills": [], "signatures": ["x"]}
    (tmp_path / "card.json").write_text(json.dumps(card))
    (tmp_path / "tasks.jsonl").write_text('{"task": "pay back a broken order", "id": "acme/x"}\n')
    assert main(["ocm", "publish", "public", "good.yaml"]) == 0
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["ocm", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def results(out: str) -> list[dict[str, object]]:
    log = json.loads(out)
    assert log["version"] == "2.1.0"
    found: list[dict[str, object]] = log["runs"][0]["results"]
    return found


CALLS = {
    "validate": ("validate", "good.yaml"),
    "lint": ("lint", "good.yaml"),
    "fmt": ("fmt", "good.yaml"),
    "convert": ("convert", "good.yaml", "--out", "converted.yaml"),
    "export": ("export", "agents", "--publisher", "acme", "--out", "exported"),
    "export card": ("export", "agents", "--publisher", "acme", "--to", "agent-card", "--out", "exported.json"),
    "import": ("import", "card.json", "--out", "imported"),
    "index": ("index", "good.yaml", "--out", "index.json"),
    "publish": ("publish", "public", "good.yaml"),
    "verify": ("verify", "public"),
    "keygen": ("keygen", "key"),
    "diff": ("diff", "good.yaml", "good.yaml"),
    "select": ("select", "pay back a broken order", "good.yaml"),
    "eval": ("eval", "good.yaml"),
    "learn": ("learn", "outcomes.jsonl"),
    "examples": ("examples", "tasks.jsonl", "good.yaml"),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_command_speaks_every_format(capsys: pytest.CaptureFixture[str], name: str) -> None:
    for number, form in enumerate(FORMATS):
        words = [word if word != "key" else f"key{number}" for word in CALLS[name]]
        code, out, err = run(capsys, *words, "-o", form)
        assert code == 0, (form, err)
        if form == "sarif":
            assert [one for one in results(out) if one["level"] == "error"] == []
        elif form == "github":
            assert all(line.startswith(("::warning ", "::notice ")) for line in out.splitlines())
        elif form == "json" and out:
            json.loads(out)


@pytest.mark.parametrize("command", READING)
def test_findings_in_what_was_read_come_in_the_format_and_the_exit_code_is_two(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, out, _ = run(capsys, command, "bad.yaml", *READING[command], "-o", "sarif")
    (found,) = results(out)
    assert (code, found["ruleId"], found["level"]) == (2, "not-allowed", "error")
    code, out, _ = run(capsys, command, "bad.yaml", *READING[command], "-o", "github")
    assert code == 2 and out.startswith("::error file=bad.yaml,line=3,col=7")
    assert run(capsys, command, "bad.yaml")[0] == 2


@pytest.mark.parametrize("command", READING)
def test_warnings_fail_under_strict_only(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(capsys, command, "warn.yaml")[0] == 0
    code, out, _ = run(capsys, command, "warn.yaml", *READING[command], "--strict", "-o", "sarif")
    assert code == 2 and "yaml-1.1" in [one["ruleId"] for one in results(out)]


def test_strict_counts_for_publishing_selecting_and_learning_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ("publish", "other", "warn.yaml"),
        ("select", "pay back a broken order", "warn.yaml"),
        ("learn", "outcomes.jsonl", "--catalog", "warn.yaml"),
    ):
        assert run(capsys, *words)[0] == 0
        assert run(capsys, *words, "--strict")[0] == 2


def test_strict_refuses_what_would_be_left_behind(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, _, err = run(capsys, "import", "card.json")
    assert code == 0 and "not carried over: n: signatures of the card" in err
    code, out, _ = run(capsys, "import", "card.json", "--strict", "--out", "strict", "-o", "github")
    assert code == 2 and out.startswith("::error file=card.json,title=not-carried-over")
    assert not (folder / "strict").exists()


def test_a_document_is_never_lost_in_a_format_of_findings(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("convert", "good.yaml"), ("index", "good.yaml"), ("import", "card.json")):
        code, out, err = run(capsys, *words, "-o", "sarif")
        assert (code, out) == (2, "") and "--out" in err


def test_changes_are_findings_at_their_manifests(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "more.yaml").write_text("# new\n" + GOOD + "cost: {usd_per_call: 1}\nname: Payer\n")
    code, out, _ = run(capsys, "diff", "good.yaml", "more.yaml", "-o", "sarif")
    assert code == 2
    assert [(one["ruleId"], one["level"]) for one in results(out)] == [
        ("change-additive", "warning"),
        ("change-breaking", "error"),
    ]
    assert run(capsys, "diff", "more.yaml", "good.yaml")[0] == 0
    assert run(capsys, "diff", "more.yaml", "good.yaml", "--strict")[0] == 2


def test_another_form_is_a_finding_of_fmt(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "untidy.yaml").write_text("id: a  \nocm: '1'\nkind: tool\ndescription: d\n")
    code, out, _ = run(capsys, "fmt", "--check", "untidy.yaml", "-o", "github")
    assert code == 2 and out.startswith("::error file=untidy.yaml,title=form::")
    code, out, _ = run(capsys, "fmt", "untidy.yaml", "-o", "sarif")
    assert code == 0 and results(out)[0]["level"] == "note"


def test_a_changed_folder_is_a_finding_of_verify(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(capsys, "verify", "public", "--strict")[0] == 2
    (folder / "public/manifests/acme/x/capability.json").write_text("{}")
    code, out, _ = run(capsys, "verify", "public", "-o", "sarif")
    assert code == 2 and results(out)[0]["ruleId"] == "published"


def test_none_fits_and_confusions_are_findings(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, out, _ = run(capsys, "select", "sail to Malta", "good.yaml", "-o", "github")
    assert code == 1 and out.startswith("::error file=good.yaml,title=none-fits::")
    (folder / "two.yaml").write_text(GOOD.replace("acme/x", "acme/y").replace("order 1", "order 2"))
    code, out, _ = run(capsys, "eval", "good.yaml", "two.yaml", "--at-least", "1", "-o", "sarif")
    rules = [one["ruleId"] for one in results(out)]
    assert code == 1 and rules[-1] == "accuracy" and set(rules[:-1]) == {"confused"}
