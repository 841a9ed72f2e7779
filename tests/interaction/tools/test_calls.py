"""Calls: approvals by a person, tokens, remembered answers, large results, whose sessions (contract §6.3; D28)."""

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client.errors import ApiError
from tests.kit.daemons import wait_until
from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World

_RENAME = "compozy__session_rename"


CAUTIOUS = '[permissions]\nmode = "approve-reads"\n'


@pytest.fixture
def cautious(tmp_path: Path) -> Iterator[World]:
    """A world whose agents have to ask for what is no plain read."""
    made = World(tmp_path, config=CAUTIOUS).start()
    yield made
    made.end()


def _ask(agent: ToolAgent, decision: str, name: str) -> dict[str, Any]:
    """Let the agent rename its session; answer the question it leads to; return the call's result."""
    world = agent.world
    path = agent.start("tools/call", {"name": _RENAME, "arguments": {"name": name}})
    turn = threading.Thread(target=lambda: _prompt(world, agent))
    turn.start()
    try:
        found: list[dict[str, Any]] = []
        wait_until(
            lambda: found.extend(world.refresh(agent.session)["pending_interactions"]) or found, "a person is asked"
        )
        (asked,) = found
        assert asked["title"].startswith(f'{_RENAME} {{"name":"{name}"}}')
        assert asked["decisions"] == ["allow-once", "allow-always", "reject-once", "reject-always"]
        if decision:
            body = {
                "request_id": asked["provider_request_id"],
                "turn_id": asked["turn_id"],
                "decision": decision,
            }
            world.post(agent.session, "/approve", body)
    finally:
        turn.join(60)
    result: dict[str, Any] = json.loads(path.read_text())["result"]
    return result


def _prompt(world: World, agent: ToolAgent) -> None:
    with (
        world.daemon.client() as client,
        client.stream("POST", world.path(agent.session, "/prompt"), body=world.prompt_body(agent.text)) as stream,
    ):
        for _ in stream:
            pass


def test_a_person_allows_one_call_and_is_asked_again_for_the_next(cautious: World) -> None:
    agent = ToolAgent(cautious)
    assert agent.structured("compozy__session_status")["state"] == "active", "a read is not asked for"
    assert not _ask(agent, "allow-once", "first").get("isError")
    assert cautious.refresh(agent.session)["name"] == "first"
    refused = _ask(agent, "reject-once", "second")
    assert refused["isError"] and "a person rejected it" in refused["content"][0]["text"]
    assert cautious.refresh(agent.session)["name"] == "first"


def test_nobody_in_time_means_no(tmp_path: Path) -> None:
    world = World(tmp_path, config=f"{CAUTIOUS}[tools.policy]\napproval_timeout_seconds = 3\n").start()
    try:
        refused = _ask(ToolAgent(world), "", "late")
    finally:
        world.end()
    assert refused["isError"] and "approval_timed_out" in refused["content"][0]["text"]


def test_always_is_remembered_for_exactly_that_input_and_can_be_revoked(cautious: World) -> None:
    agent = ToolAgent(cautious)
    assert not _ask(agent, "allow-always", "kept").get("isError")
    assert not agent.call(_RENAME, name="kept").get("isError"), "nobody is asked for the same call"
    workspace = agent.session["workspace_id"]
    query = {"workspace_id": workspace}
    (grant,) = cautious.client.request("GET", "/api/tool-approval-grants", query=query).json()["grants"]
    assert (grant["tool_id"], grant["agent_name"], grant["decision"]) == (_RENAME, "tooled", "allow")
    assert grant["input_digest"].startswith("sha256:")
    refused = _ask(agent, "reject-always", "never")
    assert refused["isError"]
    again = agent.call(_RENAME, name="never")
    assert again["isError"] and "a remembered answer rejects it" in again["content"][0]["text"]
    cautious.client.request("DELETE", f"/api/tool-approval-grants/{grant['id']}", query=query)
    assert _ask(agent, "reject-once", "kept")["isError"], "asked again"
    with pytest.raises(ApiError) as gone:
        cautious.client.request("DELETE", f"/api/tool-approval-grants/{grant['id']}", query=query)
    assert gone.value.status == 404


