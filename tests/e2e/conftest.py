"""Fixtures of the end-to-end tests, and the table of outcomes that a run leaves behind."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.outcomes import Outcomes
from tests.e2e.real_agents import AGENTS, RealAgent, chosen, installed
from tests.kit.fake_models import model_server


class Prepared(NamedTuple):
    """An agent ready to start: its facts, command, environment and workspace, and the marker of its processes."""

    agent: RealAgent
    argv: tuple[str, ...]
    env: dict[str, str]
    workspace: Path
    marker: str


def turn_script(prepared: Prepared) -> str:
    """Return the prompt whose turn reads a file, writes one, runs a command and says something."""
    folder = prepared.workspace
    return (
        f"[[read {folder}/hello.txt]] [[write {folder}/out.txt|written by the model]] "
        f"[[sh touch {folder}/made.txt]] [[say All is done here]]"
    )


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def models() -> Iterator[str]:
    """A scripted model server on a free port of loopback."""
    with model_server() as base:
        yield base


@pytest.fixture(params=chosen())
def prepared(request: pytest.FixtureRequest, models: str, tmp_path: Path) -> Prepared:
    """Each chosen agent in turn; one that is not there is skipped by name."""
    agent = AGENTS[request.param]
    record = installed(agent.name)
    if not record.argv:
        pytest.skip(f"{agent.name} {record.version}: {record.reason}".replace(" :", ":"))
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    workspace.mkdir()
    (workspace / "hello.txt").write_text("hello there\n")
    marker = f"e2e-{uuid.uuid4().hex}"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "E2E_MARKER": marker, **agent.configure(models, home)}
    return Prepared(agent, record.argv, env, workspace, marker)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Outcomes(), "e2e-outcomes")
