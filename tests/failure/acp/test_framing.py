"""What agents write that is not a neat line of JSON-RPC (fault groups 7, 8, 10; reports P49–P51)."""

import asyncio
import json
from pathlib import Path

import pytest

from compozy.acp.contract import AgentProtocolError, WireLimits
from tests.kit.agents import received
from tests.kit.recording import chunk_texts, open_session, running, text_block, until

pytestmark = pytest.mark.anyio


async def _said(
    folder: Path, steps: list[dict[str, object]], **script: object
) -> tuple[list[str], list[tuple[str, str]]]:
    async with running(folder, {"prompts": [steps], **script}) as (client, seen):
        session = await open_session(client, folder)
        assert (await client.prompt(session, text_block("x"), meta={})).stop_reason == "end_turn"
    return chunk_texts(seen.updates), seen.diagnostics


async def test_chatter_on_stdout_becomes_notes_and_the_protocol_goes_on(tmp_path: Path) -> None:
    start = [{"line": "npm warn deprecated"}, {"line": ""}, {"line": "\u001b[32mready\u001b[0m"}]
    bare = [{"line": line} for line in ("null", "42", "[]", '"x"', "{}", '{"level":"info","id":1}', "   ")]
    steps = [*bare, {"raw": "\r[##  ] 50%\r"}, {"text": "fine"}, {"line": "bye"}]
    said, notes = await _said(tmp_path, steps, start=start)
    assert said == ["fine"]
    assert [text for kind, text in notes if kind == "stdout_noise"] == [
        "npm warn deprecated",
        "\x1b[32mready\x1b[0m",
        "null",
        "42",
        "[]",
        '"x"',
        "{}",
        '{"level":"info","id":1}',
        "[##  ] 50%",
        "bye",
    ]
    assert {kind for kind, _ in notes} == {"stdout_noise"}


async def test_notes_are_bounded_however_much_an_agent_prints(tmp_path: Path) -> None:
    said, notes = await _said(tmp_path, [{"repeat": 1000, "steps": [{"line": "x" * 5000}]}, {"text": "fine"}])
    assert said == ["fine"]
    assert len(notes) == 200
    assert max(len(text) for _, text in notes) <= 2000
    assert notes[-1][1].endswith("(further notes of this kind are not recorded)")


@pytest.mark.parametrize("size", [65_000, 65_536, 563_000, 3_000_000, 20_000_000])
async def test_a_long_line_is_delivered_intact(tmp_path: Path, size: int) -> None:
    said, notes = await _said(tmp_path, [{"huge": size}])
    assert [len(text) for text in said] == [size]
    assert notes == []


async def test_a_line_without_end_is_a_named_error_at_the_bound_and_nothing_is_held(tmp_path: Path) -> None:
    script = {"prompts": [[{"text": "before"}, {"endless": 1 << 40}]]}
    async with running(tmp_path, script, limits=WireLimits(line=1_000_000)) as (client, seen):
        session = await open_session(client, tmp_path)
        with pytest.raises(AgentProtocolError, match="a line of more than 1000000 bytes"):
            await client.prompt(session, text_block("x"), meta={})
        assert client._peer._splitter.finish() == []
        assert seen.text() == "before"
        await until(lambda: seen.exits)


async def test_a_broken_message_ends_the_connection_with_what_was_read(tmp_path: Path) -> None:
    script = {"prompts": [[{"line": '{"jsonrpc":"2.0","method":"session/update","params":{"se'}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        with pytest.raises(AgentProtocolError, match="broken JSON-RPC message"):
            await client.prompt(session, text_block("x"), meta={})
        await until(lambda: seen.exits)
        assert [kind for kind, _ in seen.diagnostics] == ["protocol"]


async def test_a_message_may_come_in_pieces_cut_inside_a_character_and_end_in_crlf(tmp_path: Path) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "grüße 🎈"}}
    message = {"method": "session/update", "params": {"sessionId": "fake-1", "update": update}}
    head = len(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).split("üß")[0].encode())
    crlf = json.dumps({"jsonrpc": "2.0", **message}) + "\r\n\r\n"
    said, notes = await _said(tmp_path, [{"cut": [head + 1, 1, 5], "message": message}, {"raw": crlf}])
    assert (said, notes) == (["grüße 🎈"] * 2, [])


async def test_ids_as_strings_and_both_result_and_error_are_understood(tmp_path: Path) -> None:
    said, notes = await _said(tmp_path, [{"text": "fine"}], string_ids=True)
    assert (said, notes) == (["fine"], [])
    script = {
        "prompts": [[{"respond": {"id": 3, "result": {"stopReason": "end_turn"}, "error": None}}, {"never": True}]]
    }
    async with running(tmp_path, script) as (client, _):
        session = await open_session(client, tmp_path)
        assert (await client.prompt(session, text_block("x"), meta={})).stop_reason == "end_turn"


