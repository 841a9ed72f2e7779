"""Child sessions over the real daemon: never wider than their parent, counted, timed, and ended with it (§9, P46)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.agents import received
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

NOTHING: dict[str, list[str]] = {
    "mcp_servers": [],
    "network_channels": [],
    "sandbox_profiles": [],
    "skills": [],
    "tools": [],
    "workspace_paths": [],
}


def spawn(
    world: World,
    parent: Mapping[str, Any],
    agent: str,
    permissions: Mapping[str, object] | None = None,
    **body: object,
) -> dict[str, Any]:
    """Start a child as the parent's agent would and return the answer's `spawn`."""
    wanted = {
        "agent_name": agent,
        "spawn_role": "helper",
        "ttl_seconds": 600,
        "auto_stop_on_parent": True,
        "permissions": {**NOTHING, **(permissions or {})},
        **body,
    }
    headers = {"X-Compozy-Session-ID": str(parent["id"]), "X-Compozy-Agent": str(parent["agent_name"])}
    answer = world.client.request("POST", "/api/agent/spawn", body=wanted, headers=headers)
    assert answer.status == 201
    found: dict[str, Any] = answer.json()["spawn"]  # type: ignore[index]
    return found


def refused(
    world: World,
    parent: Mapping[str, Any],
    agent: str,
    permissions: Mapping[str, object] | None = None,
    **body: object,
) -> tuple[int, str]:
    with pytest.raises(ApiError) as error:
        spawn(world, parent, agent, permissions, **body)
    return error.value.status, str(error.value.code)


def test_a_child_knows_its_parent_and_its_limits_and_works(world: World) -> None:
    record = world.folder / "record"
    world.agent("lead")
    world.agent("helper", {"record": str(record), "prompts": [[{"text": "helped"}]]})
    parent = world.create("lead")
    answer = spawn(world, parent, "helper", prompt_overlay="Only look at the tests.", name="looker")
    child, lineage = answer["session"], answer["lineage"]
    assert child["type"] == "spawned" and child["state"] == "active" and child["name"] == "looker"
    assert child["lineage"] == lineage
    assert lineage["parent_session_id"] == lineage["root_session_id"] == parent["id"]
    assert (lineage["spawn_depth"], lineage["spawn_role"]) == (1, "helper")
    assert lineage["ttl_expires_at"] > child["created_at"] and lineage["auto_stop_on_parent"]
    listed = world.client.request("GET", "/api/sessions", query={"parent": parent["id"]}).json()
    assert [row["id"] for row in listed["sessions"]] == [child["id"]]  # type: ignore[index]
    assert world.prompt(child, "help").text == "helped"
    text: Any = next(m["params"] for m in received(record) if m.get("method") == "session/prompt")
    told = text["prompt"][0]["text"]
    assert told.index("You do what your script says.") < told.index("Only look at the tests.")
    assert "session_type: spawned" in told


@pytest.mark.parametrize("parent_mode", ["deny-all", "approve-reads", "approve-all"])
@pytest.mark.parametrize("own_mode", ["deny-all", "approve-reads", "approve-all"])
def test_the_mode_of_a_child_is_the_stricter_of_parent_and_own_and_stays_so(
    own_world_of_modes: World, parent_mode: str, own_mode: str
) -> None:
    """P46, all nine pairs."""
    world = own_world_of_modes
    order = ("deny-all", "approve-reads", "approve-all")
    expected = min(parent_mode, own_mode, key=order.index)
    parent = world.create(f"lead-{parent_mode}")
    child = spawn(world, parent, f"lead-{own_mode}")["session"]
    assert child["permissions"] == expected
    for _ in range(2):
        # Also after the agent was started again.
        world.prompt(child)
        world.post(child, "/stop")
        assert world.refresh(child)["permissions"] == expected
    world.client.request("DELETE", world.path(parent))


@pytest.fixture(scope="module")
def own_world_of_modes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("modes")).start()
    for mode in ("deny-all", "approve-reads", "approve-all"):
        world.agent(f"lead-{mode}", permissions=mode)
    yield world
    world.end()


def test_no_atom_of_a_child_is_wider_than_its_parent(world: World) -> None:
    world.agent("lead", tools="[compozy__session_list, 'mcp__notes__*']", deny_tools="[mcp__notes__delete]")
    world.agent("helper")
    outside = world.folder / "outside"
    outside.mkdir()
    (world.workspace / "link").symlink_to(outside)
    (world.workspace / "inside").mkdir()
    free = world.agent("free")
    servers = world.daemon.home.agents / "free" / "mcp.json"
    servers.write_text('{"mcpServers": {"notes": {"command": "notes-srv"}}}')
    parent = world.create(free)
    for family, atom in (
        ("tools", "compozy__no_such_tool"),
        ("tools", "not a tool id"),
        ("mcp_servers", "other"),
        ("network_channels", "general"),
        ("sandbox_profiles", "wide"),
        ("skills", "unheard-of"),
        ("workspace_paths", str(outside)),
        ("workspace_paths", str(world.workspace / "link")),
        ("workspace_paths", "relative"),
        ("workspace_paths", "/"),
    ):
        assert refused(world, parent, "helper", {family: [atom]}) == (403, "spawn_permission_widening"), (
            family,
            atom,
        )
    allowed = {
        "mcp_servers": ["notes"],
        "tools": ["compozy__session_list"],
        "workspace_paths": [str(world.workspace / "inside")],
    }
    child = spawn(world, parent, "helper", allowed)
    assert child["permissions"] == {**NOTHING, **allowed}
    # A parent with a list of its own hands on what is on the list.
    with_list = _with_tools(world)
    assert refused(world, with_list, "helper", {"tools": ["compozy__agent_list"]}) == (
        403,
        "spawn_permission_widening",
    )
    assert refused(world, with_list, "helper", {"tools": ["compozy__*"]}) == (403, "spawn_permission_widening")
    assert spawn(world, with_list, "helper", {"tools": ["compozy__session_list"]})["session"]["type"] == "spawned"


def _with_tools(world: World) -> dict[str, Any]:
    world.agent(
        "listed", tools="[compozy__session_list, compozy__session_status]", deny_tools="[compozy__session_status]"
    )
    parent = world.create("listed")
    world.agent("helper")
    with pytest.raises(ApiError) as denied:
        spawn(world, parent, "helper", {"tools": ["compozy__session_status"]})
    assert denied.value.status == 403
    return parent


def test_a_child_stays_below_the_paths_it_was_given(world: World) -> None:
    inside = world.workspace / "inside"
    inside.mkdir()
    (inside / "mine.txt").write_text("mine")
    (world.workspace / "yours.txt").write_text("yours")
    world.agent("lead")
    steps = [{"read": str(inside / "mine.txt")}, {"text": "{last};"}, {"read": str(world.workspace / "yours.txt")}]
    world.agent("helper", {"prompts": [[*steps, {"text": "{last} in {cwd}"}]]})
    parent = world.create("lead")
    child = spawn(world, parent, "helper", {"workspace_paths": [str(inside)]})["session"]
    said = world.prompt(child).text
    assert said.startswith("mine;error -32602") and said.endswith(f"in {inside}")


def test_children_are_counted_and_have_none_of_their_own(world: World) -> None:
    world.agent("lead")
    parent = world.create("lead")
    children = [spawn(world, parent, "lead")["session"] for _ in range(5)]
    assert refused(world, parent, "lead") == (409, "spawn_children_exceeded")
    assert refused(world, children[0], "lead") == (409, "spawn_depth_exceeded")
    world.post(children[0], "/stop")
    assert spawn(world, parent, "lead")["session"]["type"] == "spawned"
    world.client.request("DELETE", world.path(parent))


def test_the_same_key_answers_the_first_child(world: World) -> None:
    world.agent("lead")
    parent = world.create("lead")
    first = spawn(world, parent, "lead", idempotency_key="once")["session"]
    again = spawn(world, parent, "lead", idempotency_key="once")["session"]
    assert first["id"] == again["id"]
    assert refused(world, parent, "lead", idempotency_key="once", name="other") == (409, "spawn_idempotency_conflict")


def test_children_end_with_their_parent_unless_told_otherwise(world: World) -> None:
    pid_file = world.folder / "pid"
    world.agent("lead")
    world.agent("helper", {"start": [{"touch": str(pid_file), "content": "{pid}"}]})
    parent = world.create("lead")
    bound = spawn(world, parent, "helper")["session"]
    free = spawn(world, parent, "helper", auto_stop_on_parent=False)["session"]
    world.prompt(bound)
    pid = int(pid_file.read_text())
    world.post(parent, "/stop")
    wait_until(lambda: world.refresh(bound)["state"] == "stopped", "the child ends with its parent")
    assert parent["id"] in world.refresh(bound)["stop_detail"]
    assert world.refresh(free)["state"] == "active"
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the child's agent is gone")
    assert refused(world, parent, "helper") == (403, "identity_stale")


def test_a_childs_time_is_limited(world: World) -> None:
    world.agent("lead")
    parent = world.create("lead")
    child = spawn(world, parent, "lead", ttl_seconds=1)["session"]
    wait_until(lambda: world.refresh(child)["state"] == "stopped", "the child's time is over")
    ended = world.refresh(child)
    assert ended["stop_reason"] == "timeout" and "time to live" in ended["stop_detail"]
    with pytest.raises(ApiError) as over:
        world.post(child, "/prompt", world.prompt_body("more"))
    assert (over.value.status, over.value.code) == (409, "spawn_expired")


def test_only_a_session_that_runs_may_ask_and_only_by_its_own_name(world: World) -> None:
    world.agent("lead")
    parent = world.create("lead")
    body = {"agent_name": "lead", "spawn_role": "r", "ttl_seconds": 1, "permissions": NOTHING}
    for headers, status, code in (
        ({}, 401, "identity_required"),
        ({"X-Compozy-Session-ID": parent["id"]}, 401, "identity_required"),
        ({"X-Compozy-Session-ID": "sess-0000000000000000", "X-Compozy-Agent": "lead"}, 401, "identity_stale"),
        ({"X-Compozy-Session-ID": parent["id"], "X-Compozy-Agent": "other"}, 403, "identity_mismatch"),
    ):
        with pytest.raises(ApiError) as error:
            world.client.request("POST", "/api/agent/spawn", body=body, headers=headers)
        assert (error.value.status, error.value.code) == (status, code)


def test_rules_of_a_spawn_are_said(world: World, tmp_path: Path) -> None:
    world.agent("lead")
    parent = world.create("lead")
    for body, status, code in (
        ({"spawn_role": " "}, 422, "unprocessable"),
        ({"spawn_role": "Coordinator"}, 422, "spawn_role_reserved"),
        ({"ttl_seconds": 0}, 422, "unprocessable"),
        ({"ttl_seconds": 10**12}, 422, "unprocessable"),
        ({"provider": "nobody"}, 422, "provider_unknown"),
        ({"workspace": "elsewhere"}, 403, "spawn_workspace_foreign"),
    ):
        assert refused(world, parent, "lead", **body) == (status, code), body
    assert refused(world, parent, "nobody") == (422, "agent_not_found")
    assert world.client.request("GET", "/api/sessions", query={"parent": parent["id"]}).json()["page"]["total"] == 0  # type: ignore[index]


def test_a_person_may_start_a_child_too_within_the_same_limits(world: World) -> None:
    world.agent("lead", permissions="approve-reads")
    world.agent("helper", permissions="approve-all")
    parent = world.create("lead")
    child = world.create("helper", parent_session_id=parent["id"])
    assert child["type"] == "spawned" and child["permissions"] == "approve-reads"
    assert child["lineage"]["parent_session_id"] == parent["id"]
    assert child["lineage"]["permission_policy"]["workspace_paths"] == [str(world.workspace)]
    assert world.prompt(child).finish == "stop"
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    for body, status in (
        ({"workspace_path": str(elsewhere)}, 404),
        ({"parent_session_id": "sess-0000000000000000"}, 404),
        ({"parent_session_id": child["id"]}, 409),
    ):
        with pytest.raises(ApiError) as error:
            world.create("helper", **{"parent_session_id": parent["id"], **body})
        assert error.value.status == status