def test_a_grant_for_an_agent_spares_the_question_and_a_rejection_holds_in_any_mode(cautious: World) -> None:
    agent = ToolAgent(cautious)
    query = {"workspace_id": agent.session["workspace_id"]}
    body = {"tool_id": _RENAME, "decision": "allow", "scope": "agent", "agent_name": "tooled"}
    cautious.client.request("PUT", "/api/tool-approval-grants", query=query, body=body)
    assert not agent.call(_RENAME, name="any").get("isError")
    body = {"tool_id": "compozy__session_list", "decision": "reject", "scope": "tool"}
    cautious.client.request("PUT", "/api/tool-approval-grants", query=query, body=body)
    assert agent.call("compozy__session_list")["isError"]
    assert "compozy__session_list" not in agent.tools()


def _invoke(world: World, tool: str, **body: object) -> tuple[int, dict[str, Any]]:
    try:
        answer = world.client.request("POST", f"/api/tools/{tool}/invoke", body=body)
    except ApiError as error:
        return error.status, error.envelope
    return answer.status, answer.json()  # type: ignore[return-value]


def test_an_operator_allows_one_call_of_a_session_with_a_token_that_is_good_once(cautious: World) -> None:
    cautious.agent("plain", {})
    session = cautious.create("plain")
    call = {"input": {"name": "by token"}, "session_id": session["id"]}
    status, refused = _invoke(cautious, _RENAME, **call)
    assert (status, refused["error"]["code"]) == (202, "tool_approval_required")
    wanted = {"input": call["input"], "session_id": session["id"]}
    given = cautious.client.request("POST", f"/api/tools/{_RENAME}/approvals", body=wanted)
    token = given.json()["approval"]["approval_token"]
    assert (
        given.status == 201
        and given.json()["approval"]["input_digest"] == refused["error"]["details"]["input_digest"]
    )
    status, other = _invoke(cautious, _RENAME, **{**call, "input": {"name": "else"}}, approval_token=token)
    assert (status, other["error"]["reason_codes"]) == (403, ["approval_token_mismatch"])
    status, done = _invoke(cautious, _RENAME, **call, approval_token=token)
    assert (status, done["status"]) == (200, "completed")
    assert [event["kind"] for event in done["events"]] == ["tool.call_started", "tool.call_completed"]
    assert cautious.refresh(session)["name"] == "by token"
    status, again = _invoke(cautious, _RENAME, **call, approval_token=token)
    assert (status, again["error"]["reason_codes"]) == (403, ["approval_token_replayed"])


@pytest.mark.parametrize(
    ("tool", "body", "status", "code"),
    [
        ("compozy__nothing", {}, 404, "tool_not_found"),
        ("compozy__tool_search", {"input": {"query": 3}}, 400, "tool_invalid_input"),
        ("compozy__tool_search", {"input": {"query": "x", "extra": 1}}, 400, "tool_invalid_input"),
        ("compozy__tool_search", {"input": [1]}, 400, "tool_invalid_input"),
        ("compozy__session_stop", {"input": {"session_id": "sess-none"}}, 404, "tool_not_found"),
    ],
)
def test_a_call_that_cannot_be_has_its_status_and_code(
    world: World, tool: str, body: dict[str, object], status: int, code: str
) -> None:
    found, refused = _invoke(world, tool, **body)
    assert (found, refused["error"]["code"]) == (status, code)


def test_a_large_result_is_kept_and_read_in_pages_by_the_agent(tmp_path: Path) -> None:
    world = World(tmp_path, config="[tools]\ndefault_max_result_bytes = 2000\n").start()
    try:
        agent = ToolAgent(world)
        skill = world.workspace / ".compozy" / "skills" / "long"
        skill.mkdir(parents=True)
        body = "".join(f"Step {number}.\n" for number in range(500))
        (skill / "SKILL.md").write_text(f"---\nname: long\ndescription: many steps\n---\n{body}")
        result = agent.call("compozy__skill_view", name="long")
        (artifact,) = result["_meta"]["compozy/artifacts"]
        assert artifact["uri"].startswith("compozy-artifact:art_") and artifact["uri"] in result["content"][0]["text"]
        pages, offset = b"", 0
        while True:
            status, done = _invoke(
                world,
                "compozy__tool_artifact_read",
                input={"artifact_id": artifact["uri"], "offset": offset, "limit": 1000},
                session_id=agent.session["id"],
            )
            page = done["result"]["structured"]
            pages += base64.b64decode(page["data_base64"])
            offset = page["next_offset"]
            if page["eof"]:
                break
        assert status == 200 and json.loads(pages)["content"].endswith("Step 499.")
        path = f"/api/workspaces/{agent.session['workspace_id']}/tool-artifacts/{artifact['uri'].split(':')[1]}"
        assert world.client.request("GET", path).json()["total_bytes"] == len(pages)
        (world.daemon.home.root / "tool-artifacts" / agent.session["workspace_id"]).rename(tmp_path / "moved")
        (world.daemon.home.root / "tool-artifacts" / agent.session["workspace_id"]).write_text("in the way")
        refused = agent.call("compozy__skill_view", name="long")
        assert refused["isError"] and "result_persistence_failed" in refused["content"][0]["text"]
        status, lost = _invoke(world, "compozy__skill_view", input={"name": "long"}, session_id=agent.session["id"])
        assert (status, lost["error"]["code"]) == (507, "tool_result_persistence_failed")
    finally:
        world.end()


