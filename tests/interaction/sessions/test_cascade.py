"""The cascade as the agent's process sees it: command, model, effort and mode of each layer (contract §2.5, §5.4)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.agents import fake_agent_command, received
from tests.kit.sessions import World

OPTIONS = [
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "m0",
        "options": [{"value": name, "name": name} for name in ("m0", "m1", "m2", "own", "asked")],
    },
    {
        "id": "reasoning_effort",
        "name": "Effort",
        "category": "thought_level",
        "type": "select",
        "currentValue": "none",
        "options": [{"value": name, "name": name} for name in ("none", "low", "medium", "high")],
    },
]


@pytest.fixture
def layered(tmp_path: Path) -> Iterator[World]:
    """A home whose default provider has a default model with a default effort, and a second provider without."""
    scripts = tmp_path / "keep"
    scripts.mkdir()
    commands = {
        name: json.dumps(
            fake_agent_command(
                scripts, {"record": str(tmp_path / f"record-{name}"), "config_options": OPTIONS}, name=name
            )
        )
        for name in ("house", "plain", "agents")
    }
    config = f"""[permissions]
mode = "approve-reads"
[providers.house]
command = {commands["house"]}
[providers.house.models]
default = "m1"
reasoning = {{apply = "acp_option"}}
[[providers.house.models.curated]]
id = "m1"
reasoning_efforts = ["low", "medium"]
default_reasoning_effort = "low"
[providers.plain]
command = {commands["plain"]}
[providers.plain.models]
reasoning = {{apply = "acp_option"}}
"""
    world = World(tmp_path, config=config)
    text = world.daemon.home.config_file.read_text()
    world.daemon.home.config_file.write_text(text.replace('provider = "offline"', 'provider = "house"'))
    (tmp_path / "agents-command").write_text(commands["agents"])
    world.start()
    yield world
    world.end()


def chosen(record: Path) -> dict[str, object]:
    """Return the last value of each option that was set."""
    params = [
        message["params"] for message in received(record) if message.get("method") == "session/set_config_option"
    ]
    return {str(one["configId"]): one["value"] for one in params if isinstance(one, dict)}


@pytest.mark.parametrize(
    ("fields", "runtime", "program", "options"),
    [
        ({}, None, "house", {"model": "m1", "reasoning_effort": "low"}),
        ({"model": "own"}, None, "house", {"model": "own"}),
        ({"reasoning_effort": "high"}, None, "house", {"model": "m1", "reasoning_effort": "high"}),
        ({"provider": "plain"}, None, "plain", {}),
        ({"provider": "plain", "model": "m2"}, None, "plain", {"model": "m2"}),
        ({"command": "agents"}, None, "agents", {"model": "m1", "reasoning_effort": "low"}),
        (
            {"model": "own", "reasoning_effort": "high"},
            {"provider": "house", "model": "asked", "reasoning_effort": "medium"},
            "house",
            {"model": "asked", "reasoning_effort": "medium"},
        ),
        (
            {},
            {"provider": "plain", "model": "m2", "reasoning_effort": "low"},
            "plain",
            {"model": "m2", "reasoning_effort": "low"},
        ),
    ],
)
def test_the_agent_that_is_started_is_told_what_the_cascade_says(
    layered: World,
    fields: dict[str, str],
    runtime: dict[str, str] | None,
    program: str,
    options: dict[str, object],
) -> None:
    if "command" in fields:
        fields = {**fields, "command": (layered.folder / "agents-command").read_text()}
    layered.write_agent(layered.daemon.home.agents, "cascading", **fields)
    session = layered.create("cascading")
    body: dict[str, Any] = {"runtime": runtime} if runtime else {}
    assert layered.prompt(session, **body).done
    started = [name for name in ("house", "plain", "agents") if received(layered.folder / f"record-{name}")]
    assert started == [program]
    assert chosen(layered.folder / f"record-{program}") == options
    effective = layered.refresh(session)["runtime"]["effective"]
    assert effective.get("model", "") == options.get("model", "")
    if runtime is None:
        resolved = layered.client.request("GET", "/api/agents/cascading/resolution").json()["resolution"]
        values = {value["name"]: value["value"] for value in resolved["values"]}
        assert (values["model"], values["reasoning_effort"]) == (
            options.get("model", ""),
            options.get("reasoning_effort", ""),
        )
