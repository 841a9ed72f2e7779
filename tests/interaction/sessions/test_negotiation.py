"""Agreeing with agents over the real daemon: the order of calls, refusals with evidence, what they leave (§5.4)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.agents import fake_agent_command, received
from tests.kit.sessions import World

SMALL_EFFORTS, LARGE_EFFORTS = ("low", "high"), ("high", "max")


def select(option_id: str, *values: str, current: str = "") -> dict[str, object]:
    options = [{"value": value, "name": value} for value in values]
    return {
        "id": option_id,
        "name": option_id,
        "type": "select",
        "currentValue": current or values[0],
        "options": options,
    }


def options(model: str, efforts: tuple[str, ...], **more: str) -> list[dict[str, object]]:
    found = [select("model", "small", "large", current=model), select("reasoning_effort", *efforts)]
    return [*found, select("speed", "normal", "fast")]


SCRIPT: dict[str, object] = {
    "modes": ["default", "bypassPermissions"],
    "config_options": options("small", SMALL_EFFORTS),
    "config_rules": {"model": {"large": options("large", LARGE_EFFORTS), "small": options("small", SMALL_EFFORTS)}},
    "prompts": [[{"text": "ok"}]],
}


@pytest.fixture(scope="module")
def able(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A daemon with a provider that takes efforts, and one whose agent dies at once."""
    folder = tmp_path_factory.mktemp("able")
    record = folder / "record"
    command = fake_agent_command(folder, {**SCRIPT, "record": str(record)}, name="able")
    config = (
        f"[providers.able]\ncommand = {json.dumps(command)}\nmodels = {{ reasoning = {{ apply = 'acp_option' }} }}\n"
    )
    config += "[providers.broken]\ncommand = 'python3 -c \"import sys; sys.exit(3)\"'\n"
    world = World(folder, config=config).start()
    world.write_agent(world.daemon.home.agents, "able", provider="able")
    yield world
    world.end()


def calls(world: World, since: int = 0) -> list[tuple[str, str]]:
    """Return the calls of the agents after a number of messages: the method and what it names."""
    found = []
    for message in received(world.folder / "record")[since:]:
        params: Any = message.get("params") or {}
        name = params.get("modeId") or (f"{params['configId']}={params['value']}" if "configId" in params else "")
        if "method" in message:
            found.append((str(message["method"]), name))
    return found


def mark(world: World) -> int:
    return len(received(world.folder / "record"))


def test_mode_model_effort_and_speed_are_agreed_in_this_order_before_the_prompt(able: World) -> None:
    session = able.create("able", permissions="approve-all")
    since = mark(able)
    # "max" is offered for the large model only: the options after the model's answer count.
    choice = {"provider": "able", "model": "large", "reasoning_effort": "max", "speed": "fast"}
    able.prompt(session, runtime=choice)
    assert calls(able, since) == [
        ("initialize", ""),
        ("session/new", ""),
        ("session/set_mode", "bypassPermissions"),
        ("session/set_config_option", "model=large"),
        ("session/set_config_option", "reasoning_effort=max"),
        ("session/set_config_option", "speed=fast"),
        ("session/prompt", ""),
    ]
    effective = able.refresh(session)["runtime"]["effective"]
    resolution = {"requested": "fast", "status": "applied"}
    assert effective == {**choice, "speed_resolution": resolution}
    offered = {option["id"]: option for option in able.refresh(session)["runtime"]["acp_caps"]["config_options"]}
    assert [value["value"] for value in offered["reasoning_effort"]["values"]] == list(LARGE_EFFORTS)


@pytest.mark.parametrize(
    ("choice", "code", "stage", "valid"),
    [
        ({"model": "huge"}, "model_unavailable", "model", ["small", "large"]),
        (
            {"model": "small", "reasoning_effort": "max"},
            "reasoning_effort_unsupported",
            "reasoning_effort",
            ["low", "high"],
        ),
    ],
)
def test_a_refusal_names_what_was_asked_and_what_is_on_offer(
    able: World, choice: dict[str, str], code: str, stage: str, valid: list[str]
) -> None:
    session = able.create("able")
    with pytest.raises(ApiError) as refused:
        able.post(session, "/prompt", able.prompt_body("go", runtime={"provider": "able", **choice}))
    diagnostic = refused.value.envelope["diagnostic"]
    assert (refused.value.status, diagnostic["code"]) == (422, code)
    assert (diagnostic["id"], diagnostic["category"]) == (f"provider.negotiation.{code}", "provider")
    evidence = diagnostic["evidence"]
    assert evidence["stage"] == stage and evidence["valid_choices"] == valid
    assert evidence["requested"] == choice.get("reasoning_effort", choice["model"])
    assert "user_message" not in able.types(session)
    runtime = able.refresh(session)["runtime"]
    assert runtime["status"] == "unbound" and code in (runtime["failure_code"], code)
    assert able.prompt(session).text == "ok"


def test_an_effort_that_no_agent_of_the_provider_takes_is_refused_before_a_process_starts(world: World) -> None:
    record = world.folder / "record"
    world.agent("plain", {"record": str(record)}, reasoning_effort="high")
    session = world.create("plain")
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go"))
    assert (refused.value.status, refused.value.code) == (422, "reasoning_option_missing")
    assert not record.exists()


def test_a_speed_the_agent_does_not_know_is_recorded_and_the_turn_goes_on(world: World) -> None:
    world.agent("plain")
    session = world.create("plain")
    world.prompt(session, runtime={"provider": "offline", "speed": "fast"})
    effective = world.refresh(session)["runtime"]["effective"]
    expected = {"requested": "fast", "status": "unsupported", "reason": "capability_absent"}
    assert effective["speed_resolution"] == expected and "speed" not in effective
    assert any("speed" in event["content"]["text"] for event in world.events(session, type="system"))


