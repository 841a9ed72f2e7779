"""An `AgentRequests` for tests: records everything in order, answers from simple settings, can be made slow."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from compozy.acp.client import AcpClient, launch
from compozy.acp.contract import (
    ElicitationRequest,
    LaunchSpec,
    PermissionRequest,
    RequestRefused,
    SessionUpdate,
    StopBounds,
    TerminalRequest,
    WireLimits,
)
from tests.kit.agents import fake_agent

# Generous, because the machine may be busy; nothing normal takes longer than milliseconds.
BOUND = 60.0
QUICK_STOP = StopBounds(cancel=0.5, eof=2.0, term=1.0)


class Recording:
    """Everything an agent sent, in order; `log` holds (what, value) pairs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log: list[tuple[str, object]] = []
        self.updates: list[SessionUpdate] = []
        self.diagnostics: list[tuple[str, str]] = []
        self.exits: list[tuple[int | None, str]] = []
        self.permissions: list[PermissionRequest] = []
        self.choose: Callable[[PermissionRequest], Awaitable[str | None]] = self.choose_first
        self.before_updates: Callable[[], Awaitable[None]] | None = None
        self.batches: list[int] = []
        self.terminal_env = {"PATH": os.environ.get("PATH", "")}

    async def choose_first(self, request: PermissionRequest) -> str | None:
        return request.options[0].option_id if request.options else None

    async def on_updates(self, updates: Sequence[SessionUpdate]) -> None:
        if self.before_updates is not None:
            await self.before_updates()
        self.batches.append(len(updates))
        self.updates.extend(updates)
        self.log.extend(("update", update.kind) for update in updates)

    async def on_permission(self, request: PermissionRequest) -> str | None:
        self.permissions.append(request)
        self.log.append(("permission", request.tool_call_id))
        try:
            return await self.choose(request)
        except asyncio.CancelledError:
            self.log.append(("permission withdrawn", request.tool_call_id))
            raise

    async def on_read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        self.log.append(("read", path))
        target = self.root / path
        if not target.exists():
            raise RequestRefused(f"no such file: {path!r}", code=-32002)
        lines = target.read_text().splitlines(keepends=True)
        start = (line or 1) - 1
        return "".join(lines[start : start + limit] if limit is not None else lines[start:])

    async def on_write_text_file(self, session_id: str, path: str, content: str) -> None:
        self.log.append(("write", path))
        (self.root / path).write_text(content)

    async def on_terminal(self, request: TerminalRequest) -> LaunchSpec:
        self.log.append(("terminal", request.command))
        if request.command == "refused":
            raise RequestRefused("not here", data={"error": "permission denied"})
        return LaunchSpec(
            argv=(request.command, *request.args),
            env={**self.terminal_env, **request.env},
            cwd=request.cwd or str(self.root),
            marker="overridden",
        )

    async def on_elicitation(self, request: ElicitationRequest) -> dict[str, object] | None:
        self.log.append(("elicitation", request.message))
        return {field.name: field.choices[0] if field.choices else "words" for field in request.fields}

    async def on_diagnostic(self, kind: str, text: str) -> None:
        self.diagnostics.append((kind, text))

    async def on_exit(self, exit_code: int | None, stderr_tail: str) -> None:
        self.log.append(("exit", exit_code))
        self.exits.append((exit_code, stderr_tail))

    def text(self) -> str:
        """Return the joined text of all message chunks."""
        return "".join(chunk_texts(self.updates))


def chunk_texts(updates: Sequence[SessionUpdate]) -> list[str]:
    """Return the text of every agent_message_chunk."""
    bodies = [msgspec.json.decode(update.raw) for update in updates if update.kind == "agent_message_chunk"]
    return [body["content"]["text"] for body in bodies]


async def until(condition: Callable[[], object], what: str = "the condition") -> None:
    """Poll until the condition is true; fail after the bound."""
    deadline = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < deadline, f"{what} was not met within {BOUND:g} s"
        await asyncio.sleep(0.005)


@asynccontextmanager
async def running(
    folder: Path,
    script: Mapping[str, object] | None = None,
    *,
    argv: Sequence[str] | None = None,
    requests: Recording | None = None,
    limits: WireLimits | None = None,
    bounds: StopBounds = QUICK_STOP,
    marker: str | None = None,
) -> AsyncIterator[tuple[AcpClient, Recording]]:
    """Launch an agent (the fake one unless `argv` is given), and end it on leaving."""
    recording = requests or Recording(folder)
    spec = LaunchSpec(
        argv=tuple(argv) if argv else fake_agent(folder, script),
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.pathsep.join(sys.path) if argv else ""},
        cwd=str(folder),
        marker=marker or f"test-{os.getpid()}-{folder.name}",
    )
    client = await launch(spec, recording, limits=limits, bounds=bounds)
    try:
        yield client, recording
    finally:
        await client.close()


async def open_session(client: AcpClient, folder: Path) -> str:
    """Initialize and open a session; return its id."""
    await client.initialize(client_version="0", timeout=BOUND)
    options = await client.new_session(cwd=str(folder), mcp_servers=[], additional_dirs=[], timeout=BOUND)
    return options.session_id


def text_block(text: str) -> list[dict[str, object]]:
    """Return a prompt of one text block."""
    return [{"type": "text", "text": text}]
