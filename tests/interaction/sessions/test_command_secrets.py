"""A secret written into a `command`: only the program is told it, and its session can go on (SECURITY.md; P39)."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from compozy.client import ApiError
from tests.kit.agents import fake_agent
from tests.kit.sessions import World

FIRST = "tok_91cc0-first-written-key"
SECOND = "tok_91cc1-another-written-key"
# Notes its arguments, then becomes the agent.
WRAPPER = (
    "import json, os, sys\nopen(sys.argv[1], 'a').write(json.dumps(sys.argv[2:4]) + '\\n')\nos.execv({0!r}, {1!r})\n"
)


def _command(world: World, secret: str) -> str:
    script = {"prompts": [[{"text": "done"}], [{"text": "done"}]]}
    argv = fake_agent(world.folder, script, name="written")
    wrapper = world.folder / "wrapper.py"
    wrapper.write_text(WRAPPER.format(argv[0], list(argv)))
    return shlex.join([sys.executable, str(wrapper), str(world.folder / "seen"), "--api-key", secret])


def _write(world: World, agents: Path, secret: str) -> None:
    world.write_agent(agents, "written", command=json.dumps(_command(world, secret)))


def _seen(world: World) -> list[list[str]]:
    return [json.loads(line) for line in (world.folder / "seen").read_text().splitlines()]


def _restart(world: World) -> None:
    world.daemon.stop()
    world.end()
    world.daemon.start()


def test_the_program_is_told_the_secret_the_store_is_not_and_the_session_goes_on_after_a_restart(
    own_world: World,
) -> None:
    world = own_world
    _write(world, world.daemon.home.agents, FIRST)
    session = world.create("written")
    assert world.prompt(session).finish == "stop"
    _restart(world)
    files = [path for path in world.daemon.home.root.rglob("*") if path.is_file() and path.name != "AGENT.md"]
    assert [path for path in files if FIRST.encode() in path.read_bytes()] == []
    assert world.prompt(session).finish == "stop"
    assert _seen(world) == [["--api-key", FIRST]] * 2
    # The file may say a new secret: it is the same command.
    _write(world, world.daemon.home.agents, SECOND)
    world.post(session, "/stop")
    assert world.prompt(session).finish == "stop"
    assert _seen(world)[-1] == ["--api-key", SECOND]


def test_a_command_that_its_file_does_not_say_any_more_is_told_and_starts_nothing(own_world: World) -> None:
    world = own_world
    _write(world, world.daemon.home.agents, FIRST)
    session = world.create("written")
    world.write_agent(world.daemon.home.agents, "written", command=json.dumps("another --api-key x-123456789"))
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go"))
    assert refused.value.code == "command_secret_unresolved" and "start a new session" in refused.value.message
    assert not (world.folder / "seen").exists()


def test_a_workspace_cannot_exchange_what_stands_in_the_secrets_place_without_being_trusted_again(
    own_world: World,
) -> None:
    world = own_world
    agents = world.workspace / ".compozy" / "agents"
    _write(world, agents, FIRST)
    where = {"workspace": str(world.workspace)}
    world.client.request("POST", "/api/workspaces/resolve", body={"path": str(world.workspace)})
    report = world.client.request("GET", "/api/trust", query=where).json()["trust"]
    world.client.request("POST", "/api/trust", body={**where, "digest": report["digest"]})
    session = world.create("written")
    _write(world, agents, SECOND)
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go"))
    assert refused.value.code == "command_secret_unresolved" and "not trusted" in refused.value.message
    assert not (world.folder / "seen").exists()


def test_what_was_read_masked_can_be_written_back_and_nothing_else_with_a_mask(own_world: World) -> None:
    world = own_world
    path = world.daemon.home.agents / "written" / "AGENT.md"
    _write(world, world.daemon.home.agents, FIRST)
    agent = world.client.request("GET", "/api/agents/written").json()["agent"]
    assert FIRST not in json.dumps(agent) and "[REDACTED]" in agent["command"]
    fields = {name: agent[name] for name in ("name", "prompt", "provider", "command")}

    def put(digest: str, **changes: str) -> dict[str, object]:
        body = {"expected_digest": digest, "agent": {**fields, **changes}}
        answer = world.client.request("PUT", "/api/agents/written", body=body)
        changed: dict[str, object] = answer.json()["agent"]
        return changed

    edited = put(agent["definition_digest"], prompt="Do it another way.")
    assert FIRST in path.read_text() and "another way" in path.read_text()
    before = path.read_text()
    with pytest.raises(ApiError) as refused:
        put(str(edited["definition_digest"]), command="other --api-key [REDACTED]")
    assert refused.value.status == 400 and "write the command whole" in refused.value.message
    assert path.read_text() == before
    with pytest.raises(ApiError) as made:
        world.client.request("POST", "/api/agents", body={"scope": "global", "agent": {**fields, "name": "masked"}})
    assert made.value.status == 400