def test_a_session_changes_only_itself_and_its_own_children(world: World) -> None:
    agent = ToolAgent(world)
    world.agent("other", {})
    other = world.create("other")
    assert agent.structured("compozy__session_describe", session_id=other["id"])["session"]["id"] == other["id"]
    for tool, arguments in (
        ("compozy__session_stop", {}),
        ("compozy__session_prompt", {"message": "go"}),
        ("compozy__session_rename", {"name": "mine"}),
        ("compozy__session_prompt_cancel", {}),
    ):
        refused = agent.call(tool, session_id=other["id"], **arguments)
        assert refused["isError"] and "was not started by this session" in refused["content"][0]["text"], tool
    assert not agent.call("compozy__session_rename", name="mine").get("isError")
    own = agent.call(
        "compozy__session_approve", session_id=agent.session["id"], request_id="x", decision="allow-once"
    )
    assert own["isError"] and "does not answer its own" in own["content"][0]["text"]
    assert agent.call("compozy__session_wait", session_id=agent.session["id"])["isError"]


def test_a_session_of_another_workspace_is_out_of_sight(world: World, tmp_path: Path) -> None:
    agent = ToolAgent(world)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    world.agent("other", {})
    body = {"agent_name": "other", "workspace_path": str(elsewhere)}
    other = world.client.request("POST", "/api/sessions", body=body).json()["session"]
    refused = agent.call("compozy__session_describe", session_id=other["id"])
    assert refused["isError"] and "does not exist" in refused["content"][0]["text"]


