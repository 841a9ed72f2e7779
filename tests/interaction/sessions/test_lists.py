"""Workspaces, agents and the list of sessions over the real daemon."""

import pytest

from compozy.client import ApiError
from tests.kit.sessions import World

CAPABILITIES = """[[capabilities]]
id = "prune-roses"
summary = "Prune roses in winter"
outcome = "Pruned roses"
"""


def test_a_workspaces_detail_names_its_agents_and_sessions(own_world: World) -> None:
    world = own_world
    world.agent("ann")
    session = world.create("ann")
    detail = world.client.request("GET", f"/api/workspaces/{session['workspace_id']}").json()
    assert isinstance(detail, dict)
    assert detail["workspace"]["root_dir"] == str(world.workspace)
    assert "ann" in [agent["name"] for agent in detail["agents"]]
    assert [found["id"] for found in detail["sessions"]] == [session["id"]]
    assert "offline" in [provider["name"] for provider in detail["providers"]]


def test_a_workspace_with_a_session_is_not_forgotten(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    path = f"/api/workspaces/{session['workspace_id']}"
    with pytest.raises(ApiError) as refused:
        world.client.request("DELETE", path)
    assert refused.value.status == 409
    world.post(session, "/stop")
    assert world.client.request("DELETE", path).status == 204


def test_agents_come_with_capabilities_runtime_and_the_places_looked_at(own_world: World) -> None:
    world = own_world
    world.agent("gardener")
    (world.daemon.home.agents / "gardener" / "capabilities.toml").write_text(CAPABILITIES)
    broken = world.daemon.home.agents / "broken"
    broken.mkdir()
    (broken / "AGENT.md").write_text("no header")
    answer = world.client.request("GET", "/api/agents").json()
    assert isinstance(answer, dict)
    rows = {agent["name"]: agent for agent in answer["agents"]}
    assert list(rows) == sorted(rows)
    gardener = rows["gardener"]
    assert gardener["capabilities"][0]["id"] == "prune-roses"
    assert gardener["capabilities"][0]["digest"].startswith("sha256:")
    assert gardener["effective_runtime"]["provider"] == "offline"
    assert gardener["effective_runtime"]["sources"]["provider"] == "project_default"
    assert gardener["provider"] == "" and gardener["origin"] == "global"
    assert rows["broken"]["diagnostics"][0]["error_kind"] == "frontmatter.missing"
    assert rows["broken"]["definition_digest"] == ""
    assert [source["state"] for source in answer["sources"]] == ["ok"]
    one = world.client.request("GET", "/api/agents/gardener").json()
    assert isinstance(one, dict) and one["agent"] == gardener
    with pytest.raises(ApiError) as missing:
        world.client.request("GET", "/api/agents/nobody")
    assert missing.value.status == 404


def test_a_task_finds_its_agent(own_world: World) -> None:
    world = own_world
    world.agent("gardener")
    (world.daemon.home.agents / "gardener" / "capabilities.toml").write_text(CAPABILITIES)
    found = world.client.request("POST", "/api/agents/select", body={"task": "prune the roses"}).json()
    assert isinstance(found, dict) and found["agent"] == "gardener" and found["candidates"][0]["reasons"]
    none = world.client.request("POST", "/api/agents/select", body={"task": "sail to Malta"}).json()
    assert isinstance(none, dict) and none["agent"] == "general" and none["reason"].startswith("none of")


def test_a_session_keeps_its_definition_digest_when_the_file_changes(world: World) -> None:
    world.agent("ann")
    first = world.create("ann")
    path = world.daemon.home.agents / "ann" / "AGENT.md"
    path.write_text(path.read_text() + "And more.\n")
    second = world.create("ann")
    assert first["definition_digest"] != second["definition_digest"]
    assert world.refresh(first)["definition_digest"] == first["definition_digest"]


def test_sessions_are_listed_by_page_and_filter(world: World) -> None:
    world.agent("ann")
    created = [world.create("ann", name=f"n{number}")["id"] for number in range(5)]
    seen: list[str] = []
    cursor = ""
    workspace = world.create("ann")["workspace_id"]
    while True:
        query = {"workspace": workspace, "limit": "2", **({"cursor": cursor} if cursor else {})}
        page = world.client.request("GET", "/api/sessions", query=query).json()
        assert isinstance(page, dict)
        seen.extend(session["id"] for session in page["sessions"])
        assert page["page"]["total"] == 6
        cursor = page["page"].get("next_cursor", "")
        if not page["page"]["has_more"]:
            break
    assert len(seen) == len(set(seen)) == 6 and set(created) < set(seen)
    found = world.client.request("GET", "/api/sessions", query={"workspace": workspace, "q": "n3"}).json()
    assert isinstance(found, dict) and [session["name"] for session in found["sessions"]] == ["n3"]


@pytest.mark.parametrize(
    "query", [{"limit": "0"}, {"limit": "ten"}, {"cursor": "abc"}, {"state": "asleep"}, {"sort": "size"}]
)
def test_a_list_that_cannot_be_understood_is_refused(world: World, query: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        world.client.request("GET", "/api/sessions", query=query)
    assert refused.value.status == 400 and next(iter(query)) in str(refused.value)


def test_a_cursor_of_another_list_is_refused(world: World) -> None:
    world.agent("ann")
    for _ in range(2):
        world.create("ann")
    page = world.client.request("GET", "/api/sessions", query={"limit": "1"}).json()
    assert isinstance(page, dict)
    query = {"limit": "1", "agent": "ann", "cursor": page["page"]["next_cursor"]}
    with pytest.raises(ApiError) as refused:
        world.client.request("GET", "/api/sessions", query=query)
    assert refused.value.status == 400


def test_only_stopped_sessions_are_archived_and_then_read_only(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    with pytest.raises(ApiError) as refused:
        world.post(session, "/archive")
    assert refused.value.status == 409
    world.post(session, "/stop")
    archived = world.post(session, "/archive").json()
    assert isinstance(archived, dict) and archived["session"]["archived_at"]
    with pytest.raises(ApiError) as busy:
        world.post(session, "/prompt", world.prompt_body("go"))
    assert busy.value.status == 409
    back = world.post(session, "/unarchive").json()
    assert isinstance(back, dict) and back["session"]["archived_at"] is None


def test_a_session_is_renamed_and_deleted(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    renamed = world.client.request("PATCH", world.path(session), body={"name": "new"}).json()
    assert isinstance(renamed, dict) and renamed["session"]["name"] == "new"
    owner = world.client.request("GET", f"/api/sessions/{session['id']}/owner").json()
    assert isinstance(owner, dict) and owner["workspace_id"] == session["workspace_id"]
    assert world.client.request("DELETE", world.path(session)).status == 204
    with pytest.raises(ApiError) as gone:
        world.refresh(session)
    assert gone.value.status == 404


def _listed(world: World, **query: str) -> list[str]:
    workspace = world.client.request("POST", "/api/workspaces/resolve", body={"path": str(world.workspace)}).json()
    assert isinstance(workspace, dict)
    asked = {"workspace": workspace["workspace"]["id"], **query}
    page = world.client.request("GET", "/api/sessions", query=asked).json()
    assert isinstance(page, dict) and page["page"]["total"] == len(page["sessions"])
    return [session["id"] for session in page["sessions"]]


def test_sessions_are_found_by_badge_by_attention_and_by_what_can_go_on(world: World) -> None:
    ask = {"permission": {"toolCallId": "c", "title": "write", "kind": "edit"}}
    world.agent("asker", {"prompts": [[ask]]}, permissions="approve-reads")
    world.agent("dier", {"prompts": [[{"exit": 3}]]})
    idle, asking, dead, stopped = (world.create(name) for name in ("asker", "asker", "dier", "asker"))
    frames = world.frames(asking)
    next(frame for frame in frames if frame is not None and frame["type"] == "data-compozy-permission")
    world.prompt(dead)
    world.post(stopped, "/stop")
    assert _listed(world, badge="waiting-for-auth") == [asking["id"]]
    assert _listed(world, badge="idle,stopped", sort="recent") == [stopped["id"], idle["id"]]
    assert set(_listed(world, attention="true")) == {asking["id"], dead["id"]}
    assert set(_listed(world, resumable="true")) == {dead["id"], stopped["id"]}
    assert set(_listed(world, resumable="false")) == {idle["id"], asking["id"]}
    assert _listed(world, worktree="wt-1") == []
    with pytest.raises(ApiError) as refused:
        world.client.request("GET", "/api/sessions", query={"badge": "sleepy"})
    assert refused.value.status == 400 and "sleepy" in str(refused.value)
    world.post(asking, "/prompt/cancel")
    assert [frame for frame in frames if frame is not None][-1]["type"] == "finish"


def test_a_list_may_carry_the_health_of_each_session(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    assert "health" not in world.refresh(session)
    detached = world.get(session, include_health="true")["session"]["health"]
    assert detached["state"] == "detached" and detached["health"] == "unknown"
    world.prompt(session)
    well = world.get(session, include_health="true")["session"]["health"]
    assert (well["state"], well["health"], well["eligible_for_wake"]) == ("idle", "healthy", True)
