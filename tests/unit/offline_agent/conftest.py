"""What the offline agent's tests share: the event loop, and the way to start the agent."""

import sys

import pytest

ARGV = [sys.executable, "-m", "compozy_offline_agent"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def agent_argv() -> list[str]:
    return list(ARGV)
