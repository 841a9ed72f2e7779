"""An agent on the official Python ACP SDK: a second implementation that nobody here wrote below its methods.

Started as a process: ``python tests/kit/sdk_agent.py``. The prompt's words choose what it does: ``read PATH``,
``write PATH TEXT``, ``ask``, ``sh COMMAND``, ``wait`` (until cancelled); anything else is echoed.
"""

import asyncio

import acp
from acp import schema


class SdkAgent:
    def __init__(self) -> None:
        self.client = None
        self.cancelled = asyncio.Event()
        self.sessions = 0
        self.fast = False

    def on_connect(self, conn) -> None:
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **kwargs):
        assert client_capabilities.fs.read_text_file and client_capabilities.terminal
        assert client_capabilities.session.config_options.boolean is not None
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                session_capabilities=schema.SessionCapabilities(
                    additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                ),
            ),
            agent_info=schema.Implementation(name="sdk-agent", version="1"),
        )

    def options(self):
        return [schema.SessionConfigOptionBoolean(id="fast", name="Fast", type="boolean", current_value=self.fast)]

    async def new_session(self, cwd, additional_directories=None, mcp_servers=None, **kwargs):
        self.sessions += 1
        self.extra = additional_directories
        return schema.NewSessionResponse(session_id=f"sdk-{self.sessions}", config_options=self.options())

    async def load_session(self, cwd, session_id, mcp_servers=None, additional_directories=None, **kwargs):
        await self.say(session_id, "said before")
        return schema.LoadSessionResponse()

    async def resume_session(self, session_id, cwd, additional_directories=None, mcp_servers=None, **kwargs):
        return schema.ResumeSessionResponse()

    async def close_session(self, session_id, **kwargs):
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id, mode_id, **kwargs):
        return None

    async def set_config_option(self, config_id, session_id, value, **kwargs):
        assert config_id == "fast" and isinstance(value, bool)
        self.fast = value
        return schema.SetSessionConfigOptionResponse(config_options=self.options())

    async def cancel(self, session_id, **kwargs) -> None:
        self.cancelled.set()

    async def ext_method(self, method, params):
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method, params) -> None:
        return None

    async def say(self, session_id, text) -> None:
        await self.client.session_update(session_id, acp.update_agent_message_text(text))

    async def prompt(self, session_id, prompt, **kwargs):
        self.cancelled.clear()
        verb, _, rest = prompt[0].text.partition(" ")
        handler = getattr(self, "do_" + verb, None)
        said = await handler(session_id, rest) if handler else prompt[0].text
        await self.say(session_id, said)
        return schema.PromptResponse(stop_reason="cancelled" if self.cancelled.is_set() else "end_turn")

    async def do_dirs(self, session_id, rest):
        return ",".join(self.extra or [])

    async def do_read(self, session_id, path):
        return (await self.client.read_text_file(session_id=session_id, path=path)).content

    async def do_write(self, session_id, rest):
        path, _, text = rest.partition(" ")
        await self.client.write_text_file(session_id=session_id, path=path, content=text)
        return "written"

    async def do_ask(self, session_id, rest):
        options = [schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        call = schema.ToolCallUpdate(tool_call_id="t1", title="May I?", kind="edit")
        answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
        return getattr(answer.outcome, "option_id", None) or answer.outcome.outcome

    async def do_sh(self, session_id, command):
        made = await self.client.create_terminal(session_id=session_id, command="sh", args=["-c", command])
        ids = {"session_id": session_id, "terminal_id": made.terminal_id}
        ended = await self.client.wait_for_terminal_exit(**ids)
        output = await self.client.terminal_output(**ids)
        await self.client.kill_terminal(**ids)
        await self.client.release_terminal(**ids)
        assert output.exit_status.exit_code == ended.exit_code
        return f"{ended.exit_code}:{output.output}"

    async def do_wait(self, session_id, rest):
        await self.say(session_id, "waiting")
        await self.cancelled.wait()
        return "stopped"


if __name__ == "__main__":
    asyncio.run(acp.run_agent(SdkAgent(), use_unstable_protocol=True))
