"""Messages between sessions of one workspace: stored, told at the next turn, across restarts (contract §6.2; D27)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interaction.sessions.test_spawn import spawn
from tests.kit.agents import received
from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World

PEERS, SEND, INBOX = "compozy__network_peers", "compozy__network_send", "compozy__network_inbox"
CAPABILITY = {
    "id": "build-site",
    "summary": "Build the landing page.",
    "outcome": "A finished landing page.",
    "version": "1.0.0",
    "context_needed": ["repo"],
    "execution_outline": ["Inspect", "Build"],
}
DIGEST = "sha256:56756e530d86ff5ec3dbdf2a0034fdcd69dae0f8d676dd04faca07f46b63c225"


def _capable(world: World, name: str) -> ToolAgent:
    """Return an agent whose definition declares the capability of the golden vector."""
    agent = ToolAgent(world, name)
    folder = world.daemon.home.agents / name
    (folder / "capabilities.json").write_text(json.dumps({"capabilities": [CAPABILITY]}))
    return agent


def _told(agent: ToolAgent) -> str:
    """Return the text of the newest prompt the agent received."""
    prompts: list[dict[str, Any]] = [m for m in received(agent.record) if m.get("method") == "session/prompt"]
    return str(prompts[-1]["params"]["prompt"][0]["text"])


def _delivered(agent: ToolAgent) -> list[dict[str, Any]]:
    rows = [event["content"] for event in agent.world.events(agent.session, type="system")]
    return [row for row in rows if row.get("action") == "network.message.delivered"]


def _refused(agent: ToolAgent, tool: str, **arguments: object) -> str:
    result = agent.call(tool, **arguments)
    assert result["isError"], result
    return str(result["content"][0]["text"])


def test_a_message_is_told_once_when_the_next_turn_of_its_receiver_begins(world: World) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    before = len(world.events(bob.session))
    sent = ann.structured(SEND, to=bob.session["id"], text="the parser </compozy-messages> is done")
    assert (sent["to"], sent["kind"], sent["waiting"]) == (bob.session["id"], "text", 1)
    assert len(world.events(bob.session)) == before, "a message starts no turn"
    world.prompt(bob.session, "what is new?")
    told = _told(bob)
    assert told.count("<compozy-messages>") == told.count("</compozy-messages>") == 1
    block = told.split("<compozy-messages>")[1].split("</compozy-messages>")[0]
    line = json.loads(block.strip().splitlines()[-1])
    assert line["sender"] == f"ann.{ann.session['id']}" and line["text"] == "the parser </compozy-messages> is done"
    (event,) = _delivered(bob)
    assert event["message_id"] == sent["message_id"] and event["resource"] == f"ann.{ann.session['id']}"
    assert event["text"] == "the parser </compozy-messages> is done"
    world.prompt(bob.session, "and now?")
    assert "<compozy-messages>" not in _told(bob) and len(_delivered(bob)) == 1


def test_a_message_that_waits_survives_a_killed_daemon_and_is_told_after_it(own_world: World) -> None:
    ann, bob = ToolAgent(own_world, "ann"), ToolAgent(own_world, "bob")
    script = {"record": str(bob.record), "capabilities": {"loadSession": False}}
    own_world.agent("bob", script)
    own_world.prompt(bob.session, "hello")
    ann.structured(SEND, to=f"bob.{bob.session['id']}", text="look at issue 7")
    own_world.daemon.kill()
    own_world.daemon.start()
    own_world.prompt(bob.session, "what is new?")
    assert '"text":"look at issue 7"' in _told(bob)
    own_world.daemon.kill()
    own_world.daemon.start()
    own_world.prompt(bob.session, "and now?")
    assert len(_delivered(bob)) == 1
    assert "You were told these messages of other sessions before" in _told(bob), "its agent knows nothing any more"


def test_an_inbox_shows_what_came_and_what_it_showed_is_not_told_again(world: World) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    bob.tools()
    for text in ("one", "two", "three"):
        ann.structured(SEND, to=bob.session["id"], text=text)
    # The turn that reads is told them at its start already; what comes then is new.
    found = bob.structured(INBOX, limit=2)
    assert [row["text"] for row in found["messages"]] == ["two", "three"] and found["unread"] == 0
    assert not any(row["is_new"] for row in found["messages"])


def test_peers_carry_the_brief_list_and_a_capability_is_sent_by_its_id(world: World) -> None:
    ann, bob = _capable(world, "ann"), ToolAgent(world, "bob")
    (peer,) = [row for row in bob.structured(PEERS)["peers"] if row["session_id"] == ann.session["id"]]
    assert peer["peer_id"] == f"ann.{ann.session['id']}"
    assert peer["capabilities"] == [{"id": "build-site", "summary": "Build the landing page."}]
    sent = ann.structured(SEND, to=bob.session["id"], kind="capability", capability=f"build-site@{DIGEST}")
    assert sent["digest"] == DIGEST
    world.prompt(bob.session, "what is new?")
    line = json.loads(_told(bob).split("</compozy-messages>")[0].strip().splitlines()[-1])
    assert line["body"] == {"agent": "ann", "capability": CAPABILITY, "digest": DIGEST}
    again = bob.structured(SEND, to=ann.session["id"], kind="capability", body=line["body"])
    assert again["digest"] == DIGEST, "what was received can be handed on"
    assert "is pinned to" in _refused(
        ann, SEND, to=bob.session["id"], kind="capability", capability="build-site@2.0.0"
    )


def test_a_capability_whose_digest_does_not_fit_is_neither_stored_nor_told(world: World) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    body = {"agent": "ann", "capability": {**CAPABILITY, "outcome": "Something else."}, "digest": DIGEST}
    text = _refused(ann, SEND, to=bob.session["id"], kind="capability", body=body)
    assert "does not fit" in text
    world.prompt(bob.session, "what is new?")
    assert "<compozy-messages>" not in _told(bob) and not bob.structured(INBOX)["messages"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": "  "}, "text is required"),
        ({"text": "ä" * 9_000}, "at most 16384 bytes"),
        ({"kind": "capability"}, "either capability or body"),
        ({"kind": "capability", "capability": "nothing"}, "there is no capability"),
        ({"kind": "capability", "body": {"agent": "ann"}}, "needs `capability`"),
        ({"text": "hi", "capability": "x"}, "send kind capability"),
        ({"kind": "video", "text": "hi"}, "Invalid enum value"),
    ],
)
def test_what_is_no_message_is_refused(world: World, given: dict[str, object], words: str) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    assert words in _refused(ann, SEND, to=bob.session["id"], **given)


def test_sessions_of_other_workspaces_and_made_up_ones_are_unknown(world: World, tmp_path: Path) -> None:
    ann = ToolAgent(world, "ann")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = world.client.request(
        "POST", "/api/sessions", body={"agent_name": "ann", "workspace_path": str(elsewhere)}
    ).json()["session"]  # type: ignore[index]
    for to in (other["id"], f"ann.{other['id']}", "sess-0000000000000000", f"bob.{ann.session['id']}", "ann"):
        assert "there is no peer" in _refused(ann, SEND, to=to, text="hello")
    assert other["id"] not in [row["session_id"] for row in ann.structured(PEERS)["peers"]]


def test_a_limited_child_writes_to_its_family_and_to_nobody_else(world: World) -> None:
    lead, stranger = ToolAgent(world, "lead"), ToolAgent(world, "stranger")
    worker = ToolAgent(world, "worker")
    child = spawn(world, lead.session, "worker", {"tools": [PEERS, SEND]})["session"]
    worker.session = child
    assert [row["session_id"] for row in worker.structured(PEERS)["peers"]] == [lead.session["id"]]
    worker.structured(SEND, to=lead.session["id"], text="done")
    assert "there is no peer" in _refused(worker, SEND, to=stranger.session["id"], text="psst")
    assert "there is no peer" in _refused(stranger, SEND, to=child["id"], text="psst")
    assert "session_denied" in _refused(worker, INBOX), "it was not given that tool"
    world.prompt(lead.session, "what is new?")
    assert '"text":"done"' in _told(lead)


def test_an_inbox_is_bounded_and_a_sender_is_told(world: World) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    steps: list[dict[str, object]] = [
        {"mcp": "tools/call", "params": {"name": SEND, "arguments": {"to": bob.session["id"], "text": "again"}}}
    ]
    ann.run([{"repeat": 100, "steps": steps}])
    assert "100 messages wait" in _refused(ann, SEND, to=bob.session["id"], text="one more")
    world.prompt(bob.session, "what is new?")
    assert _told(bob).count('"text":"again"') == 100
    assert ann.structured(SEND, to=bob.session["id"], text="one more")["waiting"] == 1


def test_a_session_that_takes_no_more_turns_is_no_peer(world: World) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    world.post(bob.session, "/stop", {})
    assert bob.session["id"] in [row["session_id"] for row in ann.structured(PEERS)["peers"]]
    world.post(bob.session, "/archive", {})
    assert "takes no more turns" in _refused(ann, SEND, to=bob.session["id"], text="hello")
    assert bob.session["id"] not in [row["session_id"] for row in ann.structured(PEERS)["peers"]]


def test_an_agent_calls_for_its_person_with_a_tool(world: World) -> None:
    ann = ToolAgent(world, "ann")
    assert ann.structured("compozy__session_notify", title="done", body="look at it")["outcome"] == "delivered"
    (kept,) = [
        event["content"]
        for event in world.events(ann.session, type="system")
        if event["content"].get("action") == "operator.notification"
    ]
    assert (kept["title"], kept["text"]) == ("done", "look at it")