async def test_answers_nobody_waits_for_are_notes(tmp_path: Path) -> None:
    steps = [{"respond": {"id": 77, "result": {}}}, {"respond": {"id": "x", "error": {"code": 1}}}, {"text": "fine"}]
    said, notes = await _said(tmp_path, steps)
    assert said == ["fine"]
    assert [kind for kind, _ in notes] == ["protocol", "protocol"]


async def test_unknown_methods_are_refused_and_unknown_notifications_noted(tmp_path: Path) -> None:
    steps = [
        {"request": "craft/drainMidTurnQueue", "params": {}},
        {"text": "{last}"},
        {"request": "fs/read_text_file", "params": {"sessionId": "fake-1"}},
        {"text": "{last}"},
        {"request": "fs/read_text_file", "params": [1]},
        {"text": "{last}"},
        {"notify": "qwen/notify/session/prompt-suggestion", "params": {}},
    ]
    said, notes = await _said(tmp_path, steps)
    assert said == [
        "error -32601: Method not found: craft/drainMidTurnQueue",
        "error -32602: path is missing or no text",
        "error -32602: sessionId is missing",
    ]
    assert [kind for kind, _ in notes] == ["unknown_method", "unknown_method"]


async def test_unknown_kinds_odd_values_and_meta_are_kept_as_they_came(tmp_path: Path) -> None:
    odd: list[dict[str, object]] = [
        {"sessionUpdate": "compaction_update", "n": 1},
        {"sessionUpdate": "usage_update", "used": None},
        {"sessionUpdate": 7},
        {"no": "kind"},
        {"sessionUpdate": "tool_call", "toolCallId": "t", "_meta": {"session_id": "EVIL", "update": "EVIL"}},
    ]
    async with running(tmp_path, {"prompts": [[{"update": update} for update in odd]]}) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
    assert [json.loads(bytes(update.raw)) for update in seen.updates] == odd
    assert [update.kind for update in seen.updates] == ["compaction_update", "usage_update", "", "", "tool_call"]
    assert {update.session_id for update in seen.updates} == {"fake-1"}


async def test_an_update_without_session_or_body_is_a_note(tmp_path: Path) -> None:
    lines = [
        {"respond": {"method": "session/update", "params": params}}
        for params in ({"sessionId": "fake-1"}, {"update": {}}, None, [])
    ]
    said, notes = await _said(tmp_path, [*lines, {"text": "fine"}])
    assert said == ["fine"]
    assert [kind for kind, _ in notes] == ["protocol"] * 4


async def test_a_last_message_without_newline_counts(tmp_path: Path) -> None:
    answer = '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}'
    async with running(tmp_path, {"prompts": [[{"raw": answer}, {"exit": 0}]]}) as (client, _):
        session = await open_session(client, tmp_path)
        assert (await client.prompt(session, text_block("x"), meta={})).stop_reason == "max_tokens"


async def test_a_flood_on_stderr_blocks_nobody_and_its_end_is_kept(tmp_path: Path) -> None:
    start = [{"stderr_flood": 1_000_000}, {"stderr": "the end\n"}]
    async with running(tmp_path, {"start": start}) as (client, _):
        await open_session(client, tmp_path)
        await until(lambda: client.stderr_tail().endswith("the end\n"))
        assert len(client.stderr_tail()) == 128 * 1024


async def test_a_request_withdrawn_by_the_agent_is_answered_as_cancelled(tmp_path: Path) -> None:
    record = tmp_path / "record"
    params = {"sessionId": "fake-1", "toolCall": {"toolCallId": "t"}, "options": []}
    steps = [
        {"request": "session/request_permission", "params": params, "id": "perm-é", "async": True},
        {"wait_file": str(tmp_path / "asked")},
        {"notify": "$/cancel_request", "params": {"requestId": "perm-é"}},
        {"wait_file": str(tmp_path / "withdrawn")},
    ]
    async with running(tmp_path, {"record": str(record), "prompts": [steps]}) as (client, seen):
        seen.choose = lambda request: asyncio.Event().wait()
        session = await open_session(client, tmp_path)
        turn = asyncio.ensure_future(client.prompt(session, text_block("x"), meta={}))
        await until(lambda: seen.permissions)
        (tmp_path / "asked").touch()
        await until(lambda: [m for m in received(record) if m.get("id") == "perm-é"])
        (tmp_path / "withdrawn").touch()
        await turn
    answer = next(m for m in received(record) if m.get("id") == "perm-é")
    assert answer["error"] == {"code": -32800, "message": "request cancelled"}
    assert ("permission withdrawn", "t") in seen.log


async def test_a_request_for_an_unknown_session_is_refused(tmp_path: Path) -> None:
    steps = [{"request": "fs/read_text_file", "params": {"sessionId": "other", "path": "f"}}, {"text": "{last}"}]
    said, _ = await _said(tmp_path, steps)
    assert said == ["error -32602: unknown session 'other'"]
