"""Two clients at once: a session that is deleted stays deleted, and no agent works for one that nobody has."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World


def _prompt(world: World, session: dict[str, Any]) -> int:
    body = {"message": "go", "message_id": "m", "idempotency_key": "k"}
    try:
        with (
            world.daemon.client() as client,
            client.stream("POST", world.path(session, "/prompt"), body=body) as stream,
        ):
            return 200 + sum(0 for _ in stream)
    except ApiError as error:
        return error.status


def _delete(world: World, session: dict[str, Any]) -> int:
    with world.daemon.client() as client:
        return client.request("DELETE", world.path(session)).status


def _processes_of(session: dict[str, Any]) -> list[str]:
    wanted = f"COMPOZY_SESSION_ID={session['id']}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(folder.name)
        except OSError:
            pass
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_prompt_that_meets_a_delete_neither_brings_the_session_back_nor_leaves_an_agent(world: World) -> None:
    world.agent("quick")
    answers: set[int] = set()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(12):
            session = world.create("quick")
            tasks = [pool.submit(_delete, world, session), *(pool.submit(_prompt, world, session) for _ in range(2))]
            answers.update(task.result(30) for task in tasks[1:])
            assert tasks[0].result(30) == 204
            with pytest.raises(ApiError) as caught:
                world.refresh(session)
            assert caught.value.status == 404
            assert _processes_of(session) == []
    assert answers <= {200, 404, 409}


def test_who_prompts_a_session_that_is_stopped_while_its_agent_starts_is_told_so(world: World) -> None:
    started = world.folder / "started"
    world.agent("slow", {"on": {"initialize": [{"touch": str(started)}, {"sleep": 60}]}})
    session = world.create("slow")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(_refusal, world, session)
        wait_until(started.exists, "the agent starts")
        world.post(session, "/stop")
        error = answer.result(30)
    assert (error.status, error.code) == (409, "session_stopped")


def _refusal(world: World, session: dict[str, Any]) -> ApiError:
    with pytest.raises(ApiError) as caught:
        world.prompt(session)
    return caught.value
