"""Fixtures for tests of what goes wrong; `world` has a daemon of its own: they end it, fill it, watch it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sessions import World


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    made.end()
