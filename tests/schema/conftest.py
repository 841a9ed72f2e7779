"""One real daemon for the tests of the OpenAPI document."""

from collections.abc import Iterator

import pytest

from tests.kit.daemons import Daemon, make_home


@pytest.fixture(scope="module")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(make_home(tmp_path_factory.mktemp("schema") / "home")).start()
    yield daemon
    daemon.end()
