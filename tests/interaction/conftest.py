"""Fixtures for tests that talk to a real daemon.

`daemon_home`: a fresh home, nothing running. `running_daemon`: a daemon on it (socket and TCP), ended afterwards.
`cli`: the command line in a fresh home with a scripted agent, nothing running. `served`: the same with a daemon.
`shared`: a project of its own on a daemon that serves all tests of the module, for tests that leave the home alone.
`shared_daemon`: one daemon for all tests of a module that leave nothing behind.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.config.home import Home
from compozy.daemon import control
from tests.kit.cli import Cli, make_cli
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


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    made = make_cli(tmp_path)
    yield made
    if control.is_running(made.home):
        control.stop(made.home)


@pytest.fixture
def served(cli: Cli) -> Cli:
    control.start_detached(cli.home, environ=cli.environment)
    return cli


@pytest.fixture(scope="module")
def module_cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    made = make_cli(tmp_path_factory.mktemp("shared"))
    control.start_detached(made.home, environ=made.environment)
    yield made
    control.stop(made.home)


@pytest.fixture
def shared(module_cli: Cli, tmp_path: Path) -> Cli:
    folder = tmp_path / f"project-{tmp_path.name[-40:]}"
    folder.mkdir()
    return Cli(module_cli.home, folder)
