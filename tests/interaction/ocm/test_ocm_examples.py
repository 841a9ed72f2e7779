"""`compozy ocm examples` as people call it: labelled tasks in, examples out, or into the manifests."""

import json
from pathlib import Path

import pytest

from compozy.cli.app import main

CATALOGUE = """# ours
- ocm: "1"
  id: acme/translator
  kind: agent
  description: Translates letters and contracts. # in every language
- ocm: "1"
  id: acme/watch
  kind: agent
  description: Watches servers at night.
  # people said these
  examples:
    - watch the servers tonight # Ann
- {id: gpt, kind: llm}
"""
TASKS = (
    ("translate this letter", "acme/translator"),
    ("translate the letter", "acme/translator"),
    ("translate my letter please", "acme/translator"),
    (" put the contract into French ", "acme/translator"),
    ("", "acme/translator"),
    ("watch the servers tonight", "acme/watch"),
    ("watch our servers tonight", "acme/watch"),
    ("is the database up?", "acme/watch"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / "home"))
    (tmp_path / "targets.yaml").write_text(CATALOGUE)
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps({"task": t, "id": one}) + "\n" for t, one in TASKS))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["ocm", "examples", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_those_that_stand_for_most_are_printed_to_be_copied(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, out, err = run(capsys, "tasks.jsonl", "targets.yaml", "--count", "2")
    assert code == 0 and (folder / "targets.yaml").read_text() == CATALOGUE
    assert out == (
        "# acme/translator: 2 of 4 tasks\nexamples:\n  - translate this letter\n  - put the contract into French\n\n"
        "# acme/watch: 1 of 3 tasks, 1 kept\nexamples:\n  - watch the servers tonight\n"
        '  - "is the database up?"\n'
    )
    assert "without a task: gpt" in err and "native entries have no examples: gpt" in err
    told = json.loads(run(capsys, "tasks.jsonl", "targets.yaml", "--count", "1", "-o", "json")[1])
    assert told["capabilities"] == [
        {"id": "acme/translator", "tasks": 4, "kept": 0, "examples": ["translate this letter"]},
        {"id": "acme/watch", "tasks": 3, "kept": 1, "examples": ["watch the servers tonight"]},
    ]
    assert (told["without_tasks"], told["native_entries_passed_over"], told["written"]) == (["gpt"], ["gpt"], [])


def test_they_are_written_into_the_manifests_and_nothing_else_changes(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    code, out, _ = run(capsys, "tasks.jsonl", "targets.yaml", "--count", "2", "--write")
    assert code == 0 and out.endswith(f"wrote {folder / 'targets.yaml'}\n")
    written = CATALOGUE.replace(
        "# in every language\n",
        "# in every language\n  examples:\n    - translate this letter\n    - put the contract into French\n",
    ).replace("# Ann\n", '# Ann\n    - "is the database up?"\n')
    assert (folder / "targets.yaml").read_text() == written
    assert "wrote" not in run(capsys, "tasks.jsonl", "targets.yaml", "--count", "2", "--write")[1]
    assert main(["ocm", "validate", "targets.yaml", "--strict"]) == 0
    run(capsys, "tasks.jsonl", "targets.yaml", "--count", "1", "--replace", "--write")
    (_, replaced) = (folder / "targets.yaml").read_text().split("# people said these\n")
    assert replaced == "  examples:\n    - watch the servers tonight\n- {id: gpt, kind: llm}\n"


@pytest.mark.parametrize("command", [("examples",), ("train", "--to", "m")])
def test_an_id_that_is_not_in_the_catalogue_is_told_with_its_line_and_the_nearest(
    capsys: pytest.CaptureFixture[str], folder: Path, command: tuple[str, ...]
) -> None:
    with (folder / "tasks.jsonl").open("a") as file:
        file.write('\n{"task": "translate", "id": "acme/translater"}\n')
    assert main(["ocm", command[0], "tasks.jsonl", "targets.yaml", *command[1:]]) == 2
    told = capsys.readouterr().err
    assert "tasks.jsonl:10: 'acme/translater' is not in the catalogue; did you mean 'acme/translator'?" in told
    assert (folder / "targets.yaml").read_text() == CATALOGUE


def test_half_a_character_and_standard_input_are_refused(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(capsys, "tasks.jsonl", "-", "--write")[0] == 2
    (folder / "tasks.jsonl").write_text('{"task": "a \\ud800", "id": "acme/watch"}\n')
    code, _, err = run(capsys, "tasks.jsonl", "targets.yaml", "--write")
    assert code == 2 and "tasks.jsonl:1: " in err and "is no labelled task" in err
