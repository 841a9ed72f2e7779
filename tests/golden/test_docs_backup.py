"""Every command and setting of docs/backup.md does what the page says (design §4: examples are run)."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.config.load import load_config
from compozy.daemon import control
from tests.kit.cli import Cli, make_cli, steps

PAGE = Path(__file__).resolve().parents[2] / "docs" / "backup.md"
BLOCK = re.compile(r"^```(sh|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [match[2] for match in BLOCK.finditer(PAGE.read_text()) if match[1] == language]


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    made = make_cli(tmp_path)
    yield made
    if control.is_running(made.home):
        control.stop(made.home)


def test_the_commands_of_the_page_work_in_their_order(cli: Cli) -> None:
    assert cli("run", steps({"text": "hello"})).code == 0
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) >= 6
    home = cli.environment["HOME"]
    for line in lines:
        program, *words = shlex.split(line.replace("~", home))
        called = cli(*words)
        assert program == "compozy" and called.code == 0, (line, called.err)
    assert (Path(home) / "compozy.backup").exists()


def test_the_settings_of_the_page_are_settings(cli: Cli) -> None:
    (settings,) = blocks("toml")
    cli.home.config_file.write_text(settings)
    rules = load_config(cli.home).session.retention
    assert (rules.max_age, rules.max_sessions, rules.max_bytes, rules.interval) == (90 * 86400, 5000, 2 << 30, 3600)
