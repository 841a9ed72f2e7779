"""`compozy ocm` where users stumble: standard input, wrong paths, exit codes, formats that hide nothing (D30)."""

import io
import json
import os
from pathlib import Path

import pytest

from compozy.cli.app import main

GOOD = 'ocm: "1"\nid: acme/x\nkind: tool\ndescription: Pays back broken orders\nexamples: [refund order 1]\n'
UNTIDY = "id: a  \nocm: '1'\nkind: tool\ndescription: no\n"
TIDY = "ocm: '1'\nid: a\nkind: tool\ndescription: \"no\"\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / "home"))
    (tmp_path / "good.yaml").write_text(GOOD)
    return tmp_path


class Shell:
    """Calls the program; `stdin` is what it reads."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def run(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        self._capsys.readouterr()
        code = main(["ocm", *words])
        told = self._capsys.readouterr()
        return code, told.out, told.err


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


def test_fmt_writes_what_came_by_standard_input_to_standard_output(shell: Shell, folder: Path) -> None:
    assert shell.run("fmt", "-", stdin=UNTIDY) == (0, TIDY, "")
    assert shell.run("fmt", "-", stdin=TIDY) == (0, TIDY, "")
    code, out, _ = shell.run("fmt", "-", stdin='{"id": "a", "ocm": "1"}')
    assert (code, json.loads(out)) == (0, {"ocm": "1", "id": "a"})
    assert shell.run("fmt", "--check", "-", stdin=UNTIDY)[:2] == (2, "would change <stdin>\n")
    code, out, _ = shell.run("fmt", "--diff", "-", stdin=UNTIDY)
    assert code == 0 and '+description: "no"' in out
    assert json.loads(shell.run("fmt", "-", "--json", stdin=UNTIDY)[1])["text"] == TIDY
    code, out, err = shell.run("fmt", "-", "-o", "sarif", stdin=UNTIDY)
    assert (code, out) == (2, "") and "--check" in err
    assert shell.run("fmt", "-", "good.yaml", stdin=UNTIDY)[0] == 2
    assert sorted(path.name for path in folder.iterdir()) == ["good.yaml"]


@pytest.mark.parametrize("name", ["broken.yaml", "broken.json"])
def test_fmt_says_which_file_it_cannot_read(shell: Shell, folder: Path, name: str) -> None:
    (folder / name).write_text('{"ocm": [')
    code, out, _ = shell.run("fmt", name)
    assert code == 2 and f"not read {name}" in out
    assert (folder / name).read_text() == '{"ocm": ['
    code, out, _ = shell.run("fmt", name, "-o", "github")
    assert code == 2 and out.startswith(f"::error file={name},line=1")


def test_import_reads_standard_input(shell: Shell) -> None:
    card = {"name": "N", "description": "Plans routes", "skills": [{"id": "x"}]}
    code, out, _ = shell.run("import", "-", stdin=json.dumps(card))
    assert code == 0 and "id: n\n" in out
    code, out, _ = shell.run("import", "-", "--server", "w", stdin='{"tools": [{"name": "t", "inputSchema": {}}]}')
    assert code == 0 and "id: local/w/t" in out
    code, out, _ = shell.run("import", "-", stdin="# Pirate\n\nYou talk like a pirate.\n")
    assert code == 0 and "kind: persona" in out
    code, out, _ = shell.run("import", "-", "--from", "skill", stdin="---\nname: s\ndescription: d\n---\nb\n")
    assert code == 0 and "kind: skill" in out
    code, _, err = shell.run("import", "-", stdin="")
    assert code == 2 and "<stdin>" in err


def test_what_is_no_import_is_refused_by_its_path_and_never_taken_for_a_persona(shell: Shell, folder: Path) -> None:
    (folder / "good.json").write_text('{"ocm": "1", "id": "a", "kind": "tool", "description": "d"}')
    (folder / "text.txt").write_text("just words")
    cases = {
        ("good.yaml",): "--from persona",
        ("good.json",): "a manifest already",
        (".",): "not a regular file",
        ("missing.json",): "no such file",
        ("text.txt", "--from", "mcp-tools"): "no JSON",
        ("text.txt", "--from", "agent-card"): "no JSON",
    }
    for words, told in cases.items():
        code, out, err = shell.run("import", *words)
        assert (code, out) == (2, "") and told in err and words[0] in err, err


def test_standard_input_is_one_side_of_a_comparison_only(shell: Shell) -> None:
    assert shell.run("diff", "-", "good.yaml", stdin=GOOD)[:2] == (0, "0 breaking, 0 additive\n")
    code, _, err = shell.run("diff", "-", "-", stdin=GOOD)
    assert code == 2 and "standard input" in err


@pytest.mark.parametrize(
    "words",
    [
        ("keygen", "no/such/folder/key"),
        ("publish", "good.yaml/inside", "good.yaml"),
        ("publish", "public", "good.yaml", "--sign", "missing.key"),
        ("verify", ".", "--key", "missing.pub"),
        ("train", "missing.jsonl", "good.yaml", "--to", "m"),
        ("train", "good.yaml", "good.yaml", "--to", "m"),
        ("examples", "missing.jsonl", "good.yaml"),
        ("examples", "good.yaml", "good.yaml"),
        ("learn", "good.yaml"),
        ("learn", "o.jsonl", "--catalog", "good.yaml", "--good", "acme/none"),
        ("select", "a task", "good.yaml", "--model", "missing.model"),
        ("select", "a task", "good.yaml", "--boundary", "vpn"),
        ("export", "nowhere", "--publisher", "acme"),
        ("convert", "good.yaml", "--out", "no/such/folder/x.yaml"),
        ("index", "good.yaml", "--out", "no/such/folder/x.json"),
    ],
    ids=" ".join,
)
def test_a_wrong_call_ends_with_two_and_one_sentence_in_every_format(shell: Shell, words: tuple[str, ...]) -> None:
    code, _, err = shell.run(*words)
    assert code == 2 and err.startswith("error: ") and "fault of compozy" not in err
    code, _, err = shell.run(*words, "-o", "json")
    assert code == 2
    if words[0] != "verify":
        assert json.loads(err)["code"] != "internal_error"
    code, out, _ = shell.run(*words, "-o", "github")
    assert code == 2 and (not out or out.startswith("::error "))


def test_an_error_of_a_rule_keeps_its_code(shell: Shell) -> None:
    _, _, err = shell.run("select", "a task", "good.yaml", "--boundary", "vpn", "-o", "json")
    assert json.loads(err)["code"] == "data_boundary_unknown"


def test_an_empty_catalogue_is_named_by_its_path(shell: Shell, folder: Path) -> None:
    (folder / "none.yaml").write_text("[]\n")
    code, out, _ = shell.run("validate", "none.yaml")
    assert code == 2 and out.startswith("INVALID none.yaml\n")
    assert json.loads(shell.run("validate", "none.yaml", "--json")[1])["manifests"][0]["path"] == "none.yaml"
    code, out, _ = shell.run("validate", "-", stdin="[]")
    assert code == 2 and out.startswith("INVALID <stdin>\n")


def test_no_output_shows_the_login_of_an_address(shell: Shell, folder: Path) -> None:
    (folder / "login.yaml").write_text(
        GOOD + 'endpoints: [{protocol: http, url: "https://me:hidden-word@x.example"},\n'
        '  {protocol: queue, url: "amqp://me:hidden-word@x.example"}]\n'
    )
    for command in ("validate", "lint"):
        for form in ("human", "json", "jsonl", "toon", "sarif", "github"):
            _, out, err = shell.run(command, "login.yaml", "-o", form)
            assert "hidden-word" not in out + err
            assert "user name or password" in out and "**** " not in out


def test_a_missing_file_is_named_once(shell: Shell) -> None:
    code, out, _ = shell.run("lint", "missing.yaml")
    assert code == 2 and out.splitlines()[0] == (
        "missing.yaml: error: no such file or directory; check the path [unreadable]"
    )
    _, _, err = shell.run("select", "a task", "missing.yaml")
    assert err.count("missing.yaml") == 1


def test_answers_spell_everything_out_in_each_structured_format(shell: Shell) -> None:
    told = json.loads(shell.run("select", "zzz", "good.yaml", "-o", "json")[1])
    assert (told["chosen"], told["ranked"], told["refused_by_rule"], told["endpoint"]) == ("", [], {}, None)
    code, out, _ = shell.run("select", "refund", "good.yaml", "-o", "jsonl")
    assert code == 0 and len(out.splitlines()) == 1 and json.loads(out)["chosen"] == "acme/x"
    code, out, _ = shell.run("select", "refund", "good.yaml", "-o", "toon")
    assert code == 0 and out.startswith("select{chosen,")
    shell.run("learn", "o.jsonl", "--good", "a", "--good", "b")
    assert len(shell.run("learn", "o.jsonl", "-o", "jsonl")[1].splitlines()) == 2
    assert shell.run("learn", "o.jsonl", "-o", "toon")[1].startswith("learn[2]{id,")


def test_convert_speaks_the_format_of_the_call_unless_told_another(shell: Shell, folder: Path) -> None:
    (folder / "two.yaml").write_text(GOOD + "---\n" + GOOD.replace("acme/x", "acme/y"))
    assert [one["id"] for one in json.loads(shell.run("convert", "two.yaml", "-o", "json")[1])] == [
        "acme/x",
        "acme/y",
    ]
    assert [json.loads(line)["id"] for line in shell.run("convert", "two.yaml", "-o", "jsonl")[1].splitlines()] == [
        "acme/x",
        "acme/y",
    ]
    assert shell.run("convert", "two.yaml", "--to", "yaml", "-o", "json")[1].startswith('ocm: "1"')


def test_a_card_leaves_and_comes_back_and_what_is_left_behind_is_named(shell: Shell, folder: Path) -> None:
    card = {
        "name": "Planner",
        "description": "Plans routes",
        "version": "2",
        "provider": {"organization": "acme", "url": ""},
        "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "plan", "name": "Plan", "description": "to the sea", "tags": ["maps"]}],
    }
    (folder / "card.json").write_text(json.dumps(card))
    assert shell.run("import", "card.json", "--out", "made")[0] == 0
    assert shell.run("validate", "made", "--strict")[0] == 0
    code, out, err = shell.run("convert", "made", "--to", "agent-card")
    assert (code, json.loads(out), err) == (0, card, "")
    (folder / "priced.yaml").write_text(GOOD + "cost: {usd_per_call: 1}\n")
    code, out, err = shell.run("convert", "priced.yaml", "good.yaml", "--to", "agent-card")
    assert code == 2
    (folder / "other.yaml").write_text(GOOD.replace("acme/x", "acme/y"))
    code, out, err = shell.run("convert", "priced.yaml", "other.yaml", "--to", "agent-card")
    assert code == 0 and [one["id"] for one in json.loads(out)["skills"]] == ["acme/x", "acme/y"]
    assert err == "not carried over: acme/x: cost\n"
    assert shell.run("convert", "priced.yaml", "--to", "agent-card", "--strict", "--out", "c.json")[0] == 2
    assert not (folder / "c.json").exists()


def test_native_entries_that_cannot_become_manifests_are_refused(shell: Shell, folder: Path) -> None:
    (folder / "native.yaml").write_text("- {id: GPT 4, kind: llm, description: A model}\n")
    code, _, err = shell.run("convert", "native.yaml")
    assert code == 2 and "gpt-4" in err
    assert json.loads(shell.run("convert", "native.yaml", "--to", "targets")[1])[0]["id"] == "GPT 4"
    (folder / "bare.yaml").write_text("- {id: gpt-4, kind: llm}\n")
    code, _, err = shell.run("convert", "bare.yaml")
    assert code == 2 and "no description" in err


def test_a_native_entry_becomes_a_valid_manifest_that_keeps_everything(shell: Shell, folder: Path) -> None:
    (folder / "native.yaml").write_text(
        "- {id: gpt-4, kind: llm, description: Answers questions, effort: high, enabled: false,\n"
        "   latency_ms: {p50: 3, p99: 5}, cost: {usd_per_1k_input: 1, usd_per_call: 0}, metadata: {a: 1}}\n"
    )
    code, out, err = shell.run("convert", "native.yaml", "--to", "json")
    assert json.loads(out) == {
        "ocm": "1",
        "id": "gpt-4",
        "kind": "llm",
        "description": "Answers questions",
        "cost": {"usd_per_call": 0},
        "latency_ms": {"p50": 3, "p99": 5},
        "metadata": {"a": 1, "native": {"enabled": False, "effort": "high", "cost": {"usd_per_1k_input": 1}}},
    }
    assert code == 0 and "gpt-4: enabled (kept under metadata.native)" in err
    (folder / "made.json").write_text(out)
    assert shell.run("validate", "made.json", "--strict")[0] == 0
    assert shell.run("convert", "native.yaml", "--strict", "--out", "x.yaml")[0] == 2
    assert not (folder / "x.yaml").exists()


def test_what_is_no_file_of_outcomes_is_never_written_to(shell: Shell, folder: Path) -> None:
    before = (folder / "good.yaml").read_text()
    code, _, err = shell.run("learn", "good.yaml", "--good", "acme/x")
    assert code == 2 and "good.yaml:1: no outcome" in err
    assert (folder / "good.yaml").read_text() == before
    code, _, err = shell.run("learn", "missing.jsonl")
    assert code == 2 and "Errno" not in err and "no such file" in err


def test_an_outcome_begins_a_line_of_its_own(shell: Shell, folder: Path) -> None:
    row = '{"id": "a", "quality": 1, "at": "2026-01-01T00:00:00Z"}'
    (folder / "o.jsonl").write_text(row)
    assert shell.run("learn", "o.jsonl", "--good", "b")[0] == 0
    assert [json.loads(line)["id"] for line in (folder / "o.jsonl").read_text().splitlines()] == ["a", "b"]


def test_eval_tells_what_it_counted_in_sentences(shell: Shell, folder: Path) -> None:
    (folder / "bare.yaml").write_text('ocm: "1"\nid: acme/bare\nkind: tool\ndescription: Counts sheep\n')
    code, out, _ = shell.run("eval", "good.yaml", "bare.yaml")
    first, second = out.splitlines()
    assert code == 0 and first.startswith("1 example of 2 capabilities: ")
    assert first.endswith("with enough confidence to be chosen")
    assert second.startswith("1 capability has no examples;")


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "public"),
        ("verify", "signed", "--key", "pipe"),
        ("publish", "out", "good.yaml", "--sign", "pipe"),
        ("learn", "pipe"),
        ("train", "pipe", "good.yaml", "--to", "m"),
        ("examples", "pipe", "good.yaml"),
        ("select", "a task", "good.yaml", "--model", "pipe"),
        ("select", "a task", "good.yaml", "--outcomes", "pipe"),
    ],
    ids=" ".join,
)
def test_a_pipe_in_place_of_a_file_holds_nobody_up(shell: Shell, folder: Path, words: tuple[str, ...]) -> None:
    os.mkfifo(folder / "pipe", 0o600)
    assert shell.run("publish", "public", "good.yaml")[0] == shell.run("publish", "signed", "good.yaml")[0] == 0
    (folder / "public" / "index.html").unlink()
    os.mkfifo(folder / "public" / "index.html")
    code, out, err = shell.run(*words)
    assert code == 2 and "no regular file" in out + err
