"""Opening the agent's own session again: resume, else load, else a new one that is told the transcript (P55, P56).

Whatever a rung answers is remembered, so that the transcript can say what was tried. A new session never takes the
place of an old one where the caller needs the agent to remember.
"""

from collections.abc import Collection, Mapping, Sequence

from compozy.acp.contract import AgentConnection, AgentDied, AgentError, AgentInfo, AgentTimeout, SessionOptions
from compozy.model.errors import Conflict
from compozy.model.event import EventDraft
from compozy.runtime.sessions.containment import additional_directories
from compozy.runtime.sessions.content import EventMaker, raw_json
from compozy.runtime.sessions.deps import Bounds
from compozy.runtime.sessions.process import AgentProcess
from compozy.store.interface import SessionRecord

CONTEXT_LOST = "context_lost"
NEW = "new"


class RungBroke(Exception):
    """The agent died, or never answered, while it was asked to take its session up again."""

    def __init__(self, rung: str, error: AgentDied | AgentTimeout) -> None:
        super().__init__(str(error))
        self.rung, self.error = rung, error


async def open_session(
    connection: AgentConnection,
    info: AgentInfo,
    record: SessionRecord,
    process: AgentProcess,
    servers: Sequence[Mapping[str, object]],
    bounds: Bounds,
    *,
    skip: Collection[str] = (),
    require_context: bool = False,
) -> SessionOptions:
    """Open the session on the first rung that holds; `skip` names rungs that broke an earlier process.

    Raises:
        Conflict: only a new session is left, and the caller needs the agent to remember (code `context_lost`).
        RungBroke: this process is lost; another may try the other rungs.
        AgentError, AgentDied, AgentTimeout: of `session/new`.
    """
    dirs = additional_directories(record.cwd, record.additional_dirs)
    known = record.resume_session_id
    for rung, offered in (("resume", info.resume_session), ("load", info.load_session)):
        if not known or rung in skip:
            continue
        if not offered:
            if rung not in dict(process.tried):
                process.tried.append((rung, "not offered by the agent"))
            continue
        again = connection.resume_session if rung == "resume" else connection.load_session
        try:
            options = await again(
                known, cwd=record.cwd, mcp_servers=servers, additional_dirs=dirs, timeout=bounds.load_session
            )
        except AgentError as error:
            process.tried.append((rung, str(error)))
            continue
        except (AgentDied, AgentTimeout) as error:
            process.tried.append((rung, str(error)))
            raise RungBroke(rung, error) from error
        process.is_first_prompt = False
        process.rung = rung
        return options
    if require_context:
        refuse_new_session(record, process.tried)
    process.rung = NEW
    return await connection.new_session(
        cwd=record.cwd, mcp_servers=servers, additional_dirs=dirs, timeout=bounds.new_session
    )


def refuse_new_session(record: SessionRecord, tried: Sequence[tuple[str, str]] = ()) -> None:
    """Refuse to go on without the agent's memory, unless there was none.

    Raises:
        Conflict: the session has a past that a new agent session would not know.
    """
    if not record.provider_session_ids or record.has_new_past:
        return
    steps = "; ".join(f"{rung}: {outcome}" for rung, outcome in tried) or "the provider was changed"
    raise Conflict(
        f"the agent does not remember session {record.session.id!r} ({steps}), and the prompt requires that it does: "
        "send it without require_context to continue with the transcript told to a new agent session",
        code=CONTEXT_LOST,
        category="session",
        evidence={
            "previous_session_id": record.provider_session_ids[-1],
            "ladder": [{"rung": rung, "outcome": outcome} for rung, outcome in tried],
        },
        diagnostic=True,
    )


def lost_marker(maker: EventMaker, process: AgentProcess, turn_id: str) -> list[EventDraft]:
    """Return the marker that says, once, that the agent does not remember the session."""
    old, process.lost_session_id = process.lost_session_id, ""
    if not old:
        return []
    facts = {
        "kind": CONTEXT_LOST,
        "previous_session_id": old,
        "session_id": process.session_id,
        "ladder": [{"rung": rung, "outcome": outcome} for rung, outcome in process.tried],
    }
    return [
        maker.draft(
            "transcript_marker.created",
            turn_id,
            title=CONTEXT_LOST,
            text=f"the agent could not load its session {old!r}: a new one was told the transcript",
            raw=raw_json(facts),
        )
    ]
