"""The daily commands of the README print what it shows: each is run as it stands, in order, on examples/webshop.

A line `…` in the README stands for any lines. Ids, times and lengths of time are those of the moment.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from compozy.config.home import Home
from compozy.daemon import control
from tests.kit.daemons import clean_environment, make_home

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"^```console\n(\$ .*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
_ANY = "…"
_MOMENTS = (
    (re.compile(r"\b(ws_|(?:sess|turn)-)[0-9a-f]{16}"), r"\1ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:ms|s)\b"), "SECONDS"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "HASH"),
    (re.compile(r"\bjust now\b|\b\d+ \w+ ago\b"), "AGO"),
    # Columns are as wide as what stands in them.
    (re.compile(r"  +"), "  "),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    user = tmp_path_factory.mktemp("user")
    made = make_home(user / ".compozy", http=False)
    shutil.copytree(ROOT / "examples/webshop", user / "webshop")
    (user / "bin").mkdir()
    program = user / "bin" / "compozy"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m compozy "$@"\n')
    program.chmod(0o755)
    yield made
    if control.is_running(made):
        control.stop(made)


def test_the_daily_commands_print_what_the_readme_shows(home: Home) -> None:
    calls = [part for block in BLOCKS for part in re.split(r"^(?=\$ )", block, flags=re.M) if part]
    assert len(calls) >= 8, "the README shows the daily commands with their output"
    for call in calls:
        command, _, shown = call.partition("\n")
        printed = _run(command.removeprefix("$ "), home)
        assert _fits(_lines(shown), _lines(printed)), f"{command}\n{printed}"


def _run(command: str, home: Home) -> str:
    user = home.root.parent
    environment = clean_environment(home) | {"LC_ALL": "C.UTF-8"}
    environment["PATH"] = f"{user / 'bin'}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=user / "webshop",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.stdout.replace(str(user), "~")


def _lines(text: str) -> list[str]:
    for pattern, name in _MOMENTS:
        text = pattern.sub(name, text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _fits(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the printed lines are the shown ones, with any lines where `…` stands."""
    if not shown:
        return not printed
    if shown[0] == _ANY:
        return any(_fits(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and _fits(shown[1:], printed[1:])


def test_a_line_that_is_not_printed_is_noticed() -> None:
    assert _fits(["a", _ANY, "d"], ["a", "b", "c", "d"]) and _fits([_ANY], [])
    assert not _fits(["a", "c"], ["a", "b", "c"]) and not _fits(["a"], ["a", "b"])
