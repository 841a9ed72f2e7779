"""Who may bind to a session's tools: nonce, time, user, process (contract §6.4)."""

from collections.abc import Callable

import pytest

from compozy.tools.hosted.launches import Launch, Launches, LaunchRefused, Peer

_AGENT, _STRANGER = Peer(pid=11, uid=7), Peer(pid=99, uid=7)


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def launches(clock: Callable[[], float]) -> Launches:
    def descends(peer: Peer, launch: Launch) -> bool:
        return launch.pid == 10 and peer.pid == 11

    return Launches(clock=clock, uid=7, descends=descends)


def test_a_nonce_is_good_for_one_bind(launches: Launches) -> None:
    nonce = launches.prepare("sess-1", "m")
    assert len(bytes.fromhex(nonce)) == 32
    launches.arm("m", 10)
    assert launches.use("sess-1", nonce, _AGENT).session_id == "sess-1"
    with pytest.raises(LaunchRefused, match="used before"):
        launches.use("sess-1", nonce, _AGENT)


def test_only_a_hash_of_the_nonce_is_kept(launches: Launches) -> None:
    nonce = launches.prepare("sess-1", "m")
    launches.arm("m", 10)
    assert nonce not in repr(launches.use("sess-1", nonce, _AGENT))


@pytest.mark.parametrize("peer", [None, _STRANGER, Peer(pid=11, uid=8)])
def test_another_process_or_user_is_refused_and_does_not_use_it_up(launches: Launches, peer: Peer | None) -> None:
    nonce = launches.prepare("sess-1", "m")
    launches.arm("m", 10)
    with pytest.raises(LaunchRefused, match="does not belong"):
        launches.use("sess-1", nonce, peer)
    assert launches.use("sess-1", nonce, _AGENT)


def test_a_nonce_is_not_valid_before_it_is_armed_nor_after_its_time(launches: Launches, clock: _Clock) -> None:
    nonce = launches.prepare("sess-1", "m")
    with pytest.raises(LaunchRefused, match="not valid now"):
        launches.use("sess-1", nonce, _AGENT)
    launches.arm("m", 10)
    clock.now += 30.5
    with pytest.raises(LaunchRefused, match="not valid now"):
        launches.use("sess-1", nonce, _AGENT)


def test_a_nonce_of_another_session_or_an_earlier_launch_is_refused(launches: Launches) -> None:
    first = launches.prepare("sess-1", "m1")
    other = launches.prepare("sess-2", "m2")
    second = launches.prepare("sess-1", "m3")
    launches.arm("m3", 10)
    launches.arm("m2", 10)
    for session, nonce in (("sess-1", first), ("sess-1", other), ("sess-3", second), ("sess-1", "\udcff")):
        with pytest.raises(LaunchRefused, match="not one of this session"):
            launches.use(session, nonce, _AGENT)
    launches.forget("m3")
    with pytest.raises(LaunchRefused):
        launches.use("sess-1", second, _AGENT)
