"""Subscribers in numbers, stopped and vanished: nobody loses an event or slows the session, and nothing is left.

Issue 6 item 9; acp.md fault 9; P62, P63.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World
from tests.kit.sse_sockets import SseSocket, read_until_done

SUBSCRIBERS = 200
# Two more threads of the store's readers, each with the file, its log and its index.
READERS = 6
MIB = 1024 * 1024
ROOT = Path(__file__).resolve().parents[2]


def resident(world: World) -> int:
    pages = int(Path(f"/proc/{world.daemon.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def warm(world: World, name: str, *turns: list[dict[str, object]]) -> tuple[dict[str, Any], int]:
    """Return a session after its first turn, and its last event."""
    world.agent(name, {"prompts": [[{"text": "warm"}], *turns]})
    session = world.create(name)
    world.prompt(session)
    return session, world.events(session)[-1]["sequence"]


def catch_up(stream: SseSocket, sequence: int) -> None:
    """Read a transcript's stream until it is that far."""
    while not stream.frames or json.loads(stream.frames[-1][2])["max_sequence"] < sequence:
        stream.read()


@pytest.fixture
def opened(world: World) -> Iterator[Callable[..., SseSocket]]:
    """Open streams that are closed with the test."""
    with contextlib.ExitStack() as stack:

        def make(target: str, buffer: int = 0) -> SseSocket:
            return stack.enter_context(contextlib.closing(SseSocket(world.daemon.home.socket, target, buffer=buffer)))

        yield make


def begin_turn(world: World, session: dict[str, Any]) -> None:
    frames = world.frames(session)
    next(frames)
    frames.close()


def test_two_hundred_subscribers_see_everything_and_leave_nothing_behind(
    world: World, opened: Callable[..., SseSocket]
) -> None:
    session, last = warm(world, "flood", [{"flood": 400}])
    before, memory = world.daemon.descriptors(), resident(world)
    raw = world.path(session, f"/stream?frames=raw&after_sequence={last}")
    streams = [opened(raw) for _ in range(SUBSCRIBERS // 2)]
    watchers = [opened(world.path(session, "/stream")) for _ in range(SUBSCRIBERS // 2)]
    assert world.daemon.descriptors() >= before + SUBSCRIBERS
    begin_turn(world, session)
    for gone in (*streams[:30], *watchers[:30]):
        gone.close()
    streams, watchers = streams[30:], watchers[30:]
    read_until_done(streams, "done")
    events = world.events(session, after_sequence=last)
    for stream in streams:
        assert stream.ids() == [event["sequence"] for event in events]
        assert [json.loads(data)["id"] for _, _, data in stream.frames] == [event["id"] for event in events]
    page = world.get(session, "/transcript")
    for watcher in watchers:
        catch_up(watcher, page["max_sequence"])
        entries: dict[str, Any] = {}
        for _, _, data in watcher.frames:
            entries |= {entry["message"]["id"]: entry for entry in json.loads(data)["entries"]}
        assert list(entries.values()) == page["entries"]
    for stream in (*streams, *watchers):
        stream.close()
    wait_until(lambda: world.daemon.descriptors() <= before + READERS, "the descriptors are back where they were")
    assert resident(world) - memory < 60 * MIB


def test_a_stopped_subscriber_slows_nobody_costs_little_and_misses_nothing(world: World) -> None:
    session, last = warm(world, "flood", [{"flood": 20_000}])
    target = world.path(session, f"/stream?frames=raw&after_sequence={last}")
    subscriber = subprocess.Popen(
        [sys.executable, "-m", "tests.kit.sse_sockets", str(world.daemon.home.socket), target],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert subscriber.stdout is not None and subscriber.stdout.readline() == "ready\n"
        subscriber.send_signal(signal.SIGSTOP)
        memory = resident(world)
        stream = world.prompt(session)
        assert stream.finish == "stop", "the turn came to its end although somebody stands still"
        assert resident(world) - memory < 40 * MIB
        subscriber.send_signal(signal.SIGCONT)
        ids = json.loads(subscriber.communicate(timeout=60)[0])
    finally:
        subscriber.kill()
        subscriber.wait()
    assert ids == list(range(last + 1, last + 1 + 20_002))


def test_a_watcher_who_falls_far_behind_takes_a_snapshot_and_is_right_again(
    world: World, opened: Callable[..., SseSocket]
) -> None:
    session, _ = warm(world, "teller", [{"huge": 30_000}])
    slow = opened(world.path(session, "/stream"), 4096)
    for _ in range(40):
        world.prompt(session)
    page = world.get(session, "/transcript")
    catch_up(slow, page["max_sequence"])
    resets = [json.loads(data) for kind, _, data in slow.frames[1:] if kind == "transcript_snapshot"]
    assert [(one["reset"], one["reason"]) for one in resets] == [(True, "sequence_reset")]
    since = slow.kinds()[::-1].index("transcript_snapshot")
    entries: dict[str, Any] = {}
    for _, _, data in slow.frames[-since - 1 :]:
        entries |= {entry["message"]["id"]: entry for entry in json.loads(data)["entries"]}
    assert list(entries.values())[-10:] == page["entries"][-10:]


def test_a_stream_that_broke_off_is_taken_up_after_the_gap(world: World, opened: Callable[..., SseSocket]) -> None:
    session, last = warm(world, "flood", [{"flood": 300}], [{"text": "later"}])
    first = opened(world.path(session, "/stream?frames=raw"))
    begin_turn(world, session)
    while len(first.frames) < last + 50:
        first.read()
    first.close()
    seen = first.ids()
    wait_until(lambda: world.events(session, limit=1)[-1]["type"] == "done", "the turn ends")
    world.prompt(session)
    with world.client.stream(
        "GET", world.path(session, "/stream"), query={"frames": "raw"}, headers={"Last-Event-ID": str(seen[-1])}
    ) as stream:
        for event in stream:
            assert event is not None and event.id
            seen.append(int(event.id))
            if seen[-1] == world.events(session, limit=1)[-1]["sequence"]:
                break
    assert seen == list(range(1, len(seen) + 1))


def test_a_position_that_the_session_never_had_is_refused(world: World) -> None:
    session, last = warm(world, "teller")
    with pytest.raises(ApiError) as refused:
        world.client.stream("GET", world.path(session, "/stream"), query={"frames": "raw", "after_sequence": "999"})
    assert (refused.value.status, refused.value.code) == (400, "sequence_reset")
    assert str(last) in str(refused.value)
