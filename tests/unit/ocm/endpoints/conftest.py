from collections.abc import Iterator

import pytest

from tests.kit.endpoint_server import EndpointServer, endpoint_server


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with endpoint_server() as running:
        yield running
