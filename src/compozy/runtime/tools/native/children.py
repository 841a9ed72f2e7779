"""session_create, session_spawn: new sessions, which out of a session are its children (contract §6.2, §9; D28).

A child never has more than the session that starts it: `create` hands on all of that, `spawn` what it names. The
rules are those of `sessions/spawning`; an operator's `create` makes a session that belongs to nobody.
"""

from typing import Annotated

from msgspec import Meta

from compozy.model.errors import InvalidRequest
from compozy.model.session import PermissionPolicy
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.create import CreateRequest
from compozy.runtime.sessions.spawning.plan import SpawnRequest
from compozy.runtime.tools.native.kit import SESSIONS, Actor, Arguments, NativeTool, native, refuse
from compozy.runtime.tools.native.places import Places

_Atoms = Annotated[tuple[str, ...], Meta(description="Among what this session has; empty for none.")]


class SessionCreate(Arguments, frozen=True, kw_only=True):
    agent: Annotated[str, Meta(min_length=1, description="The agent's name.")]
    name: Annotated[str, Meta(max_length=200)] = ""
    workspace: Annotated[str, Meta(description="For operators; a session's child works where the session does.")] = ""


class SessionSpawn(Arguments, frozen=True, kw_only=True):
    agent: Annotated[str, Meta(min_length=1, description="The agent's name.")]
    role: Annotated[str, Meta(min_length=1, description="What the child is for, in a word.")]
    ttl_seconds: Annotated[int, Meta(ge=1, description="How long it may live.")]
    name: Annotated[str, Meta(max_length=200)] = ""
    tools: _Atoms = ()
    mcp_servers: _Atoms = ()
    skills: _Atoms = ()
    workspace_paths: _Atoms = ()
    instructions: Annotated[str, Meta(description="What it is told beside its definition.")] = ""
    idempotency_key: str = ""


class ChildTools:
    """The tools that start sessions."""

    def __init__(self, sessions: Sessions, places: Places) -> None:
        self._sessions = sessions
        self._places = places

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        return (
            native(
                "session_create",
                SessionCreate,
                self._create,
                "Start a session of another agent as a child of this one, with what this one may do. Prompt it next.",
                title="Create a session",
                toolsets=(SESSIONS,),
                risk="mutating",
                hints=("delegate", "new session", "subagent", "another agent"),
            ),
            native(
                "session_spawn",
                SessionSpawn,
                self._spawn,
                "Start a child session for a limited time, with just the tools, servers, skills and folders named.",
                title="Spawn a child session",
                toolsets=(SESSIONS,),
                risk="mutating",
                hints=("delegate", "subagent", "limited"),
            ),
        )

    async def _create(self, actor: Actor, given: SessionCreate) -> object:
        place = await self._places.find(actor, given.workspace)
        if place is None:
            raise InvalidRequest("workspace is required: name one")
        request = CreateRequest(
            agent_name=given.agent,
            name=given.name,
            workspace=place.id,
            parent_session_id=actor.scope.session_id,
        )
        return {"session": await self._sessions.create(request)}

    async def _spawn(self, actor: Actor, given: SessionSpawn) -> object:
        if actor.session is None:
            raise refuse("only a session has children: call session_create, or `compozy session new`")
        request = SpawnRequest(
            agent_name=given.agent,
            spawn_role=given.role,
            ttl_seconds=given.ttl_seconds,
            name=given.name,
            permissions=PermissionPolicy(
                mcp_servers=given.mcp_servers,
                network_channels=(),
                sandbox_profiles=(),
                skills=given.skills,
                tools=given.tools,
                workspace_paths=given.workspace_paths,
            ),
            prompt_overlay=given.instructions,
            idempotency_key=given.idempotency_key,
        )
        return {"spawn": await self._sessions.children.spawn(actor.session.id, request)}
