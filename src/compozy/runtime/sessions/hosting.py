"""A session's hold on its agent process: bind it, drop it, and store what that means (contract §5.2, §5.4, §5.9).

Knows nothing of turns and queues. Calls are serialised by the session (`live.py`).
"""

import msgspec

from compozy.acp.contract import AgentDied, AgentError, AgentProtocolError, AgentTimeout
from compozy.model.errors import CompozyError, Unprocessable
from compozy.model.event import EventDraft
from compozy.model.session import (
    EffectiveRuntime,
    Failure,
    RuntimeSelection,
    RuntimeStatus,
    SessionState,
    StopReason,
)
from compozy.runtime.sessions.binding import STDERR_SHOWN, BindFailed, bind, end_process, new_marker, wish_of
from compozy.runtime.sessions.choosing import changes_provider, needs_new_start, with_choice
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.journal import Change, Journal, change_runtime, change_session
from compozy.runtime.sessions.ladder import refuse_new_session
from compozy.runtime.sessions.negotiation import Agreement, negotiate
from compozy.runtime.sessions.process import AgentProcess, ProcessOwner
from compozy.runtime.sessions.supervision.crash_bundle import Crash, with_bundle
from compozy.store.interface import SessionRecord


class AgentHost:
    """The process that serves a session, if any."""

    def __init__(self, deps: Deps, journal: Journal, maker: EventMaker) -> None:
        self._deps = deps
        self._journal = journal
        self._maker = maker
        record = journal.record
        self._roots = Roots(record.cwd, record.additional_dirs)
        self.process: AgentProcess | None = None
        # Served until a client chose another provider; ended when that one is bound, else taken back.
        self._aside: AgentProcess | None = None

    async def ensure_bound(
        self, owner: ProcessOwner, *, transition: str = "initial_bind", require_context: bool = False
    ) -> AgentProcess:
        """Return the process that serves the session, started when there is none.

        Raises:
            CompozyError: it cannot be started, or does not remember what it must (`require_context`).
        """
        process = self.process
        if process is not None and process.connection is not None and process.connection.is_alive:
            if require_context and process.lost_session_id:
                refuse_new_session(self._journal.record, process.tried)
            return process
        if process is not None:
            await self.drop(process)
        before = self._journal.record.session
        restarting = before.state == "stopped"
        status: RuntimeStatus = "recovering" if transition == "automatic_recovery" else "binding"
        await self._journal.change(
            set_fields(
                state="starting" if restarting else before.state,
                status=status,
                transition=transition,
                failure="",
                failure_code="",
            )
        )
        try:
            process, agreement = await self._climb(owner, require_context=require_context)
        except BindFailed as failed:
            self.process = None
            await self._keep_crash(failed)
            failure, code = failed.error.message, failed.error.code
            await self._journal.change(
                set_fields(state=before.state, status="unbound", transition="", failure=failure, failure_code=code)
            )
            raise failed.error from failed
        except BaseException:
            self.process = None
            await self._journal.change(set_fields(state=before.state, status="unbound", transition=""))
            raise
        await self._bound(process, agreement)
        return process

    async def _keep_crash(self, failed: BindFailed) -> None:
        if failed.crash is None:
            return
        failure = self._maker.failure(failed.kind, failed.error.message)
        found = await self.with_bundle(failure, failed.crash)
        failed.error.details["crash_bundle_path"] = found.crash_bundle_path

    async def with_bundle(self, failure: Failure, error: Exception | None, turn_id: str = "") -> Failure:
        """Return the failure with the path of a bundle of what is known about it."""
        crash = Crash()
        if isinstance(error, AgentDied):
            crash = Crash(exit_code=error.exit_code, stderr_tail=error.stderr_tail, printed=error.printed)
        return await with_bundle(self._deps, self._journal.record, failure, crash, turn_id=turn_id)

    async def _climb(self, owner: ProcessOwner, *, require_context: bool) -> tuple[AgentProcess, Agreement]:
        """Start a process; one that dies while it takes its session up again is followed by one that need not."""
        tried: list[tuple[str, str]] = []
        broken: tuple[str, ...] = ()
        while True:
            process = AgentProcess(
                owner,
                self._maker,
                self._roots,
                new_marker(),
                self._deps.bounds.answer,
                float(self._deps.config.tools.clarify.timeout),
            )
            process.tried = tried
            self.process = process
            self._maker.acp_session_id = ""
            try:
                agreement = await bind(
                    self._deps, self._journal.record, process, skip=broken, require_context=require_context
                )
            except BindFailed as failed:
                if not failed.broken_rung:
                    raise
                broken = (*broken, failed.broken_rung)
                continue
            return process, agreement

    async def choose(self, choice: RuntimeSelection, *, keeps_old: bool = False) -> None:
        """Follow a client's choice: tell a bound agent of the same provider, part with one of another.

        Args:
            keeps_old: the next agent is bound at once; until it is, the old one stays, to be taken back by `restore`.

        Raises:
            Unprocessable: the agent does not offer what was chosen; then nothing has changed.
        """
        before = self._journal.record
        config = await self._deps.configs.of(before.session.workspace_path)
        if with_choice(before, choice, config, self._deps.redactor) is before:
            return
        process = self.process
        if process is not None and (
            changes_provider(before, choice) or needs_new_start(before, choice, config.providers[choice.provider])
        ):
            if keeps_old:
                self._aside, self.process = process, None
            else:
                await self.drop(process)
            process = None
        await self._journal.change(lambda record: with_choice(record, choice, config, self._deps.redactor))
        if process is None or process.connection is None or not process.connection.is_alive:
            return
        await self._journal.change(set_fields(status="reconfiguring", transition="live_configuration"))
        try:
            provider = config.providers[choice.provider]
            agreement = await negotiate(process.connection, process.options, wish_of(self._journal.record), provider)
        except (CompozyError, AgentError) as error:
            await self.restore(before)
            await self._agree_again(process)
            if isinstance(error, AgentError):
                raise Unprocessable(f"the agent refused the choice: {error}", code="model_unavailable") from error
            raise
        process.options = agreement.options
        await self._journal.change(
            lambda record: change_runtime(
                record,
                status="ready",
                transition="",
                acp_caps=process.capabilities(),
                effective=_effective(record.session.runtime.effective, agreement),
            )
        )

    async def _agree_again(self, process: AgentProcess) -> None:
        """Bring a live agent back to what it ran with; one that cannot be brought back is started anew next time."""
        record = self._journal.record
        effective = record.session.runtime.effective
        config = await self._deps.configs.of(record.session.workspace_path)
        provider = config.providers.get(effective.provider if effective else "")
        try:
            if provider is None or process.connection is None:
                raise AgentDied("it cannot be asked")
            options = process.connection.options(process.session_id)
            agreement = await negotiate(process.connection, options, wish_of(record), provider)
        except (CompozyError, AgentError, AgentDied, AgentTimeout, AgentProtocolError):
            await self.drop(process)
            return
        process.options = agreement.options
        await self._journal.change(set_fields(status="ready", transition=""))

    async def restore(self, before: SessionRecord) -> None:
        """Take a choice back that could not be met, and the agent that served until then, when it is kept."""
        aside, self._aside = self._aside, None
        if aside is not None and self.process is None:
            if aside.connection is not None and aside.connection.is_alive:
                self.process = aside
                self._maker.acp_session_id = aside.session_id
                await self._journal.change(set_fields(status="ready", transition=""))
            else:
                await end_process(self._deps, aside)
        runtime = before.session.runtime
        await self._journal.change(
            lambda record: change_runtime(
                msgspec.structs.replace(
                    record,
                    command=before.command,
                    model=before.model,
                    model_source=before.model_source,
                    reasoning_effort=before.reasoning_effort,
                    effort_source=before.effort_source,
                    resume_session_id=before.resume_session_id,
                ),
                selected=runtime.selected,
                effective=runtime.effective,
                selection_revision=runtime.selection_revision,
            )
        )

    async def _bound(self, process: AgentProcess, agreement: Agreement) -> None:
        acp_id = process.session_id
        self._maker.acp_session_id = acp_id
        record = self._journal.record
        drafts = [self._maker.draft("system", "", title="negotiation", text=note) for note in agreement.notes]
        if record.provider_session_ids and process.is_first_prompt and not record.has_new_past:
            process.lost_session_id = record.provider_session_ids[-1]

        def change(record: SessionRecord) -> SessionRecord:
            known = record.provider_session_ids
            record = change_runtime(
                record,
                status="ready",
                transition="",
                failure="",
                recovery=None,
                acp_session_id=acp_id,
                acp_caps=process.capabilities(),
                generation=record.session.runtime.generation + 1,
                effective=_effective(record.session.runtime.effective, agreement),
            )
            record = msgspec.structs.replace(
                record,
                provider_session_ids=known if known[-1:] == (acp_id,) else (*known, acp_id),
                resume_session_id=acp_id,
                has_new_past=False,
            )
            return change_session(
                record, state="active", stop_reason=None, stop_detail="", failure=None, attachable=True
            )

        self._journal.ring.reopen()
        await self._journal.write(drafts, change)
        await self.end_aside()

    async def end_aside(self) -> None:
        """End the agent that was kept until another took over."""
        aside, self._aside = self._aside, None
        if aside is not None:
            await end_process(self._deps, aside)

    async def drop(self, process: AgentProcess) -> None:
        """End a process that serves no longer; the session can bind again."""
        if self.process is process:
            self.process = None
        await end_process(self._deps, process)
        await self._journal.change(set_fields(status="unbound", transition=""))

    async def end_idle(self, process: AgentProcess) -> None:
        """Store what it means that the process ended by itself while nothing ran (contract §5.9)."""
        self.process = None
        await end_process(self._deps, process)
        exit_code, stderr_tail = process.exit or (None, "")
        if exit_code == 0:
            await self.write_stopped((), "completed", "the agent's process exited", None, attachable=True)
            return
        tail = self._deps.redactor.text(stderr_tail[-STDERR_SHOWN:]).strip()
        failure = self._maker.failure("process_exit", f"exit code {exit_code} while idle; {tail}".rstrip("; "))
        died = AgentDied("while idle", exit_code=exit_code, stderr_tail=stderr_tail)
        failure = await self.with_bundle(failure, died)
        await self.write_stopped((), "agent_crashed", "the agent died idle", failure, attachable=False)

    async def write_stopped(
        self,
        drafts: tuple[EventDraft, ...],
        reason: StopReason,
        detail: str,
        failure: Failure | None,
        *,
        attachable: bool,
    ) -> None:
        """Store the last events and the end of the session together, then end its followers."""
        stopped = self._maker.draft("session_stopped", "", stop_reason=reason, text=detail, failure=failure)

        def change(record: SessionRecord) -> SessionRecord:
            record = change_runtime(record, status="failed" if failure else "unbound", transition="", recovery=None)
            record = msgspec.structs.replace(record, turn_id="")
            return change_session(
                record,
                state="stopped",
                stop_reason=reason,
                stop_detail=detail,
                failure=failure,
                attachable=attachable,
                pending_interactions=(),
            )

        await self._journal.write((*drafts, stopped), change)
        self._journal.ring.close()


def set_fields(
    *,
    state: SessionState | None = None,
    status: RuntimeStatus | None = None,
    transition: str | None = None,
    failure: str | None = None,
    failure_code: str | None = None,
    turn_id: str | None = None,
) -> Change:
    """Return the change that sets what is given."""
    given = {"status": status, "transition": transition, "failure": failure, "failure_code": failure_code}
    runtime: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    if status in ("unbound", "ready"):
        runtime["recovery"] = None

    def change(record: SessionRecord) -> SessionRecord:
        if turn_id is not None:
            record = msgspec.structs.replace(record, turn_id=turn_id)
        if runtime:
            record = change_runtime(record, **runtime)
        return change_session(record, state=state) if state is not None else record

    return change


def _effective(known: EffectiveRuntime | None, agreement: Agreement) -> EffectiveRuntime | None:
    """Return what is in force: what the agent took, or the profile's provider alone."""
    if known is None:
        return None
    speed = agreement.speed
    return msgspec.structs.replace(
        known,
        model=agreement.model,
        reasoning_effort=agreement.effort,
        speed=speed.requested if speed is not None and speed.status == "applied" else None,
        speed_resolution=speed,
    )
