"""Fixtures for tests that talk to a real daemon.

`daemon_home`: a fresh home, nothing running. `running_daemon`: a daemon on it (socket and TCP), ended afterwards.
`shared_daemon`: one daemon for all tests of a module that leave nothing behind.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.config.home import Home
from compozy.daemon import control
from tests.kit.daemons import Daemon, make_home


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def daemon_home(tmp_path: Path) -> Iterator[Home]:
    home = make_home(tmp_path / "home")
    yield home
    # Whatever a test started in this home ends with the test.
    if control.is_running(home):
        control.stop(home)


@pytest.fixture
def running_daemon(daemon_home: Home) -> Iterator[Daemon]:
    daemon = Daemon(daemon_home).start()
    yield daemon
    daemon.end()


@pytest.fixture(scope="module")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(make_home(tmp_path_factory.mktemp("shared") / "home")).start()
    yield daemon
    daemon.end()
