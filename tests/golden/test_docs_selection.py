"""The example files of docs/selection.md give what the page shows."""

import re
from pathlib import Path

import pytest

from compozy.cli.app import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "selection.md"
BLOCK = re.compile(r"^```(?P<language>\w+) ?(?P<name>[\w.]*)\n(?P<body>.*?)^```$", re.M | re.S)


def test_the_examples_of_the_page_are_chosen_as_it_shows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / "home"))
    section = PAGE.read_text().split("### Examples from real tasks")[1].split("\n## ")[0]
    blocks = list(BLOCK.finditer(section))
    for block in blocks:
        if block["name"]:
            (tmp_path / block["name"]).write_text(block["body"])
    (console,) = [block["body"] for block in blocks if block["language"] == "console"]
    command, _, shown = console.partition("\n")
    words = command.removeprefix("$ compozy ").split()
    assert main(words) == 0
    assert capsys.readouterr().out == shown
    before = (tmp_path / "targets.yaml").read_text()
    assert main([*words, "--write"]) == 0
    after = (tmp_path / "targets.yaml").read_text()
    assert set(before.splitlines()) < set(after.splitlines())
