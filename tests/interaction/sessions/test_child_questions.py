"""A question of a child session reaches whoever may answer it, with the ids of child and parent (P43)."""

from tests.interaction.sessions.test_spawn import spawn
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

ASK = {
    "permission": {"toolCallId": "c1", "title": "write notes", "kind": "edit", "locations": [{"path": "notes.txt"}]},
    "then": [{"text": "allowed"}],
    "else": [{"text": "refused"}],
}


def test_a_childs_question_is_listed_with_both_ids_and_answered_from_anywhere(own_world: World) -> None:
    world = own_world
    world.agent("lead", permissions="approve-reads")
    world.agent("helper", {"prompts": [[ASK]]}, permissions="approve-reads")
    parent = world.create("lead")
    child = spawn(world, parent, "helper")["session"]
    frames = world.frames(child)
    next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    listed = world.client.request("GET", "/api/attention").json()
    assert isinstance(listed, dict)
    (item,) = listed["items"]
    assert item["session_id"] == child["id"]
    assert item["parent_session_id"] == item["root_session_id"] == parent["id"]
    assert item["expires_at"] and item["default_decision"] == "reject-once"
    answer = {"decision": "allow-once"}
    world.client.request("POST", f"/api/attention/{item['id']}/answer", body=answer)
    assert [f["delta"] for f in frames if f is not None and f["type"] == "text-delta"] == ["allowed"]


def test_a_childs_question_is_withdrawn_when_its_parent_stops(own_world: World) -> None:
    world = own_world
    world.agent("lead", {"prompts": [[{"text": "x"}]]}, permissions="approve-reads")
    world.agent("helper", {"prompts": [[ASK]]}, permissions="approve-reads")
    parent = world.create("lead")
    child = spawn(world, parent, "helper")["session"]
    frames = world.frames(child)
    next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    world.post(parent, "/stop")
    assert [f for f in frames if f is not None][-1]["type"] == "finish", "the turn of the child ends"
    wait_until(lambda: world.refresh(child)["state"] == "stopped", "the child stops")
    listed = world.client.request("GET", "/api/attention").json()
    assert isinstance(listed, dict) and listed["items"] == []
