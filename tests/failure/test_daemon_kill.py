"""A daemon killed in the middle of a flood: what any subscriber was shown is stored, the same, without a gap."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client.errors import ConnectionLost
from tests.kit import fuzzing
from tests.kit.daemons import PATIENCE, wait_until
from tests.kit.sessions import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path).start()
    yield made
    made.end()


class Subscriber:
    """Reads a session's raw stream in a thread until it breaks off."""

    def __init__(self, world: World, session: dict[str, Any]) -> None:
        self.shown: list[tuple[str, str, str]] = []
        self._stream = world.client.stream("GET", world.path(session, "/stream"), query={"frames": "raw"})
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._stream:
            try:
                for event in self._stream:
                    assert event is not None
                    self.shown.append((event.id, event.event, event.data))
            except ConnectionLost:
                pass

    def join(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def read_everything(world: World, session: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all stored events, page by page."""
    events: list[dict[str, Any]] = []
    while page := world.events(session, after_sequence=len(events), limit=1000):
        events += page
    return events


def shown_again(world: World, session: dict[str, Any], count: int) -> list[tuple[str, str, str]]:
    """Return the first events as the raw stream shows them now."""
    again: list[tuple[str, str, str]] = []
    with world.client.stream(
        "GET", world.path(session, "/stream"), query={"frames": "raw", "after_sequence": 0}
    ) as stream:
        for event in stream:
            assert event is not None
            again.append((event.id, event.event, event.data))
            if len(again) == count:
                break
    return again


@pytest.mark.fuzz
def test_what_any_subscriber_was_shown_before_sigkill_is_stored_the_same_without_a_gap(world: World) -> None:
    world.agent("flood", {"prompts": [[{"flood": 200_000}]]})
    points = fuzzing.draws(4)
    for _ in range(fuzzing.times(3)):
        session = world.create("flood")
        subscribers = [Subscriber(world, session) for _ in range(2)]
        frames = world.frames(session)
        next(frames)
        frames.close()
        enough = points.randint(1, 3_000)
        wait_until(lambda: all(len(one.shown) >= enough for one in subscribers), "the flood is shown")  # noqa: B023
        world.daemon.kill()
        for one in subscribers:
            one.join()
        world.end()
        world.start()
        stored = read_everything(world, session)
        assert [event["sequence"] for event in stored] == list(range(1, len(stored) + 1))
        for one in subscribers:
            assert [int(number) for number, _, _ in one.shown] == list(range(1, len(one.shown) + 1))
            assert shown_again(world, session, len(one.shown)) == one.shown
        assert world.refresh(session)["state"] == "stopped"
