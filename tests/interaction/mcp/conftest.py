"""Fixtures: homes whose agents are given scripted MCP servers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interaction.mcp.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    made: list[Stage] = []

    def make(**kinds: str) -> Stage:
        made.append(Stage(tmp_path, kinds))
        return made[-1]

    yield make
    for one in made:
        one.end()
