"""Explaining permissions: what would happen if an agent did something, and what would change that (issue 6).

Asks the same two functions as a running session does, `session_mode` and `judge`, with the same roots; here is only
the gathering of their arguments and the wording of the remedies.
"""

import shlex
from collections.abc import Iterator

import msgspec

from compozy.model.definition import PERMISSION_MODES
from compozy.model.errors import InvalidRequest
from compozy.model.permission import ModeDerivation, Operation, OtherMode, PermissionExplanation
from compozy.model.record import Record
from compozy.model.workspace import Workspace
from compozy.runtime.agent_resolution import AgentResolver
from compozy.runtime.configs import Configs
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.containment import Roots, additional_directories
from compozy.runtime.sessions.mode import derive_mode, session_mode
from compozy.runtime.sessions.policy import judge
from compozy.runtime.sessions.questions import ANSWER_SECONDS, DEFAULT_DECISION
from compozy.runtime.workspaces import require_root
from compozy.store.interface import SessionRecord

# What an agent does through the daemon, by the protocol's name and by a plain word; every other tool is one of its
# own, for which it asks.
_THROUGH_US: dict[str, Operation] = {
    "fs/read_text_file": "read",
    "fs/write_text_file": "write",
    "terminal/create": "execute",
    "read": "read",
    "write": "write",
    "terminal": "execute",
}


class PermissionQuestion(Record, frozen=True, kw_only=True):
    """What is asked: for an agent as it would start now, or for a session as it is.

    `kind` is the tool call's kind (read, search, fetch, think, edit, delete, move, execute, other); it counts for
    tools of the agent's own.
    """

    agent: str = ""
    session_id: str = ""
    tool: str = ""
    kind: str = ""
    paths: tuple[str, ...] = ()
    permissions: str = ""


class Permissions:
    """Explains permissions of one home's agents and sessions."""

    def __init__(self, fleet: Fleet, sessions: Sessions, configs: Configs, resolver: AgentResolver) -> None:
        self._fleet = fleet
        self._sessions = sessions
        self._configs = configs
        self._resolver = resolver

    async def explain(self, question: PermissionQuestion, workspace: Workspace | None) -> PermissionExplanation:
        """Say what would happen.

        Raises:
            InvalidRequest: neither or both of agent and session, no such agent, or no such mode.
            NotFound: no such session.
        """
        if bool(question.agent) == bool(question.session_id):
            raise InvalidRequest("name an agent or a session_id, one of them")
        if question.permissions and question.permissions not in PERMISSION_MODES:
            raise InvalidRequest(f"permissions {question.permissions!r} must be one of {', '.join(PERMISSION_MODES)}")
        if question.session_id:
            return _of_session(question, await self._sessions.record(question.session_id))
        return await self._of_agent(question, workspace)

    async def _of_agent(self, question: PermissionQuestion, workspace: Workspace | None) -> PermissionExplanation:
        if workspace is None:
            raise InvalidRequest("name a workspace: what an agent may touch depends on where it works")
        require_root(workspace)
        found = await self._fleet.find(question.agent, workspace)
        config = await self._configs.of(workspace.root_dir)
        is_capped = await self._resolver.is_capped(found.loaded, found.origin, workspace)
        definition = found.loaded.definition
        mode = session_mode(definition, config, requested=question.permissions, is_capped=is_capped)
        roots = Roots(workspace.root_dir, additional_directories(workspace.root_dir, workspace.add_dirs))
        told = _judged(question, mode, roots)
        return msgspec.structs.replace(
            told,
            agent=definition.name,
            workspace_id=workspace.id,
            definition_path=str(found.loaded.path),
            changes=tuple(_changes(told, workspace.root_dir)),
        )


def _of_session(question: PermissionQuestion, record: SessionRecord) -> PermissionExplanation:
    session = record.session
    mode = record.mode_derivation or derive_mode(record.permission_mode, record.permission_mode)
    told = _judged(question, mode, Roots(record.cwd, record.additional_dirs))
    fixed = "the mode of a session is fixed when it is created: start another one to change it"
    return msgspec.structs.replace(
        told,
        agent=session.agent_name,
        session_id=session.id,
        workspace_id=session.workspace_id,
        definition_path=record.definition_path,
        changes=(*_changes(told, session.workspace_path), *((fixed,) if told.verdict != "allow-once" else ())),
    )


def _judged(question: PermissionQuestion, mode: ModeDerivation, roots: Roots) -> PermissionExplanation:
    operation: Operation = _THROUGH_US.get(question.tool, "ask")
    found = judge(mode.mode, operation, question.kind, question.paths, roots)
    others = (
        OtherMode(mode=other, verdict=judge(other, operation, question.kind, question.paths, roots).verdict)
        for other in PERMISSION_MODES
        if other != mode.mode
    )
    is_asked = found.verdict == "ask"
    return PermissionExplanation(
        agent=question.agent,
        tool=question.tool,
        operation=operation,
        kind=question.kind,
        paths=question.paths,
        verdict=found.verdict,
        reason=found.reason,
        mode=mode,
        roots=roots.paths,
        layers=found.layers,
        other_modes=tuple(others),
        changes=(),
        answer_seconds=int(ANSWER_SECONDS) if is_asked else 0,
        default_decision=DEFAULT_DECISION if is_asked else "",
    )


def _changes(told: PermissionExplanation, root: str) -> Iterator[str]:
    """Yield what would change the verdict, the nearest remedy first."""
    if told.layers[-1].name == "containment":
        yield "name a path below one of the roots"
        quoted = shlex.quote(root)
        yield f"add its folder to the workspace: compozy workspace edit {quoted} --add-dir FOLDER (for new sessions)"
        return
    if told.verdict == "ask":
        yield f"a person answers within {told.answer_seconds // 60} minutes; otherwise it is {told.default_decision}"
    if told.operation == "ask" and told.kind != "read" and told.mode.mode == "approve-reads":
        yield "a tool call of kind 'read' is allowed in this mode"
    if told.operation in ("write", "execute") and told.mode.mode == "approve-reads":
        yield "a person who allows the agent's tool call allows this with it"
    for other in told.other_modes:
        if other.verdict != told.verdict:
            yield f"mode {other.mode} would say {other.verdict}: {_how(told.mode, other.mode, root)}"


def _how(mode: ModeDerivation, other: str, root: str) -> str:
    """Say where the mode would have to change; what capped it comes first."""
    if mode.source == "trust":
        return f"compozy trust grant --workspace {shlex.quote(root)}"
    if mode.source == "request":
        return f"create the session with --permissions {other}"
    if mode.source == "parent":
        return "the parent session would have to have it"
    if mode.source == "agent":
        return f"write 'permissions: {other}' in its AGENT.md"
    return f"compozy config set permissions.mode {other}"
