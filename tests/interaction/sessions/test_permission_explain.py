"""What is explained is what happens: the same table, the same roots, the same mode; and questions of children."""

from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.sessions import World

MODES = ("deny-all", "approve-reads", "approve-all")
# What an agent does, the way to explain it, and how its own words tell that it was let.
DEEDS: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "read": ({"read": "{cwd}/there.txt"}, {"tool": "fs/read_text_file", "paths": ["there.txt"]}),
    "write": ({"write": "{cwd}/made.txt", "content": "x"}, {"tool": "fs/write_text_file", "paths": ["made.txt"]}),
    "terminal": ({"terminal": ["true"]}, {"tool": "terminal/create"}),
    "outside": ({"read": "/etc/hostname"}, {"tool": "fs/read_text_file", "paths": ["/etc/hostname"]}),
    "link": ({"read": "{cwd}/link"}, {"tool": "fs/read_text_file", "paths": ["link"]}),
}


def _explain(world: World, **body: object) -> dict[str, Any]:
    answer = world.client.request("POST", "/api/permissions/explain", body=body).json()
    assert isinstance(answer, dict)
    found: dict[str, Any] = answer["explanation"]
    return found


@pytest.mark.parametrize("mode", MODES)
def test_what_is_explained_for_an_agent_is_what_its_session_does(world: World, mode: str) -> None:
    (world.workspace / "there.txt").write_text("there")
    (world.workspace / "link").symlink_to("/etc/hostname")
    steps: list[dict[str, object]] = []
    for deed, _ in DEEDS.values():
        steps += [deed, {"text": "[{last}]"}]
    world.agent("doer", {"prompts": [steps]}, permissions=mode)
    session = world.create("doer")
    said = world.prompt(session).text.split("][")
    assert len(said) == len(DEEDS)
    for words, (_, question) in zip(said, DEEDS.values(), strict=True):
        told = _explain(world, agent="doer", workspace=session["workspace_id"], **question)
        assert (told["verdict"] == "allow-once") is ("error -32602" not in words), (question, words, told)
        of_session = _explain(world, session_id=session["id"], **question)
        assert (told["layers"], told["mode"]) == (of_session["layers"], of_session["mode"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["read", "search", "edit"])
def test_what_is_explained_for_a_question_is_how_it_is_decided(world: World, mode: str, kind: str) -> None:
    ask = {"permission": {"toolCallId": "c", "kind": kind, "title": "do it"}}
    world.agent("asker", {"prompts": [[ask]]}, permissions=mode)
    session = world.create("asker")
    told = _explain(world, session_id=session["id"], tool="Grep", kind=kind)
    frames = world.frames(session)
    decided = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    assert told["verdict"] == decided["data"].get("decision", "ask")
    assert (told.get("answer_seconds", 0) == 300) is (told["verdict"] == "ask")
    if told["verdict"] == "ask":
        world.post(session, "/prompt/cancel")
    assert [f for f in frames if f is not None][-1]["type"] == "finish"


def test_the_derivation_names_every_source(world: World) -> None:
    world.agent("ann", permissions="approve-all")
    world.agent("bob")
    workspace = world.create("ann")["workspace_id"]
    narrowed = _explain(world, agent="ann", workspace=workspace, tool="write", permissions="deny-all")
    assert [(step["source"], step["effect"], step["mode"]) for step in narrowed["mode"]["steps"]] == [
        ("agent", "sets", "approve-all"),
        ("request", "narrows", "deny-all"),
    ]
    inherited = _explain(world, agent="bob", workspace=workspace, tool="write")
    assert inherited["mode"]["source"] == "settings" and inherited["definition_path"].endswith("bob/AGENT.md")
    assert {other["mode"]: other["verdict"] for other in narrowed["other_modes"]} == {
        "approve-reads": "reject-once",
        "approve-all": "allow-once",
    }


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"agent": "ann", "session_id": "sess-1"}, 400),
        ({"agent": "ann"}, 400),
        ({"session_id": "sess-0000000000000000"}, 404),
        ({"agent": "nobody-here", "workspace_path": "/"}, 404),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(world: World, body: dict[str, object], status: int) -> None:
    with pytest.raises(ApiError) as refused:
        _explain(world, **body)
    assert refused.value.status == status


def test_a_childs_question_is_listed_with_both_ids_and_answered_from_its_parent(world: World) -> None:
    ask = {"permission": {"toolCallId": "c", "kind": "edit", "title": "write"}, "then": [{"text": "wrote"}]}
    world.agent("asker", {"prompts": [[ask]]}, permissions="approve-reads")
    parent = world.create("asker")
    child = world.create("asker", parent_session_id=parent["id"])
    frames = world.frames(child)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    answer = world.client.request("GET", "/api/attention", query={"root": parent["id"]}).json()
    assert isinstance(answer, dict)
    (item,) = answer["items"]
    assert (item["session_id"], item["parent_session_id"]) == (child["id"], parent["id"])
    assert item["default_decision"] == "reject-once" and item["expires_at"]
    listed = world.get(parent, "/interactions", status="pending", include_children="true")["interactions"]
    assert [(found["session_id"], found["provider_request_id"]) for found in listed] == [(child["id"], asked["id"])]
    body = {"request_id": asked["id"], "turn_id": asked["data"]["turn_id"], "decision": "allow-once"}
    applied = world.post(parent, "/approve", body).json()
    assert isinstance(applied, dict) and applied["outcome"] == "applied"
    assert "".join(f["delta"] for f in frames if f is not None and f["type"] == "text-delta") == "wrote"
