"""An agent process as the rest of the daemon sees it: `launch` starts it, `AcpClient` speaks ACP v1 with it.

Joins the peer (messages), the child (process and pipes), the update lanes, the terminals and the notes. Decides
nothing about permissions, files or storage: those are `AgentRequests`. Contract §5.3–5.5, spec/acp.md, decision D25.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from compozy.acp import answers
from compozy.acp.child import Child, start
from compozy.acp.contract import (
    AgentBusy,
    AgentDied,
    AgentError,
    AgentInfo,
    AgentProtocolError,
    AgentRequests,
    LaunchSpec,
    ProcessIdentity,
    PromptOutcome,
    RequestRefused,
    SessionOptions,
    StopBounds,
    UpdatesLost,
    WireLimits,
)
from compozy.acp.inbound import CANCELLED_OUTCOME, Inbound
from compozy.acp.lifetime import Lifetime
from compozy.acp.notes import Notes
from compozy.acp.peer import METHOD_NOT_FOUND, IncomingRequest, Peer
from compozy.acp.sessions import AcpSession, SessionTable
from compozy.acp.terminals import Terminals
from compozy.acp.updates import UpdateLanes
from compozy.acp.wire import show

# Contract §5.4: after the answer, 50 ms without an update end the turn, 100 ms at most.
TURN_QUIET, TURN_QUIET_MOST = 0.05, 0.1
# One real agent sends most of its replay after the answer of session/load.
LOAD_QUIET, LOAD_QUIET_MOST = 0.1, 1.0

_log = logging.getLogger(__name__)


class AcpClient:
    """Implements `AgentConnection`; made by `launch`."""

    def __init__(self, child: Child, requests: AgentRequests, limits: WireLimits, bounds: StopBounds) -> None:
        self._child, self._limits = child, limits
        self._info: AgentInfo | None = None
        self._running = 0
        self._turns_ended = asyncio.Event()
        self._turns_ended.set()
        self._notes = Notes(requests.on_diagnostic)
        self._terminals = Terminals(child.identity.marker)
        self._inbound = Inbound(requests, self._terminals)
        self._peer = Peer(
            self,
            send=self._send,
            writable=self._writable,
            line_limit=limits.line,
            write_stall=limits.write_stall,
        )
        self._lanes = UpdateLanes(
            requests.on_updates,
            limits=limits,
            pause=self._pause,
            resume=self._resume,
            failed=self._on_store_failure,
        )
        self._lost: UpdatesLost | None = None
        self._sessions = SessionTable(self._lanes.put, self._notes.take)
        # Looked up once: it is called for every update.
        self.on_update = self._sessions.take_update
        self._lifetime = Lifetime(child, self._peer, self._lanes, self._terminals, self._notes, requests, bounds)

    async def _open(self) -> None:
        await self._child.write_input(
            self._limits.unread, lambda text: self._lifetime.fail(AgentDied(text), may_be_exit=True)
        )
        await self._child.read_stderr()
        await self._child.read_output(self._take_output, self._peer.feed_eof)
        self._lifetime.begin()

    def _take_output(self, chunk: bytes) -> None:
        try:
            self._peer.feed(chunk)
        except Exception as error:  # noqa: BLE001 - supervisor: a lost message would leave somebody waiting for ever
            _log.exception("output of an agent could not be taken")
            self.on_broken(AgentProtocolError(f"a message of the agent could not be taken: {error}"))

    def _on_store_failure(self, error: Exception) -> None:
        self._lost = UpdatesLost(f"what the agent said could not be stored: {error}")
        self._lifetime.fail(self._lost)

    def _send(self, data: bytes) -> None:
        if self._child.stdin is not None:
            self._child.stdin.send(data)

    async def _writable(self) -> None:
        if self._child.stdin is not None:
            await self._child.stdin.writable(self._limits.write_stall)

    def _pause(self) -> None:
        if self._child.output is not None:
            self._child.output.pause_reading()

    def _resume(self) -> None:
        if self._child.output is not None:
            self._child.output.resume_reading()

    # ---- facts ---------------------------------------------------------------------------------------------------
    @property
    def process(self) -> ProcessIdentity:
        return self._child.identity

    @property
    def is_alive(self) -> bool:
        return self._lifetime.is_alive

    def stderr_tail(self) -> str:
        return self._child.stderr.text()

    # ---- PeerHandler ---------------------------------------------------------------------------------------------
    def before_request(self, session_id: str) -> "asyncio.Future[None]":
        return self._lanes.mark(session_id)

    async def on_request(self, request: IncomingRequest) -> object:
        if not self._inbound.knows(request.method):
            self._notes.take("unknown_method", f"request {request.method!r}: {show(request.params, 500)}")
            raise RequestRefused(f"Method not found: {request.method}", code=METHOD_NOT_FOUND)
        session = self._sessions.find(request.session_id)
        if session is None and request.session_id and not self._sessions.is_opening:
            raise RequestRefused(f"unknown session {request.session_id!r}")
        if session is not None and session.is_cancelled and request.method == "session/request_permission":
            return CANCELLED_OUTCOME
        if request.before is not None:
            await request.before
        return await self._inbound.answer(request)

    def on_notification(self, method: str, params: msgspec.Raw) -> None:
        self._notes.take("unknown_method", f"notification {method!r}: {show(params, 500)}")

    def on_note(self, kind: str, text: str) -> None:
        self._notes.take(kind, text)

    def on_broken(self, error: AgentProtocolError) -> None:
        self._notes.take("protocol", str(error))
        self._lifetime.fail(error)
        if self._child.output is not None:
            self._child.output.close()

    # ---- calls ---------------------------------------------------------------------------------------------------
    def options(self, session_id: str) -> SessionOptions:
        return self._sessions.options(session_id)

    async def initialize(
        self, *, client_version: str, timeout: float, offer_files: bool = True, offer_terminals: bool = True
    ) -> AgentInfo:
        params = {
            "protocolVersion": answers.PROTOCOL_VERSION,
            "clientCapabilities": {
                "fs": {"readTextFile": offer_files, "writeTextFile": offer_files},
                "terminal": offer_terminals,
                "session": {"configOptions": {"boolean": {}}},
                "elicitation": {"form": {}},
            },
            "clientInfo": {"name": "compozy", "version": client_version},
        }
        self._info = answers.read_initialize(await self._peer.request("initialize", params, timeout=timeout))
        return self._info

    async def authenticate(self, method_id: str, *, timeout: float) -> None:
        await self._peer.request("authenticate", {"methodId": method_id}, timeout=timeout)

    async def new_session(
        self,
        *,
        cwd: str,
        mcp_servers: Sequence[Mapping[str, object]],
        additional_dirs: Sequence[str],
        timeout: float,
    ) -> SessionOptions:
        params = self._session_params(cwd, mcp_servers, additional_dirs)
        with self._sessions.opening():
            raw = await self._peer.request("session/new", params, timeout=timeout, on_answer=self._sessions.adopt)
        return self.options(answers.read_session_options(raw).session_id)

    async def load_session(
        self,
        session_id: str,
        *,
        cwd: str,
        mcp_servers: Sequence[Mapping[str, object]],
        additional_dirs: Sequence[str],
        timeout: float,
    ) -> SessionOptions:
        params = {"sessionId": session_id, **self._session_params(cwd, mcp_servers, additional_dirs)}
        return await self._reopen("session/load", session_id, params, timeout, is_replaying=True)

    async def resume_session(
        self,
        session_id: str,
        *,
        cwd: str,
        mcp_servers: Sequence[Mapping[str, object]],
        additional_dirs: Sequence[str],
        timeout: float,
    ) -> SessionOptions:
        params = {"sessionId": session_id, **self._session_params(cwd, mcp_servers, additional_dirs)}
        return await self._reopen("session/resume", session_id, params, timeout, is_replaying=False)

    async def _reopen(
        self, method: str, session_id: str, params: object, timeout: float, *, is_replaying: bool
    ) -> SessionOptions:
        is_new = self._sessions.find(session_id) is None
        session = self._sessions.know(session_id)
        session.is_replaying = is_replaying

        def on_answer(raw: msgspec.Raw) -> None:
            session.options = answers.read_session_options(raw, session.options)

        try:
            await self._peer.request(method, params, timeout=timeout, on_answer=on_answer)
            if is_replaying:
                await self._settle(session_id, LOAD_QUIET, LOAD_QUIET_MOST)
        except BaseException:
            if is_new:
                self._sessions.forget(session_id)
            raise
        finally:
            session.is_replaying = False
        return session.options

    async def close_session(self, session_id: str, *, timeout: float) -> None:
        await self._peer.request("session/close", {"sessionId": session_id}, timeout=timeout)
        await self._terminals.kill_all(session_id)
        self._sessions.forget(session_id)

    async def set_mode(self, session_id: str, mode_id: str, *, timeout: float) -> None:
        session = self._sessions.know(session_id)

        def on_answer(_: msgspec.Raw) -> None:
            session.options = replace(session.options, current_mode=mode_id)

        params = {"sessionId": session_id, "modeId": mode_id}
        await self._peer.request("session/set_mode", params, timeout=timeout, on_answer=on_answer)

    async def set_config_option(
        self, session_id: str, option_id: str, value: str | bool, *, timeout: float
    ) -> SessionOptions:
        session = self._sessions.know(session_id)

        def on_answer(raw: msgspec.Raw) -> None:
            session.options = answers.read_session_options(
                raw, answers.choose_option(session.options, option_id, value)
            )

        params: dict[str, object] = {"sessionId": session_id, "configId": option_id, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        await self._peer.request("session/set_config_option", params, timeout=timeout, on_answer=on_answer)
        return session.options

    async def set_model(self, session_id: str, model_id: str, *, timeout: float) -> None:
        session = self._sessions.know(session_id)

        def on_answer(_: msgspec.Raw) -> None:
            session.options = replace(session.options, legacy_current_model=model_id)

        params = {"sessionId": session_id, "modelId": model_id}
        await self._peer.request("session/set_model", params, timeout=timeout, on_answer=on_answer)

    # ---- turns ---------------------------------------------------------------------------------------------------
    async def prompt(
        self,
        session_id: str,
        blocks: Sequence[Mapping[str, object]],
        *,
        meta: Mapping[str, object],
    ) -> PromptOutcome:
        session = self._sessions.know(session_id)
        if session.is_busy:
            raise AgentBusy(f"a prompt of session {session_id!r} is already in progress: wait for it or cancel it")
        session.begin_turn()
        params: dict[str, object] = {"sessionId": session_id, "prompt": list(blocks)}
        if meta:
            params["_meta"] = dict(meta)

        def on_answer(_: msgspec.Raw) -> None:
            session.is_answered = True
            # Answered after its turn a permission must not approve anything.
            self._cancel_permissions(session_id)

        self._running += 1
        self._turns_ended.clear()
        try:
            raw = await self._peer.request("session/prompt", params, timeout=None, on_answer=on_answer)
            await self._settle(session_id, TURN_QUIET, TURN_QUIET_MOST)
            if self._lost is not None:
                # The answer was here before the failure; a turn of which something is lost has not ended well.
                raise self._lost
        except (AgentError, AgentDied, AgentProtocolError):
            # Whoever records the failure records it behind what was said before it.
            await self._lanes.mark(session_id)
            raise
        finally:
            session.end_turn()
            if not session.is_answered:
                self._cancel_permissions(session_id)
            self._running -= 1
            if not self._running:
                self._turns_ended.set()
        return answers.read_prompt_outcome(raw)

    async def cancel(self, session_id: str) -> None:
        session = self._sessions.find(session_id)
        if session is None or not session.is_busy or session.is_answered:
            return
        if not session.is_cancelled:
            session.is_cancelled, session.cancelled_at = True, asyncio.get_running_loop().time()
            self._peer.notify("session/cancel", {"sessionId": session_id})
        self._cancel_permissions(session_id)
        for request in self._peer.incoming(session_id=session_id, method="terminal/create"):
            request.cancel()
        await self._terminals.kill_all(session_id)

    async def close(self) -> None:
        busy = self._sessions.busy()
        # A turn that was cancelled a while ago has had that much of its time already.
        now = asyncio.get_running_loop().time()
        waited = min((now - s.cancelled_at if s.is_cancelled else 0.0 for s in busy), default=0.0)
        await self._lifetime.close(lambda: self._cancel_all(busy), self._turns_ended, waited)

    async def _cancel_all(self, sessions: Sequence[AcpSession]) -> None:
        for session in sessions:
            await self.cancel(session.id)

    def _session_params(
        self, cwd: str, mcp_servers: Sequence[Mapping[str, object]], additional_dirs: Sequence[str]
    ) -> dict[str, object]:
        params: dict[str, object] = {"cwd": cwd, "mcpServers": list(mcp_servers)}
        if additional_dirs:
            # An extension of the contract (§5.4.3): top level, snake case.
            params["additional_dirs"] = list(additional_dirs)
            if self._info is not None and self._info.additional_directories:
                params["additionalDirectories"] = list(additional_dirs)
        return params

    # ---- inside --------------------------------------------------------------------------------------------------
    def _cancel_permissions(self, session_id: str) -> None:
        for request in self._peer.incoming(session_id=session_id, method="session/request_permission"):
            request.cancel(CANCELLED_OUTCOME)

    async def _settle(self, session_id: str, quiet: float, most: float) -> None:
        """Wait for `quiet` seconds without an update, `most` at most, and for what came to be handled."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while True:
            until = min(max(begin, self._lanes.last_put(session_id)) + quiet, begin + most)
            if (left := until - loop.time()) <= 0:
                break
            await asyncio.sleep(left)
        await self._lanes.mark(session_id)


async def launch(
    spec: LaunchSpec,
    requests: AgentRequests,
    *,
    limits: WireLimits | None = None,
    bounds: StopBounds | None = None,
) -> AcpClient:
    """Start an agent program and return the connection to it; nothing is sent yet.

    Raises:
        AgentStartError: the program or its working folder does not exist or cannot be executed.
    """
    child = await start(spec, output="separate")
    client = AcpClient(child, requests, limits or WireLimits(), bounds or StopBounds())
    try:
        await client._open()
    except BaseException:
        await asyncio.shield(child.end(term_grace=0.0))
        raise
    return client
