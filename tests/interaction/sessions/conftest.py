"""Fixtures for tests of sessions over a real daemon: `world` is a home, a running daemon and a workspace."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sessions import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    made.end()
