"""Sessions with the agents that come with the program: no folder, never listed, usable by name (contract §9)."""

import json

import pytest

from compozy.client import ApiError
from tests.kit.agents import received
from tests.kit.sessions import World


@pytest.mark.parametrize(
    ("name", "words"), [("coordinator", "work of one workspace"), ("dreaming-curator", "finished")]
)
def test_a_built_in_agent_runs_with_the_default_provider_and_its_own_prompt(
    world: World, name: str, words: str
) -> None:
    session = world.create(name)
    assert session["agent_name"] == name and session["runtime"]["effective"]["provider"] == "offline"
    assert world.prompt(session).finish == "stop"
    listed = world.client.request("GET", "/api/agents", query={"workspace": str(session["workspace_id"])}).json()
    assert name not in [agent["name"] for agent in listed["agents"]]
    with pytest.raises(ApiError) as unknown:
        world.client.request("GET", f"/api/agents/{name}")
    assert unknown.value.status == 404


def test_the_built_in_prompt_reaches_the_agent_and_a_file_of_that_name_does_not(own_world: World) -> None:
    record = own_world.folder / "record"
    own_world.agent("scripted", {"record": str(record)})
    command = own_world.daemon.home.agents / "scripted" / "AGENT.md"
    line = next(one for one in command.read_text().splitlines() if one.startswith("command: "))
    own_world.daemon.stop()
    config = own_world.daemon.home.config_file
    config.write_text(f"{config.read_text()}[providers.scripted]\ncommand = {line.removeprefix('command: ')}\n")
    config.write_text(config.read_text().replace('provider = "offline"', 'provider = "scripted"'))
    own_world.end()
    own_world.daemon.start()
    own_world.write_agent(own_world.workspace / ".compozy" / "agents", "coordinator", command="never-run")
    own_world.prompt(own_world.create("coordinator"))
    prompts = [message["params"] for message in received(record) if message.get("method") == "session/prompt"]
    text = json.dumps(prompts[0])
    assert "You keep the work of one workspace moving" in text and "You do what your script says" not in text
