"""What an agent asks about itself over the API; nobody speaks for a session that is not theirs (§1.3, §3.7)."""

import http.client
import json
from collections.abc import Mapping
from typing import Any

import pytest

from compozy import Client
from compozy.client.errors import ApiError
from tests.interaction.sessions.test_spawn import spawn
from tests.kit.daemons import Daemon, wait_until
from tests.kit.hosted import ToolAgent
from tests.kit.sessions import World

ROUTES = (
    ("GET", "/api/agent/me", None),
    ("GET", "/api/agent/context", None),
    ("POST", "/api/agent/notify", {"title": "t"}),
)
SPAWN = {"agent_name": "child", "spawn_role": "helper", "ttl_seconds": 60, "permissions": {}}


def _headers(session_id: str, agent: str) -> dict[str, str]:
    return {"X-Compozy-Session-ID": session_id, "X-Compozy-Agent": agent}


def test_an_agent_learns_who_it_is_what_it_can_do_and_how_much(world: World) -> None:
    world.agent("ann")
    folder = world.daemon.home.agents / "ann"
    record = {"id": "build-site", "summary": "Build the landing page.", "outcome": "A finished landing page."}
    (folder / "capabilities.json").write_text(json.dumps({"capabilities": [record]}))
    skill = folder / "skills" / "tidy-up" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy-up\ndescription: Tidy up.\n---\nTidy.\n")
    session = world.create("ann", name="mine")
    me = Client(transport=world.client).kernel(session["id"], "ann").me()
    assert (me.own.session_id, me.own.agent_name) == (session["id"], "ann")
    assert (me.session.name, me.session.state, me.workspace.root_dir) == ("mine", "active", str(world.workspace))
    assert [(item.id, item.source, item.summary) for item in me.capabilities] == [
        ("build-site", "agent", "Build the landing page."),
        ("tidy-up", "skill", ""),
    ]
    assert (me.active_task_leases, me.channels, me.limits.max_children) == ((), (), 5)
    assert (me.coordinator.enabled, me.coordinator.source, me.coordinator.default_ttl_seconds) == (
        False,
        "default",
        7200,
    )
    raw: Mapping[str, Any] = world.client.request(
        "GET", "/api/agent/me", headers=_headers(session["id"], "ann")
    ).json()  # type: ignore[assignment]
    assert raw["me"]["self"]["session_id"] == session["id"]


def test_its_surroundings_name_its_peers_and_the_messages_that_wait(world: World) -> None:
    ann, bob = ToolAgent(world, "ann"), ToolAgent(world, "bob")
    sent = ann.structured("compozy__network_send", to=bob.session["id"], text="look at the parser")
    found = Client(transport=world.client).kernel(bob.session["id"], "bob").context()
    assert f"ann.{ann.session['id']}" in [peer.peer_id for peer in found.peer_roster.peers]
    (item,) = found.inbox_summary.items
    assert (item.message_id, item.sender, item.preview) == (
        sent["message_id"],
        f"ann.{ann.session['id']}",
        "look at the parser",
    )
    assert found.inbox_summary.unread_count == 1
    assert not found.task.available and not found.coordination_channel.available
    again = Client(transport=world.client).kernel(bob.session["id"], "bob").context()
    assert again.inbox_summary.unread_count == 1, "looking tells nothing to the agent"


def test_a_notice_is_stored_and_shown_to_who_watches_and_too_many_have_to_wait(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    kernel = Client(transport=world.client).kernel(session["id"], "ann")
    with (
        world.daemon.client() as watching,
        watching.stream("GET", "/api/sessions/catalog-stream", tick=0.05) as stream,
    ):
        events = iter(stream)
        next(event for event in events if event is None)
        assert kernel.notify("done", "the landing page is built").outcome == "delivered"
        shown = next(event for event in events if event is not None and event.event == "operator_notification")
    notice = json.loads(shown.data)
    assert (notice["session_id"], notice["title"], notice["body"]) == (
        session["id"],
        "done",
        "the landing page is built",
    )
    (kept,) = [event["content"] for event in world.events(session, type="system")]
    assert (kept["action"], kept["title"], kept["text"]) == (
        "operator.notification",
        "done",
        "the landing page is built",
    )
    outcomes = [kernel.notify(f"number {n}") for n in range(10)]
    assert [answer.outcome for answer in outcomes] == ["delivered"] * 9 + ["rate_limited"]
    assert 0 < outcomes[-1].retry_after_ms <= 60_000
    assert len(world.events(session, type="system")) == 10


@pytest.mark.parametrize("title", ["", "   ", "x" * 201])
def test_a_notice_without_a_title_or_too_long_is_refused(world: World, title: str) -> None:
    world.agent("ann")
    session = world.create("ann")
    with pytest.raises(ApiError) as refused:
        Client(transport=world.client).kernel(session["id"], "ann").notify(title)
    assert refused.value.status == 422 and not world.events(session, type="system")


@pytest.mark.parametrize(("method", "path", "body"), [*ROUTES, ("POST", "/api/agent/spawn", SPAWN)])
def test_nobody_speaks_for_a_session_that_is_not_theirs(
    world: World, method: str, path: str, body: dict[str, object] | None
) -> None:
    world.agent("ann")
    world.agent("child")
    session, stopped = world.create("ann"), world.create("ann")
    world.prompt(stopped, "hello")
    world.post(stopped, "/stop", {})
    wait_until(lambda: world.refresh(stopped)["state"] == "stopped", "the session is stopped")
    claims = [
        ({}, 401, "identity_required"),
        ({"X-Compozy-Session-ID": session["id"]}, 401, "identity_required"),
        ({"X-Compozy-Agent": "ann"}, 401, "identity_required"),
        (_headers("sess-0000000000000000", "ann"), 401, "identity_stale"),
        (_headers(session["id"], "child"), 403, "identity_mismatch"),
        (_headers(stopped["id"], "ann"), 403, "identity_stale"),
    ]
    for headers, status, code in claims:
        with pytest.raises(ApiError) as refused:
            world.client.request(method, path, body=body, headers=headers)
        assert (refused.value.status, refused.value.code) == (status, code), headers
    assert not world.client.request("GET", "/api/sessions", query={"parent": session["id"]}).json()["sessions"]  # type: ignore[index]


def test_a_web_page_cannot_claim_a_session(world: World, shared_daemon: Daemon) -> None:
    world.agent("ann")
    session = world.create("ann")
    assert shared_daemon.record is not None
    connection = http.client.HTTPConnection("127.0.0.1", shared_daemon.record.port, timeout=30)
    headers = {**_headers(session["id"], "ann"), "Origin": "https://evil.example"}
    connection.request("GET", "/api/agent/me", headers=headers)
    assert connection.getresponse().status == 403
    connection.close()
    connection.request(
        "OPTIONS", "/api/agent/me", headers={"Origin": f"http://localhost:{shared_daemon.record.port}"}
    )
    answer = connection.getresponse()
    assert "x-compozy-session-id" not in (answer.getheader("access-control-allow-headers") or "").lower()
    connection.close()


def test_a_child_reads_itself_and_its_family_only(world: World) -> None:
    world.agent("lead")
    world.agent("worker")
    lead, stranger = world.create("lead"), world.create("lead")
    child = spawn(world, lead, "worker")["session"]
    found = Client(transport=world.client).kernel(child["id"], "worker").context()
    assert [peer.session_id for peer in found.peer_roster.peers] == [lead["id"]]
    assert stranger["id"] not in json.dumps([peer.session_id for peer in found.peer_roster.peers])
    assert found.session.lineage is not None and found.session.lineage.parent_session_id == lead["id"]