def test_other_workspaces_are_open_to_approve_all_and_asked_for_otherwise(cautious: World, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    open_agent = ToolAgent(cautious, "open", permissions="approve-all")
    cautious.client.request("POST", "/api/workspaces", body={"root_dir": str(elsewhere)})
    found = open_agent.structured("compozy__workspace_info", workspace=str(elsewhere))
    assert found["workspace"]["root_dir"] == str(elsewhere)
    closed = ToolAgent(cautious, "closed")
    path = closed.start("tools/call", {"name": "compozy__workspace_info", "arguments": {"workspace": str(elsewhere)}})
    turn = threading.Thread(target=lambda: _prompt(cautious, closed))
    turn.start()
    try:
        wait_until(lambda: cautious.refresh(closed.session)["pending_interactions"], "a person is asked")
        (asked,) = cautious.refresh(closed.session)["pending_interactions"]
        assert "look into workspace" in asked["title"]
        body = {"request_id": asked["provider_request_id"], "turn_id": asked["turn_id"], "decision": "reject-once"}
        cautious.post(closed.session, "/approve", body)
    finally:
        turn.join(60)
    assert "workspace_access_denied" in path.read_text()


def test_an_agent_finds_agents_and_skills_and_creates_an_agent(world: World) -> None:
    skill = world.workspace / ".compozy" / "skills" / "release"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: release\ndescription: how to cut a release\n---\nTag it.\n")
    (skill / "notes.md").write_text("see the log")
    agent = ToolAgent(world)
    listed = agent.structured("compozy__skill_list")["skills"]
    assert [(row["name"], row["source"]) for row in listed] == [("release", "workspace")]
    assert agent.structured("compozy__skill_search", query="cutting releases")["skills"][0]["name"] == "release"
    viewed = agent.structured("compozy__skill_view", name="release")
    assert viewed["content"] == "Tag it." and viewed["files"] == ["notes.md"]
    assert agent.structured("compozy__skill_view", name="release", file="notes.md")["content"] == "see the log"
    for outside in ("../../../secret", "/etc/passwd"):
        assert agent.call("compozy__skill_view", name="release", file=outside)["isError"]
    made = agent.structured("compozy__agent_create", scope="workspace", name="helper", prompt="Help with releases.")
    assert made["agent"]["name"] == "helper"
    assert "helper" in [row["name"] for row in agent.structured("compozy__agent_list")["agents"]]
    described = agent.structured("compozy__workspace_describe")
    assert "helper" in described["agents"] and described["skills"] == ["release"]
    assert agent.structured("compozy__agent_select", task="help with releases")["reason"]


def test_a_session_starts_prompts_waits_for_and_stops_its_children(world: World) -> None:
    agent = ToolAgent(
        world, "leader", tools="[compozy__session_*, compozy__tool_*]", deny_tools="[compozy__session_events]"
    )
    world.agent("follower", {"prompts": [[{"text": "done as told"}]]})
    child = agent.structured("compozy__session_create", agent="follower", name="errand")["session"]
    assert child["type"] == "spawned" and child["lineage"]["parent_session_id"] == agent.session["id"]
    prompted = agent.structured("compozy__session_prompt", session_id=child["id"], message="do the errand")
    assert prompted["status"] == "accepted"
    waited = agent.structured("compozy__session_wait", session_id=child["id"], timeout_seconds=60)
    assert waited["outcome"] == "state-reached"
    assert "done as told" in json.dumps(agent.structured("compozy__session_history", session_id=child["id"]))
    allowed = {
        view["descriptor"]["tool_id"] for view in world.get(child, "/tools")["tools"] if view["decision"]["callable"]
    }
    assert "compozy__session_list" in allowed
    assert not allowed & {"compozy__session_events", "compozy__agent_list"}, "never more than its parent"
    assert agent.structured("compozy__session_stop", session_id=child["id"])["stopped"] is True
    assert world.refresh(child)["state"] == "stopped"


def test_a_spawned_child_has_exactly_what_was_named_and_a_wider_one_is_refused(world: World) -> None:
    agent = ToolAgent(world, "careful", tools="[compozy__session_*, compozy__tool_list]")
    world.agent("follower", {})
    call = {"agent": "follower", "role": "helper", "ttl_seconds": 60, "tools": ["compozy__session_list"]}
    child = agent.structured("compozy__session_spawn", **call)["spawn"]["session"]
    seen = {view["descriptor"]["tool_id"]: view["decision"] for view in world.get(child, "/tools")["tools"]}
    assert [tool for tool, decision in seen.items() if decision["callable"]] == ["compozy__session_list"]
    assert seen["compozy__tool_list"]["reason_codes"] == ["session_denied"]
    wider = agent.call("compozy__session_spawn", **{**call, "tools": ["compozy__agent_list"]})
    assert wider["isError"] and "compozy__agent_list" in wider["content"][0]["text"]


def test_an_agent_asks_its_person_and_gets_the_answer(world: World) -> None:
    agent = ToolAgent(world)
    call = {"name": "compozy__clarify_ask", "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}}
    path = agent.start("tools/call", call)
    turn = threading.Thread(target=lambda: _prompt(world, agent))
    turn.start()
    try:
        wait_until(lambda: world.refresh(agent.session)["pending_interactions"], "a person is asked")
        (asked,) = world.refresh(agent.session)["pending_interactions"]
        assert (asked["kind"], asked["title"], asked["choices"]) == ("clarify", "Which colour?", ["red", "blue"])
        world.post(agent.session, f"/clarifications/{asked['provider_request_id']}/answer", {"choice_index": 1})
    finally:
        turn.join(60)
    answer = json.loads(path.read_text())["result"]["structuredContent"]
    assert answer == {"choice": 1, "text": "blue", "fallback": False}


def test_a_childs_runtime_and_health_are_its_parents_business_and_no_strangers(world: World) -> None:
    agent = ToolAgent(world)
    world.agent("follower", {"config_options": [], "models": ["small", "large"]})
    child = agent.structured("compozy__session_create", agent="follower")["session"]
    assert agent.structured("compozy__session_health", session_id=child["id"])["health"]["state"] == "detached"
    call = {"session_id": child["id"], "provider": "offline"}
    chosen = agent.structured("compozy__session_runtime_set", **call)["runtime"]
    assert chosen["selected"]["provider"] == "offline"
    cleared = agent.structured("compozy__session_runtime_clear", session_id=child["id"])["runtime"]
    assert "selected" not in cleared
    stranger = world.create("follower")
    refused = agent.call("compozy__session_runtime_set", **{**call, "session_id": stranger["id"]})
    assert refused["isError"] and "was not started by this session" in refused["content"][0]["text"]