def test_a_speed_the_agent_refuses_is_an_error(world: World) -> None:
    refusing = [{"error": {"code": -32602, "message": "not today"}}]
    script = {"config_options": [select("speed", "normal", "fast")], "on": {"session/set_config_option": refusing}}
    world.agent("strict", script)
    session = world.create("strict")
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go", runtime={"provider": "offline", "speed": "fast"}))
    assert (refused.value.status, refused.value.code) == (422, "speed_rejected")
    evidence = refused.value.envelope["diagnostic"]["evidence"]
    assert evidence["config_option_id"] == "speed" and evidence["valid_choices"] == ["normal", "fast"]


def test_agents_with_a_list_of_models_only_are_asked_their_way(world: World) -> None:
    record = world.folder / "record"
    world.agent("old", {"record": str(record), "models": ["one", "two"]})
    session = world.create("old")
    world.prompt(session, runtime={"provider": "offline", "model": "two"})
    sent: list[Any] = [m["params"] for m in received(record) if m.get("method") == "session/set_model"]
    assert [params["modelId"] for params in sent] == ["two"]
    assert world.refresh(session)["runtime"]["effective"]["model"] == "two"
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("go", runtime={"provider": "offline", "model": "three"}))
    assert refused.value.code == "model_unavailable"
    assert refused.value.envelope["diagnostic"]["evidence"]["valid_choices"] == ["one", "two"]


def test_a_live_change_that_fails_half_way_leaves_the_agent_as_it_was(able: World) -> None:
    session = able.create("able")
    able.prompt(session, runtime={"provider": "able", "model": "large", "reasoning_effort": "max"})
    before = able.refresh(session)["runtime"]
    since = mark(able)
    choice = {"provider": "able", "model": "small", "reasoning_effort": "max"}
    with pytest.raises(ApiError) as refused:
        able.client.request("PUT", able.path(session, "/runtime"), body={"runtime": choice})
    assert refused.value.code == "reasoning_effort_unsupported"
    # The small model was set before its efforts were known; the large one is set again.
    assert [name for _, name in calls(able, since)] == ["model=small", "model=large", "reasoning_effort=max"]
    after = able.refresh(session)["runtime"]
    for field in ("selected", "effective", "selection_revision", "acp_session_id", "status"):
        assert after[field] == before[field], field
    assert able.prompt(session).text == "ok"
    assert [method for method, _ in calls(able, since)][-1] == "session/prompt"


def test_a_provider_that_cannot_be_started_leaves_the_old_agent_at_work(able: World) -> None:
    session = able.create("able")
    able.prompt(session)
    before = able.refresh(session)["runtime"]
    since = mark(able)
    with pytest.raises(ApiError):
        able.post(session, "/prompt", able.prompt_body("go", runtime={"provider": "broken"}))
    after = able.refresh(session)["runtime"]
    assert after["effective"] == before["effective"] and after["status"] == "ready"
    assert "broken" in after["failure"]
    # The same process goes on: nothing was opened or loaded again.
    assert able.prompt(session).text == "ok"
    assert [method for method, _ in calls(able, since)] == ["session/prompt"]


def test_what_a_session_runs_with_survives_its_leaving_memory(tmp_path: Path) -> None:
    """P52: three sessions in turn, each out of memory in between, once over a restart of the daemon."""
    record = tmp_path / "record"
    command = fake_agent_command(tmp_path, {**SCRIPT, "record": str(record)}, name="able")
    config = (
        f"[providers.able]\ncommand = {json.dumps(command)}\nmodels = {{ reasoning = {{ apply = 'acp_option' }} }}\n"
    )
    world = World(tmp_path, config=config).start()
    try:
        sessions = []
        for n, (model, mode) in enumerate(
            (("small", "deny-all"), ("large", "approve-all"), ("large", "approve-reads"))
        ):
            name = world.write_agent(world.daemon.home.agents, f"able{n}", provider="able")
            servers = {"mcpServers": {f"srv{n}": {"command": f"srv-{n}"}}}
            (world.daemon.home.agents / name / "mcp.json").write_text(json.dumps(servers))
            session = world.create(name, permissions=mode)
            world.prompt(session, runtime={"provider": "able", "model": model})
            sessions.append(session)
        first = [_agreed(record, n) for n in range(3)]
        assert len({json.dumps(agreed) for agreed in first}) == 3
        for session in sessions:
            world.post(session, "/stop")
        for session in sessions:
            world.prompt(session)
        assert [_agreed(record, 3 + n) for n in range(3)] == first
        world.daemon.stop()
        world.end()
        world.start()
        for session in sessions:
            world.prompt(session)
        assert [_agreed(record, 6 + n) for n in range(3)] == first
    finally:
        world.end()


def _agreed(record: Path, launch: int) -> list[object]:
    """Return what the agent of a launch was given: servers, then mode and options."""
    found: list[list[object]] = []
    for message in received(record):
        params: Any = message.get("params") or {}
        if message.get("method") == "initialize":
            found.append([])
        elif message.get("method") in ("session/new", "session/load"):
            # Each launch has a nonce of its own.
            found[-1].append(sorted(server["name"] for server in params["mcpServers"]))
        elif message.get("method") in ("session/set_mode", "session/set_config_option"):
            found[-1].append({key: value for key, value in params.items() if key != "sessionId"})
    return found[launch]
