"""Retention through a real daemon: what goes, what stays, the file shrinks, and nothing goes unasked (P63)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compozy.client import ApiError
from compozy.config.home import Home
from compozy.store.sqlite import SqliteStore
from tests.kit.daemons import wait_until
from tests.kit.sessions import World
from tests.kit.store_records import make_drafts, make_session, make_workspace

OLD, YOUNG, OWN = (f"sess-{n:016x}" for n in range(1, 4))


async def _fill(home: Home, *, events: int = 3_000) -> None:
    """Put sessions of January into the store: one old and large, one younger, one of the daemon's own."""
    store = SqliteStore(home.database)
    await store.open()
    workspace = make_workspace(1)
    await store.put_workspace(workspace)
    fields: dict[str, object] = {"state": "stopped", "badge": "stopped", "workspace_id": workspace.id}
    content = b'"' + b"x" * 2_000 + b'"'
    await store.append_events(OLD, make_drafts(events, content=content), record=make_session(OLD, at=1, **fields))
    await store.append_events(YOUNG, make_drafts(3), record=make_session(YOUNG, at=20_000, **fields))
    await store.append_events(OWN, make_drafts(3), record=make_session(OWN, at=1, **fields, type="dream"))
    await store.close()


@contextmanager
def filled(folder: Path, config: str = "") -> Iterator[World]:
    world = World(folder, config=config)
    world.daemon.home.create()
    asyncio.run(_fill(world.daemon.home))
    for place in (f"session-attachments/{make_workspace(1).id}/{OLD}", f"sessions/{OLD}"):
        blob = world.daemon.home.root / place
        blob.mkdir(parents=True)
        (blob / "picture.png").write_bytes(b"x")
    world.start()
    try:
        yield world
    finally:
        world.end()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with filled(tmp_path) as made:
        yield made


def ids(world: World) -> set[str]:
    page = world.client.request("GET", "/api/sessions", query={"archive": "include"}).json()
    return {row["id"] for row in page["sessions"]}


def run(world: World, **body: object) -> dict[str, object]:
    report = world.client.request("POST", "/api/retention", body=body, timeout=60).json()["report"]
    assert isinstance(report, dict)
    return report


def removed(report: dict[str, object]) -> list[tuple[str, str]]:
    rows = report["removed"]
    assert isinstance(rows, list)
    return [(row["id"], row["reason"]) for row in rows]


def test_without_limits_only_the_daemons_own_old_sessions_go(world: World) -> None:
    report = run(world)
    assert removed(report) == [(OWN, "own_job")]
    assert ids(world) == {OLD, YOUNG}


def test_a_dry_run_names_what_would_go_and_removes_nothing(world: World) -> None:
    report = run(world, max_sessions=1, dry_run=True)
    assert removed(report) == [(OWN, "own_job"), (OLD, "count")] and report["dry_run"] is True
    assert removed(run(world, max_sessions=1, dry_run=True)) == removed(report)
    assert ids(world) == {OLD, YOUNG}


def test_what_is_too_many_goes_with_its_files_and_the_store_shrinks(world: World) -> None:
    file = world.daemon.home.database
    world.client.request("GET", "/api/retention")
    before = file.stat().st_size
    report = run(world, max_sessions=1)
    assert (OLD, "count") in removed(report) and ids(world) == {YOUNG}
    assert report["events"] == 3_003
    assert int(str(report["bytes_after"])) < int(str(report["bytes_before"])) - 5_000_000
    wait_until(lambda: file.stat().st_size < before - 5_000_000, "the file shrinks")
    root = world.daemon.home.root
    assert not [path for path in root.rglob("*") if path.name == OLD]
    state = world.client.request("GET", "/api/retention").json()["retention"]
    assert state["last"]["sessions"] == 2 and state["stopped_sessions"] == 1


@pytest.mark.parametrize(
    ("limits", "gone"),
    [
        ({"max_age": "1d"}, {OLD, YOUNG}),
        ({"max_bytes": 2_000_000}, {OLD}),
        ({"max_bytes": 1 << 30}, set()),
        ({"max_sessions": 2}, set()),
        ({"max_age": "100000h"}, set()),
    ],
)
def test_age_size_and_number_decide(world: World, limits: dict[str, object], gone: set[str]) -> None:
    run(world, **limits)
    assert ids(world) == {OLD, YOUNG} - gone


def test_sessions_that_are_not_stopped_stay(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    world.prompt(session)
    run(world, max_age="0s", max_sessions=1)
    assert str(session["id"]) in ids(world)


def test_wrong_limits_and_agents_are_refused(world: World) -> None:
    def refused(body: dict[str, object], headers: dict[str, str] | None = None) -> int:
        with pytest.raises(ApiError) as error:
            world.client.request("POST", "/api/retention", body=body, headers=headers or {})
        return error.value.status

    assert refused({"max_age": "soon"}) == 400
    assert refused({"max_sessions": -1}) == 400
    assert refused({"dry_run": "yes"}) == 400
    assert refused({}, {"x-compozy-session-id": "sess-1"}) == 403
    assert ids(world) == {OLD, YOUNG}


def test_folders_of_sessions_that_are_gone_are_removed_and_strangers_stay(world: World) -> None:
    root = world.daemon.home.root
    left = root / "session-attachments" / "ws_1" / "sess-00000000000000ff"
    stranger = root / "session-attachments" / "notes"
    for folder in (left, stranger):
        folder.mkdir(parents=True)
    (root / "sessions" / "sess-00000000000000fe").symlink_to(stranger)
    run(world)
    assert not left.exists() and stranger.exists()
    assert (root / "sessions" / OLD).exists()


def test_the_settings_of_the_home_count_and_those_of_a_workspace_do_not(tmp_path: Path) -> None:
    config = "[session.retention]\nmax_sessions = 1\n[observability]\nenabled = false\n"
    with filled(tmp_path, config) as world:
        workspace = world.workspace / ".compozy" / "config.toml"
        workspace.parent.mkdir()
        workspace.write_text('[session.retention]\nmax_age = "1s"\n')
        state = world.client.request("GET", "/api/retention").json()["retention"]
        assert (
            state["limits"].get("max_sessions") == 1
            and not state["limits"].get("max_age")
            and state["own_jobs_days"] == 0
        )
        assert removed(run(world)) == [(OLD, "count")]
