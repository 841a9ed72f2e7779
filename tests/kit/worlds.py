"""Worlds as fixtures, for the conftest of folders whose tests speak to a real daemon.

`world`: a workspace of the test's own on a daemon that all tests share; `own_world`: with a daemon of its own, for
tests that end it or read its whole home.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.daemons import Daemon, make_home
from tests.kit.sessions import World

__all__ = ["own_world", "shared_daemon", "world"]


@pytest.fixture(scope="session")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(make_home(tmp_path_factory.mktemp("shared") / "home")).start()
    yield daemon
    daemon.end()


@pytest.fixture
def world(tmp_path: Path, shared_daemon: Daemon) -> Iterator[World]:
    made = World(tmp_path, daemon=shared_daemon)
    yield made
    made.end()


@pytest.fixture
def own_world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    made.end()
