"""Fixtures for tests of sessions over a real daemon: see `tests/kit/worlds.py`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sessions import World
from tests.kit.worlds import own_world, shared_daemon, world

__all__ = ["own_world", "plain_world", "shared_daemon", "world"]


@pytest.fixture
def plain_world(tmp_path: Path) -> Iterator[World]:
    """A world whose daemon hosts no tools: agents get the configured servers themselves."""
    made = World(tmp_path, config="[tools]\nhosted_mcp_enabled = false\n").start()
    yield made
    made.end()
