"""Routes of workspaces (contract §3.4)."""

import asyncio
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.catalog.skill_list import list_skills
from compozy.daemon.messages import Body, empty_response, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import Conflict
from compozy.model.workspace import Workspace
from compozy.model.workspace_detail import ProviderSummary, WorkspaceDetail
from compozy.runtime.services import Services
from compozy.runtime.workspaces import require_root
from compozy.store.interface import SessionQuery

_UNFINISHED = ("starting", "active", "stopping")
_SHOWN_SESSIONS = 100


class CreateWorkspace(Body, frozen=True, kw_only=True):
    root_dir: str
    name: str | None = None
    add_dirs: tuple[str, ...] | None = None
    default_agent: str | None = None
    sandbox_ref: str | None = None


class UpdateWorkspace(Body, frozen=True, kw_only=True):
    name: str | None = None
    add_dirs: tuple[str, ...] | None = None
    default_agent: str | None = None
    sandbox_ref: str | None = None


class ResolveWorkspace(Body, frozen=True, kw_only=True):
    path: str


async def list_workspaces(app: Services, request: Request) -> Response:
    """Answer every workspace by name."""
    return json_response({"workspaces": await app.workspaces.all()})


async def create_workspace(app: Services, request: Request) -> Response:
    """Register a root."""
    body = await read_body(request, CreateWorkspace)
    row = await app.workspaces.register(
        body.root_dir,
        name=body.name or "",
        add_dirs=body.add_dirs or (),
        default_agent=body.default_agent or "",
        sandbox_ref=body.sandbox_ref or "",
    )
    return json_response({"workspace": row}, 201)


async def resolve_workspace(app: Services, request: Request) -> Response:
    """Answer the workspace that owns a path; register it when none does."""
    body = await read_body(request, ResolveWorkspace)
    return json_response({"workspace": await app.workspaces.resolve_or_register(body.path)})


async def get_workspace(app: Services, request: Request) -> Response:
    """Answer a workspace with its agents, sessions and providers."""
    row = await app.workspaces.get(request.path_params["workspace_id"])
    require_root(row)
    agents = await app.fleet.visible(row)
    sessions = await app.sessions.page(SessionQuery(workspace_id=row.id, limit=_SHOWN_SESSIONS))
    skills = await asyncio.to_thread(list_skills, Path(row.root_dir), app.home.root)
    providers = tuple(
        ProviderSummary(
            name=provider.id,
            display_name=provider.display_name,
            harness=provider.harness,
            auth_mode=provider.auth_mode,
            env_policy=provider.env_policy,
            home_policy=provider.home_policy,
            runtime_provider=provider.runtime_provider,
        )
        for provider in app.config.providers.values()
    )
    return json_response(
        WorkspaceDetail(
            workspace=row, agents=agents.agents, sessions=sessions.sessions, skills=skills, providers=providers
        )
    )


async def update_workspace(app: Services, request: Request) -> Response:
    """Change what is not null."""
    body = await read_body(request, UpdateWorkspace)
    changes = msgspec.structs.asdict(body)
    row = await app.workspaces.update(request.path_params["workspace_id"], **changes)
    return json_response({"workspace": row})


async def delete_workspace(app: Services, request: Request) -> Response:
    """Forget a workspace without unfinished sessions."""
    row = await app.workspaces.get(request.path_params["workspace_id"])
    for state in _UNFINISHED:
        found = await app.sessions.page(SessionQuery(workspace_id=row.id, state=state, archive="include", limit=1))
        if found.page.total:
            raise Conflict(
                f"workspace {row.name!r} has {found.page.total} session(s) that are {state}: stop them first",
                code="workspace_has_sessions",
            )
    await app.workspaces.delete(row.id)
    return empty_response()


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/workspaces",
        handler=list_workspaces,
        name="listWorkspaces",
        summary="Every registered workspace",
        answer={"workspaces": tuple[Workspace, ...]},
    ),
    Route(
        method="POST",
        path="/api/workspaces",
        handler=create_workspace,
        name="createWorkspace",
        summary="Register a folder as a workspace",
        body=CreateWorkspace,
        answer={"workspace": Workspace},
        status=201,
        kind="write",
    ),
    Route(
        method="POST",
        path="/api/workspaces/resolve",
        handler=resolve_workspace,
        name="resolveWorkspace",
        summary="The workspace that owns a path, registered when there is none",
        body=ResolveWorkspace,
        answer={"workspace": Workspace},
        kind="write",
    ),
    Route(
        method="GET",
        path="/api/workspaces/{workspace_id}",
        handler=get_workspace,
        name="getWorkspace",
        summary="One workspace with its agents, sessions and providers",
        answer=WorkspaceDetail,
    ),
    Route(
        method="PATCH",
        path="/api/workspaces/{workspace_id}",
        handler=update_workspace,
        name="updateWorkspace",
        summary="Change name, additional folders or default agent",
        body=UpdateWorkspace,
        answer={"workspace": Workspace},
        kind="write",
    ),
    Route(
        method="DELETE",
        path="/api/workspaces/{workspace_id}",
        handler=delete_workspace,
        name="deleteWorkspace",
        summary="Forget a workspace; its files stay",
        status=204,
        kind="write",
    ),
)
