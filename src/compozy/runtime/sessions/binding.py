"""Binding: from a session's frozen profile to a live agent that agreed on mode and model (contract §5.2, §5.4).

Every process is remembered in the store before it is used, so that the next daemon can end it. Whatever fails, the
process is ended and the error says what a person can do. What happens with the session then is the caller's.
"""

import asyncio
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from compozy.acp.contract import (
    AgentConnection,
    AgentDied,
    AgentError,
    AgentProtocolError,
    AgentStartError,
    AgentTimeout,
    LaunchSpec,
)
from compozy.config.commands import find_executable, split_command
from compozy.config.config import Config
from compozy.config.environment import agent_environment, make_provider_folders
from compozy.config.openai_compatible import missing_setting
from compozy.config.pi_folder import prepare_pi_folder
from compozy.config.provider_auth import install_step
from compozy.documents.agents import load_agent
from compozy.model import times
from compozy.model.errors import CompozyError, Gone, InvalidRequest, Unprocessable
from compozy.model.mcp import ResolvedServer
from compozy.model.provider import Provider
from compozy.model.workspace import Workspace
from compozy.runtime.mcp_servers import McpAsk, resolve_mcp_servers
from compozy.runtime.sessions.commands import whole_command
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.ladder import CONTEXT_LOST, RungBroke, open_session, refuse_new_session
from compozy.runtime.sessions.mcp import injected_servers, lacks_literals, with_literals
from compozy.runtime.sessions.negotiation import Agreement, Wish, check_before_launch, negotiate
from compozy.runtime.sessions.process import AgentProcess
from compozy.store.interface import ProcessRecord, SessionRecord

# JSON-RPC code of ACP for "log in first".
AUTH_REQUIRED = -32000
STDERR_SHOWN = 2000


class BindFailed(Exception):
    """A bind that failed: the error for the caller, and the failure kind for the session."""

    def __init__(self, error: CompozyError, kind: str, *, broken_rung: str = "") -> None:
        super().__init__(error.message)
        self.error, self.kind, self.broken_rung = error, kind, broken_rung
        self.crash: Exception | None = None
        """What a process of ours died of; None when none was started, or it was ended on purpose."""


def new_marker() -> str:
    """Return a marker that names one launch."""
    return secrets.token_hex(16)


async def bind(
    deps: Deps,
    record: SessionRecord,
    process: AgentProcess,
    *,
    skip: Collection[str] = (),
    require_context: bool = False,
) -> Agreement:
    """Launch the agent into `process` and open its session: taken up again when it can be, else new (`ladder.py`).

    After it, `process.is_first_prompt` says whether the agent knows nothing of the session yet.

    Raises:
        BindFailed: with the process ended.
    """
    if not await asyncio.to_thread(Path(record.cwd).is_dir):
        message = f"the workspace folder {record.cwd!r} is missing: restore it, or delete the session"
        raise BindFailed(Gone(message, code="workspace_root_missing"), "startup_failure")
    provider = await provider_of(deps, record)
    try:
        check_before_launch(wish_of(record), provider)
    except CompozyError as error:
        raise BindFailed(error, "handshake_failure") from error
    if require_context and not record.resume_session_id:
        try:
            refuse_new_session(record)
        except CompozyError as error:
            raise BindFailed(error, "load_session_failure") from error
    await _require_trust(deps, record)
    try:
        # In a thread: opening the vault reads files and, once, loads the cryptography.
        credentials = await asyncio.to_thread(deps.secrets.credentials, provider)
    except CompozyError as error:
        raise BindFailed(error, "provider_auth_failure") from error
    config = await _config_of(deps, record)
    try:
        command = await asyncio.to_thread(whole_command, deps, record, provider, config)
    except CompozyError as error:
        raise BindFailed(error, "startup_failure") from error
    spec = launch_spec(deps, msgspec.structs.replace(record, command=command), provider, process.marker, credentials)
    try:
        hosted = await deps.surface.launch(record, provider, config, process.marker)
        servers, notes = ([hosted.server], list(hosted.notes)) if hosted is not None else ([], [])
        if hosted is None or not hosted.covers_servers:
            configured, said = await _servers(deps, record, provider)
            servers, notes = [*servers, *configured], [*notes, *said]
    except CompozyError as error:
        raise BindFailed(error, "startup_failure") from error
    await _launch(deps, record, process, spec)
    stage = "initialize"
    try:
        if process.is_ending:
            raise AgentDied("its start was called off")
        connection = _connection(process)
        process.info = await connection.initialize(client_version=deps.version, timeout=deps.bounds.initialize)
        deps.surface.arm(process.marker, connection.process.pid)
        stage = "session/new"
        options = await open_session(
            connection,
            process.info,
            record,
            process,
            servers,
            deps.bounds,
            skip=skip,
            require_context=require_context,
        )
        process.options = options
        stage = "negotiation"
        agreement = await negotiate(connection, options, wish_of(record), provider)
        process.options = agreement.options
        agreement.notes.extend(notes)
        return agreement
    except RungBroke as broke:
        # Whoever ended it on purpose does not want another process.
        rung = "" if process.is_ending else broke.rung
        await end_process(deps, process)
        failed = _explain(broke.error, f"session/{broke.rung}", provider, deps)
        failed.crash = broke.error if rung else None
        failed.broken_rung = rung
        raise failed from broke
    except (AgentError, AgentDied, AgentTimeout, AgentProtocolError, CompozyError) as error:
        is_crash = not process.is_ending and isinstance(error, (AgentDied, AgentTimeout, AgentProtocolError))
        await end_process(deps, process)
        failed = _explain(error, stage, provider, deps)
        failed.crash = error if is_crash else None
        raise failed from error
    except BaseException:
        await end_process(deps, process)
        raise


