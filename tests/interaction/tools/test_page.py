"""The page about tools shows what really happens, and its table is that of the program."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.daemon import control
from tests.kit.cli import Cli
from tests.kit.console import BLOCK, make_reader, with_real_output

_ROOT = Path(__file__).resolve().parents[3]
PAGE = _ROOT / "docs/tools.md"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Cli]:
    made = make_reader(tmp_path)
    control.start_detached(made.home, environ=made.environment)
    yield made
    control.stop(made.home)


def test_every_command_of_the_page_answers_what_the_page_shows(reader: Cli) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) >= 3
    assert with_real_output(text, reader) == text, "rewrite it: python -m tests.kit.console docs/tools.md"


def test_the_table_of_tools_is_the_one_the_program_generates() -> None:
    spec = importlib.util.spec_from_file_location("generate_tools", _ROOT / "scripts" / "generate_tools.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = PAGE.read_text(encoding="utf-8")
    assert module.render(text) == text, "run scripts/generate_tools.py"
    assert len(module.built_in()) >= 25
