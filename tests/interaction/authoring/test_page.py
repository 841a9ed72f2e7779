"""The page about changing agents shows what really happens (issue 4: documentation with tested examples)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.daemon import control
from tests.kit.cli import Cli
from tests.kit.console import BLOCK, make_reader, with_real_output

PAGE = Path(__file__).resolve().parents[3] / "docs/authoring.md"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Cli]:
    made = make_reader(tmp_path)
    control.start_detached(made.home, environ=made.environment)
    yield made
    control.stop(made.home)


def test_every_command_of_the_page_answers_what_the_page_shows(reader: Cli) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) >= 7
    assert with_real_output(text, reader) == text, "rewrite it: python -m tests.kit.console docs/authoring.md"
