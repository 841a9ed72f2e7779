"""Routes of sessions as things: create, list, read, rename, archive, stop, delete (contract §3.5)."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import (
    Body,
    empty_response,
    json_response,
    query_flag,
    query_number,
    query_values,
    read_body,
)
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.page import Page
from compozy.model.session import BADGES, Session
from compozy.model.session_answers import SessionList, SessionOwner
from compozy.runtime.services import Services
from compozy.runtime.sessions.create import CreateRequest
from compozy.runtime.sessions.health import with_health
from compozy.runtime.sessions.pins import with_definition_state
from compozy.store.interface import SessionQuery

SESSION = "/api/workspaces/{workspace_id}/sessions/{session_id}"
_STATES = ("starting", "active", "stopping", "stopped")
_TYPES = ("user", "system", "coordinator", "spawned")
_ARCHIVE = ("exclude", "only", "include")
_SORT = ("recent", "last_activity", "attention")


class CreateSession(Body, frozen=True, kw_only=True):
    agent_name: str = ""
    name: str = ""
    workspace: str = ""
    workspace_path: str = ""
    permissions: str = ""
    parent_session_id: str = ""
    worktree: str = ""
    new_worktree: dict[str, object] | None = None
    network_participation: dict[str, object] | None = None


class RuntimeBody(Body, frozen=True, kw_only=True):
    """A client's choice of what a session runs with (shapes: RuntimeSel)."""

    provider: str
    model: str = ""
    reasoning_effort: str = ""
    speed: str | None = None


class SetRuntime(Body, frozen=True, kw_only=True):
    runtime: RuntimeBody
    expected_revision: int | None = None


class RenameSession(Body, frozen=True, kw_only=True):
    name: str


async def session_id_of(app: Services, request: Request) -> str:
    """Return the path's session id after checking that it lies in the path's workspace (else 404)."""
    params = request.path_params
    session = await app.sessions.get(params["session_id"], params.get("workspace_id", ""))
    return session.id


async def create_session(app: Services, request: Request) -> Response:
    """Create a session; no process starts."""
    body = await read_body(request, CreateSession)
    session = await app.sessions.create(
        CreateRequest(
            agent_name=body.agent_name.strip(),
            name=body.name,
            workspace=body.workspace.strip(),
            workspace_path=body.workspace_path.strip(),
            permissions=body.permissions.strip(),
            parent_session_id=body.parent_session_id,
            worktree=body.worktree,
            new_worktree=body.new_worktree,
            network_participation=body.network_participation,
        )
    )
    return json_response({"session": session}, 201)


async def list_sessions(app: Services, request: Request) -> Response:
    """Answer a page of sessions."""
    values = query_values(request)
    badges = tuple(part.strip() for part in values.get("badge", "").split(",") if part.strip())
    for badge in badges:
        if badge not in BADGES:
            raise InvalidRequest(f"query parameter 'badge' has {badge!r}; write some of {', '.join(BADGES)}")
    attention = query_flag(request, "attention")
    resumable = query_flag(request, "resumable") if values.get("resumable") else None
    query = SessionQuery(
        workspace_id=values.get("workspace", ""),
        state=_choice(values, "state", _STATES),
        type=_choice(values, "type", _TYPES),
        agent=values.get("agent", ""),
        parent=values.get("parent", ""),
        root=values.get("root", ""),
        q=values.get("q", ""),
        badges=badges,
        attention=attention,
        resumable=resumable,
        archive=_choice(values, "archive", _ARCHIVE) or "exclude",
        sort=_choice(values, "sort", _SORT) or ("attention" if attention or badges else "recent"),
        limit=query_number(request, "limit", default=50, minimum=1, maximum=100),
    )
    if values.get("worktree"):
        # Sessions have no working trees of their own yet: none lies in the one that was named.
        return json_response(SessionList(sessions=(), page=Page(limit=query.limit, total=0, has_more=False)))
    return json_response(
        await app.sessions.page(
            query, cursor=values.get("cursor", ""), include_health=query_flag(request, "include_health")
        )
    )


def _choice(values: dict[str, str], name: str, allowed: tuple[str, ...]) -> str:
    value = values.get(name, "")
    if value and value not in allowed:
        raise InvalidRequest(f"query parameter {name!r} is {value!r}; write one of {', '.join(allowed)}")
    return value