async def provider_of(deps: Deps, record: SessionRecord) -> Provider:
    """Return the provider of the session's profile.

    Raises:
        BindFailed: the configuration no longer has it.
    """
    effective = record.session.runtime.effective
    name = effective.provider if effective else ""
    config = await _config_of(deps, record)
    provider = config.providers.get(name)
    if provider is None:
        message = f"provider {name!r} is not configured any more: restore it in config.toml or start a new session"
        raise BindFailed(InvalidRequest(message, code="provider_unknown"), "startup_failure")
    return provider


async def _servers(
    deps: Deps, record: SessionRecord, provider: Provider
) -> tuple[list[dict[str, object]], list[str]]:
    servers = record.mcp_servers
    if lacks_literals(servers):
        config = await deps.configs.of(record.session.workspace_path)
        authored = await asyncio.to_thread(authored_servers, deps, record, config)
        servers = with_literals(servers, authored, deps.redactor)
    return await asyncio.to_thread(injected_servers, servers, provider, deps.secrets)


def authored_servers(deps: Deps, record: SessionRecord, config: Config) -> tuple[ResolvedServer, ...]:
    """Return the servers as the files say them now. Reads files.

    Raises:
        CompozyError: a file cannot be used any more.
    """
    session = record.session
    workspace = Workspace(
        id=session.workspace_id,
        name="",
        root_dir=session.workspace_path,
        add_dirs=tuple(record.additional_dirs),
        created_at="",
        updated_at="",
    )
    path = Path(record.definition_path)
    ask = McpAsk(workspace=workspace, agent=load_agent(path) if record.definition_path else None, origin="workspace")
    return resolve_mcp_servers(deps.home, deps.trust, config, ask)


async def _require_trust(deps: Deps, record: SessionRecord) -> None:
    """Look again at what of the workspace the session was allowed to use."""
    if not record.trust_marks:
        return
    session = record.session
    try:
        await asyncio.to_thread(deps.trust.look_again, record.trust_marks, session.workspace_path, session.agent_name)
    except CompozyError as error:
        raise BindFailed(error, "startup_failure") from error


async def _config_of(deps: Deps, record: SessionRecord) -> Config:
    try:
        return await deps.configs.of(record.session.workspace_path)
    except CompozyError as error:
        raise BindFailed(error, "startup_failure") from error


def launch_spec(
    deps: Deps, record: SessionRecord, provider: Provider, marker: str, credentials: Mapping[str, str]
) -> LaunchSpec:
    """Return how to start the agent.

    Raises:
        BindFailed: the program is missing.
    """
    session = record.session
    env = agent_environment(
        provider,
        home=deps.home,
        session_id=session.id,
        agent_name=session.agent_name,
        model=record.model,
        reasoning_effort=record.reasoning_effort,
    )
    env.update(credentials)
    _require_settings(provider, record.model)
    make_provider_folders(provider, deps.home)
    if provider.harness == "pi_acp":
        prepare_pi_folder(provider, deps.home, session.id, record.model, env)
    try:
        argv = split_command(record.command)
    except ValueError as error:
        raise BindFailed(InvalidRequest(str(error), code="provider_command_required"), "startup_failure") from error
    program = find_executable(argv[0], env)
    if program is None:
        raise _missing_program(argv[0], provider)
    return LaunchSpec(argv=(program, *argv[1:]), env=env, cwd=record.cwd, marker=marker)


def _require_settings(provider: Provider, model: str) -> None:
    setting, example = missing_setting(provider, model)
    if not setting:
        return
    key = f"providers.{provider.id}.{setting}"
    error = Unprocessable(
        f"provider {provider.id!r} needs {setting}: set it with `compozy config set {key} {example}`",
        code="provider_not_configured",
        category="provider",
        evidence={"provider": provider.id, "setting": key, "recommended_action": "inspect"},
        hint=f"compozy config set {key} {example}",
    )
    raise BindFailed(error, "startup_failure")


