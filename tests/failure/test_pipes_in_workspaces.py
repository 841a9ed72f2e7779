"""Pipes where a workspace keeps its files: nobody waits for a writer that never comes (issues 4 and 5, bad input).

A pipe in a cloned tree must not hold a worker of the daemon: a few of them would hold all.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError
from compozy.config.trust_grants import file_digest
from compozy.documents.files import read_regular
from tests.kit.sessions import World

# Far beyond what an answer takes, and below what a person would wait.
SECONDS = 20.0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("pipes")).start()
    made.agent("idle")
    yield made
    made.end()


@pytest.mark.parametrize(
    "place",
    [
        ".compozy/config.toml",
        ".compozy/mcp.json",
        ".compozy/workspace.toml",
        ".compozy/skills/one/SKILL.md",
        ".compozy/agents/brought/AGENT.md",
        "AGENTS.md",
        "knowledge/one.md",
    ],
)
def test_a_pipe_in_place_of_a_file_of_a_workspace_makes_nobody_wait(world: World, place: str) -> None:
    pipe = world.workspace / place
    pipe.parent.mkdir(parents=True, exist_ok=True)
    # Registering the workspace may have written one.
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    body = {"agent_name": "idle", "workspace_path": str(world.workspace)}
    try:
        for method, path, query, sent in (
            ("POST", "/api/sessions", None, body),
            ("GET", "/api/trust", {"workspace": str(world.workspace)}, None),
            ("GET", "/api/agents", {"workspace": str(world.workspace)}, None),
            ("GET", "/api/mcp/servers", {"workspace": str(world.workspace)}, None),
            ("POST", "/api/agents/select", None, {"task": "x", "workspace_path": str(world.workspace)}),
        ):
            try:
                answer = world.client.request(method, path, query=query, body=sent, timeout=SECONDS)
                assert answer.status in (200, 201)
            except ApiError as refused:
                assert refused.status in (400, 404, 409, 422), refused
                assert str(pipe) in str(refused) or "registered" in str(refused)
    finally:
        pipe.unlink()


def test_a_trusted_program_exchanged_for_a_pipe_refuses_the_start(tmp_path: Path) -> None:
    world = World(tmp_path).start()
    try:
        program = world.workspace / "agent.sh"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        world.write_agent(world.workspace / ".compozy/agents", "brought", command=f"{program}", provider="offline")
        world.client.request("POST", "/api/workspaces", body={"root_dir": str(world.workspace)})
        where = {"workspace": str(world.workspace)}
        report = world.client.request("GET", "/api/trust", query=where).json()["trust"]
        world.client.request("POST", "/api/trust", body={**where, "digest": report["digest"]})
        session = world.create("brought")
        program.unlink()
        os.mkfifo(program)
        with pytest.raises(ApiError) as refused:
            world.prompt(session)
        assert refused.value.code == "trust_required"
    finally:
        world.end()


def test_a_file_is_read_up_to_its_bound_and_a_pipe_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    assert read_regular(tmp_path / "file", 10) == b"x" * 10
    assert len(read_regular(tmp_path / "file", 4)) == 5, "one more than the bound tells a cut"
    os.mkfifo(tmp_path / "pipe")
    for read in (lambda path: read_regular(path, 10), file_digest):
        with pytest.raises(OSError, match="no regular file"):
            read(tmp_path / "pipe")