async def get_session(app: Services, request: Request) -> Response:
    """Answer one session, by its id alone or within its workspace."""
    params = request.path_params
    session_id, workspace = params["session_id"], params.get("workspace_id", "")
    record = await app.sessions.record(session_id, workspace)
    session = with_health(record) if query_flag(request, "include_health") else record.session
    return json_response({"session": await with_definition_state(session, app.fleet, app.workspaces)})


async def get_owner(app: Services, request: Request) -> Response:
    """Answer which workspace a session belongs to."""
    session = await app.sessions.get(request.path_params["session_id"])
    workspace = await app.workspaces.get(session.workspace_id)
    return json_response(
        SessionOwner(session_id=session.id, workspace_id=workspace.id, workspace_name=workspace.name)
    )


async def rename_session(app: Services, request: Request) -> Response:
    """Give a session another name."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, RenameSession)
    return json_response({"session": await app.sessions.rename(session_id, body.name)})


async def archive_session(app: Services, request: Request) -> Response:
    """Put a stopped session away."""
    session_id = await session_id_of(app, request)
    return json_response({"session": await app.sessions.set_archived(session_id, archived=True)})


async def unarchive_session(app: Services, request: Request) -> Response:
    """Take an archived session back."""
    session_id = await session_id_of(app, request)
    return json_response({"session": await app.sessions.set_archived(session_id, archived=False)})


async def stop_session(app: Services, request: Request) -> Response:
    """Stop a session with its process; a stopped one is fine."""
    await app.sessions.stop(await session_id_of(app, request))
    return empty_response()


async def delete_session(app: Services, request: Request) -> Response:
    """Stop a session and remove everything stored of it."""
    await app.sessions.delete(await session_id_of(app, request))
    return empty_response()


async def set_runtime(app: Services, request: Request) -> Response:
    """Change what a session runs with from now on."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, SetRuntime)
    given = msgspec.structs.asdict(body.runtime)
    return json_response({"session": await app.sessions.choose(session_id, given, body.expected_revision)})


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/sessions",
        handler=list_sessions,
        name="listSessions",
        summary="Sessions by page",
        answer=SessionList,
        query=(
            *("workspace", "state", "type", "agent", "parent", "root", "q", "archive", "sort", "cursor", "limit"),
            *("worktree", "resumable", "attention", "badge", "include_health"),
        ),
    ),
    Route(
        method="POST",
        path="/api/sessions",
        handler=create_session,
        name="createSession",
        summary="Create a session; the first prompt starts its agent",
        body=CreateSession,
        answer={"session": Session},
        status=201,
        kind="admit",
    ),
    Route(
        method="GET",
        path="/api/sessions/{session_id}",
        handler=get_session,
        name="getSessionByID",
        summary="One session by its id",
        answer={"session": Session},
        query=("include_health",),
    ),
    Route(
        method="GET",
        path="/api/sessions/{session_id}/owner",
        handler=get_owner,
        name="getSessionOwner",
        summary="The workspace of a session",
        answer=SessionOwner,
    ),
    Route(
        method="GET",
        path=SESSION,
        handler=get_session,
        name="getSession",
        summary="One session of a workspace",
        answer={"session": Session},
        query=("include_health",),
    ),
    Route(
        method="PATCH",
        path=SESSION,
        handler=rename_session,
        name="renameSession",
        summary="Rename a session",
        body=RenameSession,
        answer={"session": Session},
        kind="write",
    ),
    Route(
        method="DELETE",
        path=SESSION,
        handler=delete_session,
        name="deleteSession",
        summary="Stop and remove a session",
        status=204,
        kind="write",
    ),
    Route(
        method="PUT",
        path=f"{SESSION}/runtime",
        handler=set_runtime,
        name="setSessionRuntime",
        summary="Choose provider, model and effort for the turns to come",
        body=SetRuntime,
        answer={"session": Session},
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/archive",
        handler=archive_session,
        name="archiveSession",
        summary="Put a stopped session away",
        answer={"session": Session},
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/unarchive",
        handler=unarchive_session,
        name="unarchiveSession",
        summary="Take an archived session back",
        answer={"session": Session},
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/stop",
        handler=stop_session,
        name="stopSession",
        summary="Stop a session and its agent",
        status=204,
        kind="write",
    ),
)
