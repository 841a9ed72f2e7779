"""Routes that change agents, and take changes back (contract §3.3; formats §13; decisions D3, D4, D12).

Bodies are strict: no unknown field, and neither servers nor hooks. What happens is decided in `runtime.authoring`.
"""

from collections.abc import Callable
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.agent import Agent
from compozy.model.authoring import Deleted, EditedAgent, Kept, RestoredAgent
from compozy.model.definition import AgentDefinition
from compozy.model.workspace import Workspace
from compozy.runtime.services import Services

_Scope = Literal["global", "workspace"]


class SkillsBody(Body, frozen=True, kw_only=True):
    disabled: tuple[str, ...] = ()


class _Fields(Body, frozen=True, kw_only=True):
    provider: str = ""
    model: str = ""
    reasoning_effort: str = ""
    command: str = ""
    tools: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()
    permissions: str = ""
    skills: SkillsBody | None = None
    category_path: tuple[str, ...] = ()


class AgentFields(_Fields, frozen=True, kw_only=True):
    name: str
    prompt: str


class AgentOverrides(_Fields, frozen=True, kw_only=True):
    prompt: str = ""


class CreateAgent(Body, frozen=True, kw_only=True):
    scope: _Scope
    agent: AgentFields
    workspace: str = ""


class UpdateAgent(Body, frozen=True, kw_only=True):
    agent: AgentFields
    expected_digest: str
    workspace: str = ""


class DuplicateAgent(Body, frozen=True, kw_only=True):
    name: str
    scope: _Scope | None = None
    workspace: str = ""
    overrides: AgentOverrides | None = None


class RestoreAgent(Body, frozen=True, kw_only=True):
    hash: str
    workspace: str = ""
    expected_digest: str = ""


def _definition(agent: AgentFields) -> AgentDefinition:
    values = {name: getattr(agent, name) for name in AgentFields.__struct_fields__ if name != "skills"}
    return AgentDefinition(**values, skills_disabled=agent.skills.disabled if agent.skills else ())


def _overlay(overrides: AgentOverrides | None) -> Callable[[AgentDefinition], AgentDefinition]:
    """Return what puts the overrides that are not empty over a definition; a given skills object replaces."""

    def apply(definition: AgentDefinition) -> AgentDefinition:
        if overrides is None:
            return definition
        names = [name for name in AgentOverrides.__struct_fields__ if name != "skills"]
        values: dict[str, object] = {name: value for name in names if (value := getattr(overrides, name))}
        if overrides.skills is not None:
            values["skills_disabled"] = overrides.skills.disabled
        return msgspec.structs.replace(definition, **values)

    return apply


async def _workspace(app: Services, reference: str) -> Workspace | None:
    return await app.workspaces.get(reference) if reference.strip() else None


async def create_agent(app: Services, request: Request) -> Response:
    """Create an agent."""
    body = await read_body(request, CreateAgent)
    workspace = await _workspace(app, body.workspace)
    agent = await app.authoring.create(_definition(body.agent), body.scope, workspace)
    return json_response({"agent": agent}, 201)


async def update_agent(app: Services, request: Request) -> Response:
    """Replace the fields and the prompt of the agent in force."""
    body = await read_body(request, UpdateAgent)
    workspace = await _workspace(app, body.workspace)
    agent, edit = await app.authoring.update(
        request.path_params["name"], _definition(body.agent), body.expected_digest, workspace
    )
    return json_response(EditedAgent(agent=agent, edit=edit))


async def duplicate_agent(app: Services, request: Request) -> Response:
    """Copy an agent's whole folder under a new name."""
    body = await read_body(request, DuplicateAgent)
    agent = await app.authoring.duplicate(
        request.path_params["name"],
        body.name,
        scope=body.scope,
        workspace=await _workspace(app, body.workspace),
        overrides=_overlay(body.overrides),
    )
    return json_response({"agent": agent}, 201)


async def delete_agent(app: Services, request: Request) -> Response:
    """Delete an agent's whole folder."""
    workspace = await _workspace(app, query_values(request).get("workspace", ""))
    return json_response(await app.authoring.delete(request.path_params["name"], workspace))


async def list_history(app: Services, request: Request) -> Response:
    """Answer the kept states of an agent, newest first."""
    workspace = await _workspace(app, query_values(request).get("workspace", ""))
    return json_response({"history": await app.authoring.history(request.path_params["name"], workspace)})


async def restore_agent(app: Services, request: Request) -> Response:
    """Give an agent's folder the content of a kept state."""
    body = await read_body(request, RestoreAgent)
    workspace = await _workspace(app, body.workspace)
    agent, kept = await app.authoring.restore(
        request.path_params["name"], body.hash, workspace, expected_digest=body.expected_digest
    )
    return json_response(RestoredAgent(agent=agent, restored=kept))


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/agents",
        handler=create_agent,
        name="createAgent",
        summary="Create an agent globally or in a workspace",
        body=CreateAgent,
        answer={"agent": Agent},
        status=201,
        kind="write",
    ),
    Route(
        method="PUT",
        path="/api/agents/{name}",
        handler=update_agent,
        name="updateAgent",
        summary="Replace an agent's fields and prompt, if it still has the digest you saw",
        body=UpdateAgent,
        answer=EditedAgent,
        kind="write",
    ),
    Route(
        method="POST",
        path="/api/agents/{name}/duplicate",
        handler=duplicate_agent,
        name="duplicateAgent",
        summary="Copy an agent's whole folder under a new name",
        body=DuplicateAgent,
        answer={"agent": Agent},
        status=201,
        kind="write",
    ),
    Route(
        method="DELETE",
        path="/api/agents/{name}",
        handler=delete_agent,
        name="deleteAgent",
        summary="Delete an agent's folder; its sessions stay",
        answer=Deleted,
        kind="write",
        query=("workspace",),
    ),
    Route(
        method="GET",
        path="/api/agents/{name}/history",
        handler=list_history,
        name="listAgentHistory",
        summary="What an agent's folder held before each change",
        answer={"history": tuple[Kept, ...]},
        query=("workspace",),
    ),
    Route(
        method="POST",
        path="/api/agents/{name}/restore",
        handler=restore_agent,
        name="restoreAgent",
        summary="Give an agent's folder a kept state back",
        body=RestoreAgent,
        answer=RestoredAgent,
        kind="write",
    ),
)