def _missing_program(program: str, provider: Provider) -> BindFailed:
    step = install_step(provider, program)
    error = InvalidRequest(
        f"the program {program!r} of provider {provider.id!r} is missing: {step}, or choose another provider",
        code="provider_cli_missing",
        category="provider",
        evidence={"provider": provider.id, "program": program, "recommended_action": "install_cli"},
        hint=step if step.startswith("compozy ") else None,
        diagnostic=True,
    )
    return BindFailed(error, "startup_failure")


async def _launch(deps: Deps, record: SessionRecord, process: AgentProcess, spec: LaunchSpec) -> None:
    # Written before the process exists: should the daemon be killed in between, the marker finds it.
    early = _process_record(record, 0, process.marker, 0, process.marker)
    await deps.store.put_process(early)
    try:
        process.connection = await deps.launch(spec, process)
        identity = process.connection.process
        await deps.store.put_process(
            _process_record(record, identity.pid, identity.start_time, identity.group, identity.marker)
        )
    except AgentStartError as error:
        refused = InvalidRequest(
            f"the agent cannot be started: {error}",
            code="provider_cli_missing",
            category="provider",
            evidence={"program": spec.argv[0], "cwd": spec.cwd},
            diagnostic=True,
        )
        raise BindFailed(refused, "startup_failure") from error
    except BaseException:
        await end_process(deps, process)
        raise
    finally:
        await deps.store.delete_process(0, process.marker)


def _process_record(record: SessionRecord, pid: int, start_time: str, group: int, marker: str) -> ProcessRecord:
    return ProcessRecord(
        session_id=record.session.id,
        pid=pid,
        start_time=start_time,
        group=group,
        marker=marker,
        started_at=times.now(),
    )


def _connection(process: AgentProcess) -> AgentConnection:
    assert process.connection is not None, "the process was launched"
    return process.connection


def wish_of(record: SessionRecord) -> Wish:
    """Return what the session's profile asks of the agent."""
    selected = record.session.runtime.selected
    return Wish(
        permission_mode=record.permission_mode,
        model=record.model,
        model_explicit=record.model_source in ("agent", "prompt"),
        effort=record.reasoning_effort,
        effort_explicit=record.effort_source in ("agent", "prompt"),
        speed=selected.speed if selected is not None else None,
    )


async def end_process(deps: Deps, process: AgentProcess) -> None:
    """End the process with all its descendants and forget it. Idempotent."""
    process.is_ending = True
    process.questions.cancel_all()
    deps.surface.forget(process.marker)
    connection = process.connection
    if connection is None:
        return
    await connection.close()
    await deps.store.delete_process(connection.process.pid, connection.process.start_time)


def _explain(error: Exception, stage: str, provider: Provider, deps: Deps) -> BindFailed:
    if isinstance(error, CompozyError):
        return BindFailed(error, "load_session_failure" if error.code == CONTEXT_LOST else "handshake_failure")
    evidence: dict[str, object] = {"provider": provider.id, "stage": stage}
    kind, code = "handshake_failure", "provider_classification_unknown"
    by_hand = "run its program by hand to see what it needs"
    if isinstance(error, AgentDied):
        code_text = "unknown" if error.exit_code is None else str(error.exit_code)
        tail = deps.redactor.text(error.stderr_tail[-STDERR_SHOWN:]).strip()
        evidence |= {"exit_code": error.exit_code, "stderr_tail": tail}
        printed = f"; it had printed {error.printed!r}" if error.printed else ""
        last = f": {tail.splitlines()[-1]}" if tail else printed
        message = (
            f"the agent of provider {provider.id!r} exited during {stage} with code {code_text}{last}; {by_hand}"
        )
        kind = "startup_failure" if stage == "initialize" else kind
    elif isinstance(error, AgentTimeout):
        code = "provider_transient_failure"
        message = (
            f"the agent of provider {provider.id!r} did not answer {stage} within {error.seconds:g} s; {by_hand}"
        )
    elif isinstance(error, AgentError) and error.code == AUTH_REQUIRED:
        kind, code = "provider_auth_failure", "provider_not_authenticated"
        message = (
            f"the agent of provider {provider.id!r} wants a login first: {error.rpc_message}; log in (compozy "
            f"provider auth login {provider.id}, or the provider's own program) and prompt again"
        )
        evidence["recommended_action"] = "login"
    elif isinstance(error, AgentError):
        message = (
            f"the agent of provider {provider.id!r} refused {stage}: {error.rpc_message} ({error.code}); {by_hand}"
        )
    else:
        kind = "protocol_failure"
        message = (
            f"the agent of provider {provider.id!r} does not speak the protocol during {stage}: {error}; {by_hand}"
        )
    return BindFailed(
        Unprocessable(
            deps.redactor.text(message),
            code=code,
            category="provider",
            details={"failure_kind": kind},
            evidence=evidence,
            diagnostic=True,
        ),
        kind,
    )
