"""An ACP client made of the Python ACP SDK: independent of ours, it drives any agent over a real subprocess.

It serves one folder (reads, writes, terminals really happen), answers permissions by a rule and records everything.
"""
# ruff: noqa: ANN401 - the SDK calls back with its own models and open keyword arguments

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, text_block
from acp.client import ClientSideConnection
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    DeniedOutcome,
    FileSystemCapabilities,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalOutputResponse,
    ToolCallProgress,
    ToolCallStart,
    WaitForTerminalExitResponse,
)
from acp.stdio import spawn_agent_process

# Everything awaited here normally takes milliseconds; real agents take seconds.
BOUND = 60.0
Rule = Callable[[Any], str]


def allow(_call: Any) -> str:
    """Choose the option that allows once."""
    return "allow_once"


def reject(_call: Any) -> str:
    """Choose the option that rejects once."""
    return "reject_once"


class SdkClient:
    """Serves `root`; `permit` returns the option kind to choose; `gate`, once there, holds every read until set."""

    def __init__(self, root: Path, *, permit: Rule = allow, reads: bool = True, terminals: bool = True) -> None:
        self.root = root
        self.permit, self.reads, self.terminals = permit, reads, terminals
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.read_paths: list[str] = []
        self.written: dict[str, str] = {}
        self.commands: list[list[str]] = []
        self.released: list[str] = []
        self.gate: asyncio.Event | None = None
        self.reading = asyncio.Event()
        self.pending_permission = asyncio.Event()
        self.answer_permission = True
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._output: dict[str, bytes] = {}

    # Facts for tests

    @property
    def text(self) -> str:
        return "".join(update.content.text for update in self.updates if isinstance(update, AgentMessageChunk))

    @property
    def tool_calls(self) -> list[ToolCallStart]:
        return [update for update in self.updates if isinstance(update, ToolCallStart)]

    @property
    def plans(self) -> list[AgentPlanUpdate]:
        return [update for update in self.updates if isinstance(update, AgentPlanUpdate)]

    def last_status(self, tool_call_id: str) -> str | None:
        """Return the last status an update gave this tool call."""
        status = None
        for update in self.updates:
            if isinstance(update, ToolCallStart | ToolCallProgress) and update.tool_call_id == tool_call_id:
                status = update.status or status
        return status

    # The client side of the protocol

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        self.pending_permission.set()
        if not self.answer_permission:
            await asyncio.sleep(BOUND)
        kind = self.permit(tool_call)
        for option in options:
            if option.kind == kind:
                return RequestPermissionResponse(
                    outcome=AllowedOutcome(outcome="selected", option_id=option.option_id)
                )
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    def _inside(self, path: str) -> Path:
        real = Path(path).resolve()
        if real != self.root.resolve() and self.root.resolve() not in real.parents:
            raise RequestError.invalid_params({"error": f"{path} is outside"})
        return real

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> ReadTextFileResponse:
        self.read_paths.append(path)
        self.reading.set()
        if self.gate is not None:
            await self.gate.wait()
        if not self.reads:
            raise RequestError.invalid_params({"error": "reads are refused"})
        real = self._inside(path)
        try:
            return ReadTextFileResponse(content=real.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RequestError(-32002, "not found") from None
        except (OSError, UnicodeDecodeError) as error:
            raise RequestError.invalid_params({"error": str(error)}) from None

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        real = self._inside(path)
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_text(content, encoding="utf-8")
        self.written[str(real.relative_to(self.root.resolve()))] = content

    async def create_terminal(
        self, session_id: str, command: str, args: list[str] | None = None, cwd: str | None = None, **_: Any
    ) -> CreateTerminalResponse:
        self.commands.append([command, *(args or [])])
        if not self.terminals:
            raise RequestError.invalid_params({"error": "terminals are refused"})
        name = f"term-{len(self.commands)}"
        argv = [command, *(args or [])] if args else ["/bin/sh", "-c", command]
        self._running[name] = await asyncio.create_subprocess_exec(
            *argv, cwd=cwd or self.root, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        return CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> WaitForTerminalExitResponse:
        output, _err = await self._running[terminal_id].communicate()
        self._output[terminal_id] = output
        return WaitForTerminalExitResponse(exit_code=self._running[terminal_id].returncode)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> TerminalOutputResponse:
        return TerminalOutputResponse(output=self._output.get(terminal_id, b"").decode(), truncated=False)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        process = self._running[terminal_id]
        if process.returncode is None:
            process.kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self.released.append(terminal_id)
        await self.kill_terminal(session_id, terminal_id)

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        raise RequestError.method_not_found("elicitation/create")

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        pass

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        pass


class SdkSession:
    """One connected agent with one open session."""

    def __init__(
        self, connection: ClientSideConnection, client: SdkClient, process: asyncio.subprocess.Process
    ) -> None:
        self.connection, self.client, self.process = connection, client, process
        self.initialized: Any = None
        self.created: Any = None

    @property
    def session_id(self) -> str:
        return str(self.created.session_id)

    async def prompt(self, text: str, bound: float = BOUND) -> PromptResponse:
        """Run one turn to its end."""
        return await asyncio.wait_for(
            self.connection.prompt(session_id=self.session_id, prompt=[text_block(text)]), bound
        )

    async def cancel(self) -> None:
        await self.connection.cancel(session_id=self.session_id)

    async def set_mode(self, mode: str) -> None:
        await asyncio.wait_for(self.connection.set_session_mode(session_id=self.session_id, mode_id=mode), BOUND)


@asynccontextmanager
async def connect(
    argv: Sequence[str],
    client: SdkClient,
    *,
    env: Mapping[str, str] | None = None,
    fs: bool = True,
    terminal: bool = True,
    bound: float = BOUND,
) -> AsyncIterator[SdkSession]:
    """Start an agent, initialize it and open a session in the client's root; the process is ended on exit."""
    async with spawn_agent_process(
        client, argv[0], *argv[1:], env=dict(env or {"PATH": os.environ["PATH"]}), cwd=client.root
    ) as (connection, process):
        session = SdkSession(connection, client, process)
        capabilities = ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=fs, write_text_file=fs), terminal=terminal
        )
        session.initialized = await asyncio.wait_for(
            connection.initialize(protocol_version=PROTOCOL_VERSION, client_capabilities=capabilities), bound
        )
        session.created = await asyncio.wait_for(connection.new_session(cwd=str(client.root), mcp_servers=[]), bound)
        yield session
