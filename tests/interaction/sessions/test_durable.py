"""What is stored stays, is masked, and can be read without the agent that said it (issue 6, durability)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.agents import received
from tests.kit.sessions import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    made.end()


def test_a_secret_split_over_updates_is_masked_for_every_reader_and_on_the_disk(world: World) -> None:
    secret = "tok-" + "4f5a6" * 4
    steps = [{"text": "so: "}, {"text": f"SERVICE_TOKEN={secret[:9]}"}, {"text": secret[9:]}, {"text": " and more"}]
    thoughts = [{"thought": f"Authorization: Bearer {secret[:5]}"}, {"thought": secret[5:]}]
    world.agent("leaky", {"prompts": [[*thoughts, *steps]]})
    session = world.create("leaky")
    stream = world.prompt(session)
    assert stream.text == "so: SERVICE_TOKEN=[REDACTED] and more"
    events = world.events(session)
    transcript = world.get(session, "/transcript")
    for told in (stream.frames, events, transcript):
        assert secret[:9] not in json.dumps(told) and secret[9:] not in json.dumps(told)
    thought = "".join(event["content"].get("text", "") for event in events if event["type"] == "thought")
    assert thought == "Authorization: [REDACTED]"
    types = [event["type"] for event in events if event["type"] in ("thought", "agent_message", "done")]
    assert types == ["thought"] * 3 + ["agent_message"] * 4 + ["done"]
    stored = b"".join(path.read_bytes() for path in world.daemon.home.root.rglob("compozy.db*") if path.is_file())
    assert secret[9:].encode() not in stored


def test_a_session_is_readable_when_its_agent_and_its_provider_are_gone(world: World) -> None:
    provider = "[providers.gone]\ncommand = {}\n"
    world.agent("ann", {"prompts": [[{"thought": "hm"}, {"text": "kept"}]]})
    command = json.loads(
        (world.daemon.home.agents / "ann" / "AGENT.md").read_text().split("command: ")[1].split("\n")[0]
    )
    world.end()
    config = world.daemon.home.config_file
    before = config.read_text()
    config.write_text(before + provider.format(json.dumps(command)))
    agent = world.daemon.home.agents / "ann" / "AGENT.md"
    agent.write_text("---\nname: ann\nprovider: gone\n---\nHello.\n")
    world.start()
    session = world.create("ann")
    world.prompt(session)
    events, transcript = world.events(session), world.get(session, "/transcript")
    world.end()
    config.write_text(before)
    agent.unlink()
    for script in (world.folder / "scripts").iterdir():
        script.unlink()
    world.start()
    again = world.events(session)
    assert again[: len(events)] == events
    assert [event["type"] for event in again[len(events) :]] == ["session_stopped"]
    kept = world.get(session, "/transcript")
    assert kept["entries"] == transcript["entries"]
    listed = world.client.request("GET", "/api/sessions").json()["sessions"]
    assert [row["id"] for row in listed] == [session["id"]]
    with world.client.stream("GET", world.path(session, "/stream"), query={"frames": "raw"}) as stream:
        assert [int(event.id) for event in stream if event is not None] == [event["sequence"] for event in again]


MODELS = [
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [{"value": value, "name": value} for value in ("small", "large", "huge")],
    }
]


def test_a_session_that_left_memory_comes_back_with_the_same_model_mode_and_servers(world: World) -> None:
    record = world.folder / "record"
    asked = {"permission": {"toolCallId": "c", "kind": "edit", "title": "edit"}}
    script = {
        "config_options": MODELS,
        "record": str(record),
        "capabilities": {"loadSession": True},
        "prompts": [[asked, {"text": "{last}"}]],
    }
    world.agent("able", script, mcp_servers='[{name: tracker, command: "true"}]')
    modes = {"small": "deny-all", "large": "approve-all", "huge": "deny-all"}
    sessions = {model: world.create("able", permissions=mode) for model, mode in modes.items()}
    runtimes = {model: {"provider": "offline", "model": model} for model in modes}
    before = {model: world.prompt(sessions[model], runtime=runtimes[model]).text for model in modes}
    assert before["large"] != before["small"] == before["huge"]
    first = received(record)
    record.unlink()
    world.end()
    world.start()
    # In turn, each one out of memory while another is used.
    for model in ("huge", "small", "large"):
        session = sessions[model]
        assert world.prompt(session).text == before[model], "the same permissions"
        assert world.refresh(session)["runtime"]["effective"] == {"provider": "offline", "model": model}
        world.post(session, "/stop")
    again = received(record)
    sent = [message["params"]["value"] for message in again if message.get("method") == "session/set_config_option"]
    assert sent == ["huge", "small", "large"]
    opened = [message["params"] for message in again if message.get("method") in ("session/load", "session/new")]
    servers = [m["params"]["mcpServers"] for m in first if m.get("method") == "session/new"]
    names = [[server["name"] for server in one] for one in servers]
    assert [[server["name"] for server in params["mcpServers"]] for params in opened] == names
    assert {params["cwd"] for params in opened} == {str(world.workspace)}
