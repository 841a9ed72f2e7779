"""The official SDK as judge: its models read every message of ours, its client drives the scripted agent."""

from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema

from tests.kit.agents import fake_agent, received
from tests.kit.recording import BOUND, running, text_block

pytestmark = pytest.mark.anyio

MODELS: dict[str, type[Any]] = {
    "initialize": schema.InitializeRequest,
    "authenticate": schema.AuthenticateRequest,
    "session/new": schema.NewSessionRequest,
    "session/load": schema.LoadSessionRequest,
    "session/resume": schema.ResumeSessionRequest,
    "session/close": schema.CloseSessionRequest,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/set_config_option": schema.SetSessionConfigOptionSelectRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
    "$/cancel_request": schema.CancelRequestNotification,
}
# The contract's own extension (§5.4.3) beside the schema.
EXTENSIONS = {"additional_dirs"}


async def test_every_message_of_ours_is_one_of_the_schema_and_has_no_field_beyond_it(tmp_path: Path) -> None:
    import asyncio

    from compozy.acp.contract import AgentTimeout

    record = tmp_path / "record"
    options = [
        {"id": "model", "name": "M", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}
    ]
    script = {
        "record": str(record),
        "config_options": options,
        "on": {"authenticate": [{"never": True}]},
        "prompts": [[{"text": "x"}], [{"wait_cancel": True}]],
    }
    server = {"name": "s", "command": "/bin/true", "args": [], "env": [{"name": "A", "value": "1"}]}
    where = {"cwd": str(tmp_path), "mcp_servers": [server], "additional_dirs": ["/extra"], "timeout": BOUND}
    async with running(tmp_path, script) as (client, _):
        await client.initialize(client_version="0", timeout=BOUND)
        with pytest.raises(AgentTimeout):
            await client.authenticate("login", timeout=0.05)
        session = (await client.new_session(**where)).session_id
        await client.load_session("fake-9", **where)
        await client.resume_session("fake-9", **where)
        await client.set_mode(session, "ask", timeout=BOUND)
        await client.set_config_option(session, "model", "a", timeout=BOUND)
        await client.prompt(session, text_block("hello"), meta={"turn_source": "user"})
        turn = asyncio.ensure_future(client.prompt(session, text_block("again"), meta={}))
        await asyncio.sleep(0)
        await client.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        await client.close_session(session, timeout=BOUND)

    messages = [message for message in received(record) if "method" in message]
    assert {message["method"] for message in messages} == set(MODELS)
    for message in messages:
        assert message["jsonrpc"] == "2.0"
        params = message["params"]
        assert isinstance(params, dict)
        model = MODELS[str(message["method"])]
        read = model.model_validate(params).model_dump(by_alias=True, exclude_none=True)
        assert set(params) - set(read) <= EXTENSIONS, f"{message['method']} has fields the schema lacks"


class SdkClient(acp.Client):
    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.files: dict[str, str] = {}

    async def session_update(self, session_id, update, **kwargs) -> None:
        self.kinds.append(update.session_update)

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        )

    async def write_text_file(self, session_id, path, content, **kwargs):
        self.files[path] = content
        return schema.WriteTextFileResponse()


async def test_the_scripted_agent_is_an_agent_to_the_sdks_client_too(tmp_path: Path) -> None:
    script = {
        "modes": ["ask", "code"],
        "prompts": [
            [
                {"plan": ["a", {"content": "b", "status": "completed"}]},
                {"tool_call": {"kind": "edit"}},
                {"permission": {"title": "edit"}, "then": [{"write": "/tmp/x", "content": "by {last}"}]},
                {"tool_update": {}},
                {"commands": ["help"]},
                {"usage": {"used": 1, "size": 2}},
                {"thought": "hm"},
                {"text": "done"},
            ]
        ],
    }
    client = SdkClient()
    async with acp.spawn_agent_process(client, *fake_agent(tmp_path, script)) as (agent, _):
        info = await agent.initialize(protocol_version=1)
        assert info.agent_info is not None and info.agent_info.name == "fake-agent"
        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        assert session.modes is not None and session.modes.current_mode_id == "ask"
        answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("go")])
    assert answer.stop_reason == "end_turn"
    assert client.files == {"/tmp/x": "by opt-allow_once"}
    assert sorted(client.kinds) == sorted(
        [
            "plan",
            "tool_call",
            "tool_call_update",
            "available_commands_update",
            "usage_update",
            "agent_thought_chunk",
            "agent_message_chunk",
        ]
    )
