"""Cancelling, permissions, busy sessions, loading and late updates (fault groups 3, 4, 11–14; report P44)."""

import asyncio
from pathlib import Path

import pytest

from compozy.acp import client as client_module
from compozy.acp.client import AcpClient
from compozy.acp.contract import (
    AgentBusy,
    AgentDied,
    AgentError,
    PermissionRequest,
    PromptOutcome,
    StopBounds,
    UpdatesLost,
)
from tests.kit.agents import received
from tests.kit.recording import BOUND, Recording, chunk_texts, open_session, running, text_block, until

pytestmark = pytest.mark.anyio


def _prompt(client: AcpClient, session: str, text: str = "x") -> "asyncio.Task[PromptOutcome]":
    return asyncio.ensure_future(client.prompt(session, text_block(text), meta={}))


def _never(_: PermissionRequest) -> "asyncio.Future[str | None]":
    return asyncio.get_running_loop().create_future()


def _methods(record: Path) -> list[object]:
    return [message["method"] for message in received(record) if "method" in message]


def _answers(record: Path) -> list[object]:
    return [message.get("result", message.get("error")) for message in received(record) if "method" not in message]


CANCELLED = {"outcome": {"outcome": "cancelled"}}


# ---- cancel -----------------------------------------------------------------------------------------------------
async def test_a_streaming_turn_is_cancelled_and_the_next_prompt_works(tmp_path: Path) -> None:
    script = {"prompts": [[{"text": "a"}, {"wait_cancel": True}], [{"text": "b"}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        await client.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        assert (await client.prompt(session, text_block("y"), meta={})).stop_reason == "end_turn"
        assert seen.text() == "ab"


async def test_cancel_before_the_first_update_and_twice_sends_one_cancel(tmp_path: Path) -> None:
    record = tmp_path / "record"
    async with running(tmp_path, {"record": str(record), "prompts": [[{"wait_cancel": True}]]}) as (client, _):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await asyncio.sleep(0)
        await client.cancel(session)
        await client.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        await client.cancel(session)
    assert _methods(record).count("session/cancel") == 1


async def test_a_cancel_without_a_running_turn_is_not_sent_because_it_would_kill_the_next(tmp_path: Path) -> None:
    record = tmp_path / "record"
    async with running(tmp_path, {"record": str(record)}) as (client, _):
        session = await open_session(client, tmp_path)
        await client.cancel(session)
        await client.cancel("unknown")
        await client.prompt(session, text_block("x"), meta={})
        await client.cancel(session)
        assert (await client.prompt(session, text_block("x"), meta={})).stop_reason == "end_turn"
    assert "session/cancel" not in _methods(record)


@pytest.mark.parametrize(("behaviour", "reason"), [("end_turn", "end_turn"), ("error", "")])
async def test_a_cancel_answered_with_something_else_still_ends_the_turn(
    tmp_path: Path, behaviour: str, reason: str
) -> None:
    script = {
        "cancel": behaviour,
        "after_cancel": [{"text": "late"}],
        "prompts": [[{"text": "a"}, {"wait_cancel": True}]],
    }
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        await client.cancel(session)
        if reason:
            assert (await turn).stop_reason == reason
        else:
            with pytest.raises(AgentError, match="the turn was aborted"):
                await turn
        assert seen.text() == "alate"


@pytest.mark.parametrize("behaviour", ["ignore", "never"])
async def test_an_agent_that_ignores_a_cancel_is_ended_by_closing(tmp_path: Path, behaviour: str) -> None:
    script = {"cancel": behaviour, "prompts": [[{"text": "a"}, {"wait_file": str(tmp_path / "never")}]]}
    async with running(tmp_path, script, bounds=StopBounds(cancel=0.1, eof=0.1, term=0.1)) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        await client.cancel(session)
        await client.close()
        with pytest.raises(AgentDied, match="the agent was stopped"):
            await turn


async def test_a_turn_cancelled_long_ago_gets_no_second_wait(tmp_path: Path) -> None:
    script = {"cancel": "never", "prompts": [[{"text": "a"}, {"wait_file": str(tmp_path / "never")}]]}
    async with running(tmp_path, script, bounds=StopBounds(cancel=1000.0, eof=0.1, term=0.1)) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        await client.cancel(session)
        client._sessions.know(session).cancelled_at -= 1000.0
        async with asyncio.timeout(BOUND):
            await client.close()
        with pytest.raises(AgentDied):
            await turn


async def test_closing_lets_a_running_turn_end_by_itself_first(tmp_path: Path) -> None:
    script = {"prompts": [[{"text": "a"}, {"wait_cancel": True}]], "after_cancel": [{"text": "b"}]}
    async with running(tmp_path, script, bounds=StopBounds(cancel=BOUND, eof=BOUND)) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        await client.close()
        assert (await turn).stop_reason == "cancelled"
        assert seen.text() == "ab"


async def test_leaving_the_wait_for_an_answer_withdraws_the_request(tmp_path: Path) -> None:
    record = tmp_path / "record"
    script = {"record": str(record), "prompts": [[{"text": "a"}, {"wait_cancel": True}]]}
    async with running(tmp_path, script, bounds=StopBounds(cancel=0.1, eof=0.5)) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await until(lambda: "$/cancel_request" in _methods(record))


# ---- permissions --------------------------------------------------------------------------------------------------
PERMISSION = {
    "permission": {"title": "T", "kind": "edit"},
    "then": [{"text": "allowed"}],
    "else": [{"text": "{last}"}],
}


async def test_a_pending_permission_is_answered_cancelled_when_its_turn_is_cancelled(tmp_path: Path) -> None:
    """P44; an agent that waits for this answer would never end its turn (seen in three real agents)."""
    record = tmp_path / "record"
    script = {"record": str(record), "cancel": "ignore", "prompts": [[PERMISSION]]}
    async with running(tmp_path, script) as (client, seen):
        seen.choose = _never
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.permissions)
        await client.cancel(session)
        assert (await turn).stop_reason == "end_turn"
        assert seen.text() == "cancelled"
        assert ("permission withdrawn", "call-1") in seen.log
    assert _answers(record) == [CANCELLED]


async def test_a_permission_asked_after_the_cancel_is_not_even_shown(tmp_path: Path) -> None:
    script = {"cancel": "ignore", "prompts": [[{"text": "a"}, {"wait_cancel": True}, PERMISSION]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        await client.cancel(session)
        await turn
        assert seen.text() == "acancelled"
        assert seen.permissions == []


async def test_a_permission_still_open_when_its_turn_ends_cannot_be_approved_any_more(tmp_path: Path) -> None:
    record = tmp_path / "record"
    params = {"sessionId": "fake-1", "toolCall": {"toolCallId": "t"}, "options": [{"optionId": "yes"}]}
    ask = {"request": "session/request_permission", "params": params, "async": True}
    async with running(tmp_path, {"record": str(record), "prompts": [[ask]]}) as (client, seen):
        seen.choose = _never
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        await until(lambda: _answers(record))
    assert _answers(record) == [CANCELLED]


async def test_open_permissions_end_with_the_agent(tmp_path: Path) -> None:
    params = {"sessionId": "fake-1", "toolCall": {"toolCallId": "t"}, "options": []}
    ask = {"request": "session/request_permission", "params": params, "async": True}
    go = tmp_path / "go"
    async with running(tmp_path, {"prompts": [[ask, {"wait_file": str(go)}, {"exit": 1}]]}) as (client, seen):
        seen.choose = _never
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.permissions)
        go.touch()
        with pytest.raises(AgentDied):
            await turn
        await until(lambda: ("permission withdrawn", "t") in seen.log)


async def test_two_permissions_at_once_get_their_own_answers(tmp_path: Path) -> None:
    record = tmp_path / "record"
    asks = [
        {
            "request": "session/request_permission",
            "params": {"sessionId": "fake-1", "toolCall": {"toolCallId": t}, "options": [{"optionId": f"o{t}"}]},
            "id": f"id{t}",
            "async": True,
        }
        for t in "ab"
    ]
    done = tmp_path / "done"
    async with running(tmp_path, {"record": str(record), "prompts": [[*asks, {"wait_file": str(done)}]]}) as (
        client,
        seen,
    ):
        gates = {"a": asyncio.Event(), "b": asyncio.Event()}

        async def choose(request: PermissionRequest) -> str | None:
            await gates[request.tool_call_id].wait()
            return request.options[0].option_id

        seen.choose = choose
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: len(seen.permissions) == 2)
        gates["b"].set()
        await until(lambda: _answers(record))
        gates["a"].set()
        await until(lambda: len(_answers(record)) == 2)
        done.touch()
        await turn
    got = [(m["id"], m["result"]["outcome"]["optionId"]) for m in received(record) if "result" in m]
    assert got == [("idb", "ob"), ("ida", "oa")]


async def test_a_request_is_handled_after_the_updates_before_it_however_slow_they_are(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    steps = [{"flood": 500}, {"permission": {}}, {"text": "b"}, {"read": "f"}, {"text": "c"}, {"terminal": ["true"]}]
    async with running(tmp_path, {"prompts": [steps]}) as (client, seen):

        async def slowly() -> None:
            await asyncio.sleep(0.02)

        seen.before_updates = slowly
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
    order = [what for what, _ in seen.log]
    assert order.index("permission") == 500
    assert order.index("read") > 500 and order[500:].index("update") < order[500:].index("read")
    assert order.count("update") == 502


# ---- busy, late, unknown ------------------------------------------------------------------------------------------
async def test_a_second_prompt_of_a_busy_session_is_refused_here_not_by_the_agent(tmp_path: Path) -> None:
    async with running(tmp_path, {"prompts": [[{"text": "a"}, {"wait_cancel": True}]]}) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        await until(lambda: seen.updates)
        with pytest.raises(AgentBusy, match="already in progress"):
            await client.prompt(session, text_block("y"), meta={})
        await client.cancel(session)
        assert (await turn).stop_reason == "cancelled"


# A busy machine must not be taken for a silent agent: first ten times the real quiet period, then more.
LONGER_AND_LONGER = (0.5, 2.0, 8.0, 30.0)


async def test_updates_right_after_the_answer_belong_to_the_turn_and_later_ones_still_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "go"
    late = [{"usage": {"used": 1}}, {"wait_file": str(go)}, {"text": "much later"}]
    kinds: list[str] = []
    for quiet in LONGER_AND_LONGER:
        monkeypatch.setattr(client_module, "TURN_QUIET", quiet)
        monkeypatch.setattr(client_module, "TURN_QUIET_MOST", 2 * quiet)
        async with running(tmp_path, {"late": late, "prompts": [[{"text": "a"}]]}) as (client, seen):
            session = await open_session(client, tmp_path)
            await client.prompt(session, text_block("x"), meta={})
            kinds = [update.kind for update in seen.updates]
            go.touch()
            await until(lambda: len(seen.updates) == 3)
        go.unlink()
        if len(kinds) == 2:
            break
    assert kinds == ["agent_message_chunk", "usage_update"]


async def test_a_turn_waits_a_moment_for_updates_that_come_behind_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = {"late": [{"sleep": 0.02}, {"usage": {"used": 1}}], "prompts": [[{"text": "a"}]]}
    kinds: list[str] = []
    for quiet in LONGER_AND_LONGER:
        monkeypatch.setattr(client_module, "TURN_QUIET", quiet)
        monkeypatch.setattr(client_module, "TURN_QUIET_MOST", 2 * quiet)
        async with running(tmp_path, script) as (client, seen):
            session = await open_session(client, tmp_path)
            await client.prompt(session, text_block("x"), meta={})
            kinds = [update.kind for update in seen.updates]
        if len(kinds) == 2:
            break
    assert kinds == ["agent_message_chunk", "usage_update"]


async def test_updates_before_the_session_is_known_are_delivered_and_foreign_ones_noted(tmp_path: Path) -> None:
    early = [
        {"update": {"sessionUpdate": "plan", "entries": []}, "session": "fake-1"},
        {"update": {"sessionUpdate": "plan", "entries": []}, "session": "stranger"},
    ]
    async with running(tmp_path, {"on": {"session/new": early}}) as (client, seen):
        session = await open_session(client, tmp_path)
        await until(lambda: seen.updates)
        assert [(update.session_id, update.kind) for update in seen.updates] == [(session, "plan")]
        await until(lambda: seen.diagnostics)
    assert [kind for kind, _ in seen.diagnostics] == ["unknown_session"]


# ---- load and options ---------------------------------------------------------------------------------------------
def _where(folder: Path) -> dict[str, object]:
    return {"cwd": str(folder), "mcp_servers": [], "additional_dirs": [], "timeout": BOUND}


def _chunk(text: str) -> dict[str, object]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


async def test_a_replay_is_marked_also_where_it_comes_after_the_answer(tmp_path: Path) -> None:
    script = {"replay": [_chunk("1")], "replay_after": [_chunk(str(n)) for n in range(2, 21)], "load_result": None}
    async with running(tmp_path, script) as (client, seen):
        await client.initialize(client_version="0", timeout=BOUND)
        options = await client.load_session("old", **_where(tmp_path))
        assert options.session_id == "old"
        assert chunk_texts(seen.updates) == [str(n) for n in range(1, 21)]
        assert all(update.replay for update in seen.updates)
        await client.prompt("old", text_block("live"), meta={})
        assert [update.replay for update in seen.updates[20:]] == [False]


async def test_loading_waits_for_a_replay_that_dawdles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LOAD_QUIET", 0.5)
    late = {"replay_after": [_chunk("1"), _chunk("2")], "replay_pause": 0.02}
    async with running(tmp_path, late) as (client, seen):
        await client.initialize(client_version="0", timeout=BOUND)
        await client.load_session("old", **_where(tmp_path))
        assert [update.replay for update in seen.updates] == [True, True]


@pytest.mark.parametrize("code", [-32603, -32602, -32002])
async def test_an_unknown_session_is_an_error_with_its_code_and_stays_unknown(tmp_path: Path, code: int) -> None:
    script = {"load_error": {"code": code, "message": "Resource not found"}}
    async with running(tmp_path, script) as (client, _):
        await client.initialize(client_version="0", timeout=BOUND)
        with pytest.raises(AgentError) as caught:
            await client.load_session("gone", **_where(tmp_path))
        assert (caught.value.method, caught.value.code) == ("session/load", code)
        assert client._sessions.find("gone") is None


def _select(option_id: str, current: str, *values: str) -> dict[str, object]:
    return {
        "id": option_id,
        "name": option_id,
        "type": "select",
        "currentValue": current,
        "options": [{"value": value, "name": value} for value in values],
    }


def _current(client: AcpClient, session: str) -> dict[str, str]:
    return {option.id: option.current for option in client.options(session).config_options}


async def test_an_option_that_disappears_with_another_is_gone_and_cannot_be_set(tmp_path: Path) -> None:
    script = {
        "config_options": [_select("model", "a", "a", "b"), _select("effort", "low", "low", "high")],
        "config_rules": {"model": {"b": [_select("model", "b", "a", "b")]}},
    }
    async with running(tmp_path, script) as (client, _):
        session = await open_session(client, tmp_path)
        assert _current(client, session) == {"model": "a", "effort": "low"}
        changed = await client.set_config_option(session, "model", "b", timeout=BOUND)
        assert [option.id for option in changed.config_options] == ["model"]
        with pytest.raises(AgentError) as caught:
            await client.set_config_option(session, "effort", "high", timeout=BOUND)
        assert caught.value.code == -32602


async def test_options_and_mode_follow_the_updates_of_the_agent(tmp_path: Path) -> None:
    steps = [
        {"update": {"sessionUpdate": "config_option_update", "configOptions": [_select("model", "z", "z")]}},
        {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "code"}},
    ]
    script = {"modes": ["ask", "code"], "config_options": [_select("model", "a", "a")], "prompts": [steps]}
    async with running(tmp_path, script) as (client, _):
        session = await open_session(client, tmp_path)
        assert client.options(session).current_mode == "ask"
        await client.prompt(session, text_block("x"), meta={})
        assert (_current(client, session), client.options(session).current_mode) == ({"model": "z"}, "code")


async def test_modes_and_legacy_models_survive_odd_answers_to_set_calls(tmp_path: Path) -> None:
    odd: dict[str, list[dict[str, object]]] = {
        "session/set_mode": [{"result": None}],
        "session/set_model": [{"result": [1]}],
        "session/set_config_option": [{"result": {"ok": True}}],
    }
    script = {
        "on": odd,
        "modes": ["https://example.com/modes#agent", "plan"],
        "models": ["m1", "m2"],
        "config_options": [_select("x", "1", "1", "2")],
    }
    async with running(tmp_path, script) as (client, _):
        session = await open_session(client, tmp_path)
        await client.set_mode(session, "plan", timeout=BOUND)
        await client.set_model(session, "m2", timeout=BOUND)
        await client.set_config_option(session, "x", "2", timeout=BOUND)
        now = client.options(session)
    assert [mode.id for mode in now.modes] == ["https://example.com/modes#agent", "plan"]
    assert (now.current_mode, now.legacy_models, now.legacy_current_model) == ("plan", ("m1", "m2"), "m2")
    assert now.config_options[0].current == "2"


# ---- terminals of a turn ------------------------------------------------------------------------------------------
async def test_cancelling_a_turn_ends_its_terminals_and_the_wait_for_them(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo $$ > pid; echo started; exec sleep 600"]
    script = {"cancel": "ignore", "prompts": [[{"terminal": command, "release": False}, {"text": "{last}"}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = _prompt(client, session)
        pid = tmp_path / "pid"
        await until(lambda: pid.exists() and pid.read_text().strip())
        await until(lambda: client._peer.incoming(method="terminal/wait_for_exit"))
        await client.cancel(session)
        await turn
        assert seen.text() == "started\n"
        _assert_gone(int(pid.read_text()))


async def test_closing_ends_terminals_nobody_released(tmp_path: Path) -> None:
    command = ["sh", "-c", "sleep 600 & echo $! > pid; wait"]
    step = {"terminal": command, "wait": False, "output": False, "release": False}
    async with running(tmp_path, {"prompts": [[step]]}) as (client, _):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        pid = tmp_path / "pid"
        await until(lambda: pid.exists() and pid.read_text().strip())
        await client.close()
        _assert_gone(int(pid.read_text()))


def _assert_gone(pid: int) -> None:
    from compozy.acp.processes import read_process

    entry = read_process(pid)
    assert entry is None or entry.is_zombie


# ---- storing fails ------------------------------------------------------------------------------------------------
async def test_updates_that_cannot_be_stored_end_the_connection_not_the_daemon(tmp_path: Path) -> None:
    class Full(Recording):
        async def on_updates(self, updates: object) -> None:
            raise OSError("disk full")

    script = {"prompts": [[{"text": "a"}, {"wait_file": str(tmp_path / "never")}]]}
    async with running(tmp_path, script, requests=Full(tmp_path)) as (client, seen):
        session = await open_session(client, tmp_path)
        with pytest.raises(AgentDied, match="could not be stored: disk full"):
            await client.prompt(session, text_block("x"), meta={})
        await until(lambda: seen.exits)


async def test_a_turn_of_which_something_is_lost_has_not_ended_well_although_its_answer_is_there(
    tmp_path: Path,
) -> None:
    answered = tmp_path / "answered"

    class FullLater(Recording):
        async def on_updates(self, updates: object) -> None:
            await until(answered.exists)
            raise OSError("disk full")

    script = {"prompts": [[{"text": "a"}]], "late": [{"touch": str(answered)}]}
    async with running(tmp_path, script, requests=FullLater(tmp_path)) as (client, _):
        session = await open_session(client, tmp_path)
        with pytest.raises(UpdatesLost):
            await client.prompt(session, text_block("x"), meta={})


async def test_a_handler_of_ours_that_fails_is_an_internal_error_to_the_agent(tmp_path: Path) -> None:
    class Broken(Recording):
        async def on_read_text_file(self, *_: object) -> str:
            raise ZeroDivisionError

    steps = [{"read": "f"}, {"text": "{last}"}]
    async with running(tmp_path, {"prompts": [steps]}, requests=Broken(tmp_path)) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        assert seen.text() == "error -32603: fs/read_text_file failed inside the client"
