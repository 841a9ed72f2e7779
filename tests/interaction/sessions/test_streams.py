"""The less common streams: raw frames of a prompt, the transcript's fence, the list of sessions."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError, DaemonClient
from tests.kit.daemons import wait_until
from tests.kit.sessions import World


def _events(client: DaemonClient, world: World, session: dict[str, Any]) -> list[tuple[str, str]]:
    with client.stream(
        "POST", world.path(session, "/prompt"), query={"format": "raw"}, body=world.prompt_body("go")
    ) as stream:
        return [(event.event or "", event.data) for event in stream if event is not None]


def test_raw_frames_of_a_prompt_are_for_the_socket_only(tmp_path: Path) -> None:
    world = World(tmp_path, http=True).start()
    try:
        world.agent("teller", {"prompts": [[{"text": "a"}]]})
        session = world.create("teller")
        raw = _events(world.client, world, session)
        assert [kind for kind, _ in raw] == ["user_message", "agent_message", "done"]
        assert [json.loads(data) for _, data in raw] == [event["content"] for event in world.events(session)]
        with world.daemon.tcp_client() as over_tcp:
            frames = _events(over_tcp, world, session)
        assert frames[-1][1] == "[DONE]" and json.loads(frames[0][1])["type"] == "start"
    finally:
        world.end()


def _first(world: World, session: dict[str, Any], **query: str) -> tuple[str, dict[str, Any]]:
    with world.client.stream("GET", world.path(session, "/stream"), query=query) as stream:
        for event in stream:
            if event is not None:
                return event.event or "", json.loads(event.data)
    raise AssertionError("no frame came")


def test_a_client_with_the_right_fence_gets_only_what_changed(world: World) -> None:
    world.agent("teller", {"prompts": [[{"text": "a"}, {"text": "b"}]]})
    session = world.create("teller")
    world.prompt(session)
    page = world.get(session, "/transcript")
    fence = {"epoch": str(page["epoch"]), "generation": str(page["generation"])}
    kind, delta = _first(world, session, after_sequence="2", **fence)
    assert kind == "transcript_delta" and delta["cursor"] == page["max_sequence"]
    assert delta["entries"] == [page["entries"][1]], "an entry that changed comes whole"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"after_sequence": "2"}, "fence_missing"),
        ({"after_sequence": "2", "epoch": "9", "generation": "0"}, "epoch_mismatch"),
        ({"after_sequence": "2", "epoch": "0", "generation": "9"}, "generation_mismatch"),
        ({"after_sequence": "99", "epoch": "0", "generation": "0"}, "sequence_reset"),
    ],
)
def test_any_doubt_about_the_fence_gives_a_snapshot(world: World, query: dict[str, str], reason: str) -> None:
    world.agent("teller", {"prompts": [[{"text": "a"}]]})
    session = world.create("teller")
    world.prompt(session)
    kind, snapshot = _first(world, session, **query)
    assert kind == "transcript_snapshot"
    assert snapshot["reset"] is True and snapshot["reason"] == reason and len(snapshot["entries"]) == 2


@pytest.mark.parametrize("query", [{"replay": "1"}, {"frames": "odd"}, {"after_sequence": "x"}])
def test_a_stream_that_cannot_be_understood_is_refused(world: World, query: dict[str, str]) -> None:
    world.agent("teller")
    session = world.create("teller")
    with pytest.raises(ApiError) as refused:
        world.client.stream("GET", world.path(session, "/stream"), query=query)
    assert refused.value.status == 400


def test_the_list_of_sessions_can_be_watched(world: World) -> None:
    ask = {"permission": {"toolCallId": "c", "kind": "edit"}}
    world.agent("asker", {"prompts": [[ask]]}, permissions="approve-reads")
    seen: list[tuple[str, dict[str, Any]]] = []
    mine: set[str] = set()
    opened = threading.Event()

    def watch() -> None:
        with world.client.stream("GET", "/api/sessions/catalog-stream", tick=0.05) as stream:
            for event in stream:
                opened.set()
                if event is not None:
                    data = json.loads(event.data)
                    seen.append((event.event or "", data))
                    if data.get("kind") == "deleted" and data["session_id"] in mine:
                        return

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert opened.wait(30)
    session = world.create("asker")
    mine.add(session["id"])
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    wait_until(lambda: any(kind == "session_attention_changed" for kind, _ in seen), "the question is announced")
    assert world.client.request("DELETE", world.path(session)).status == 204
    watcher.join(30)
    assert not watcher.is_alive()
    about = [(kind, data) for kind, data in seen if data["session_id"] == session["id"]]
    assert about[0] == (
        "session_catalog_changed",
        {"kind": "upserted", "workspace_id": session["workspace_id"], "session_id": session["id"]},
    )
    attention = [data for kind, data in about if kind == "session_attention_changed"]
    assert (attention[0]["to"], attention[0]["class"]) == ("waiting-for-auth", "needs-you")
