"""Creating a session: everything that can be known before a process exists is resolved, checked and frozen here.

Implements contract §5.2 step 1 and §3.5 Create, decision D18. Trust (D15) was decided before. The result is a record;
nothing is stored.
"""

from collections.abc import Sequence
from pathlib import Path

from compozy.config.config import Config
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model import ids, times
from compozy.model.definition import PERMISSION_MODES, AgentDefinition, McpServer
from compozy.model.errors import InvalidRequest
from compozy.model.record import Record
from compozy.model.session import (
    LOCAL_PARTICIPATION,
    EffectiveRuntime,
    Lineage,
    PermissionPolicy,
    Runtime,
    Session,
    SpawnBudget,
)
from compozy.model.tool import ToolAccess
from compozy.model.workspace import Workspace
from compozy.runtime.builtin_agents import NO_FILE
from compozy.runtime.fleet import VisibleAgent
from compozy.runtime.resolution import Resolution, resolve_runtime
from compozy.runtime.sessions.commands import stored_command
from compozy.runtime.sessions.containment import additional_directories
from compozy.runtime.sessions.mcp import require_secrets, without_literals
from compozy.runtime.sessions.mode import session_mode
from compozy.runtime.sessions.spawning.plan import ChildPlan
from compozy.runtime.sessions.startup.assembly import startup_prompt
from compozy.runtime.sessions.startup.slots import BlockContext, Blocks
from compozy.runtime.trust import TrustedUse
from compozy.store.interface import SessionRecord

# What a session of a person may spawn (contract §9, safe spawn).
_MAX_CHILDREN, _MAX_DEPTH = 5, 1


class CreateRequest(Record, frozen=True, kw_only=True):
    """The body of POST /api/sessions; `permissions` is ours and only narrows what the agent authored."""

    agent_name: str = ""
    name: str = ""
    workspace: str = ""
    workspace_path: str = ""
    permissions: str = ""
    parent_session_id: str = ""
    worktree: str = ""
    new_worktree: dict[str, object] | None = None
    network_participation: dict[str, object] | None = None


def check_request(request: CreateRequest) -> None:
    """Refuse what cannot be understood or is not offered yet.

    Raises:
        InvalidRequest: with the contract's messages.
    """
    if not request.workspace and not request.workspace_path and not request.parent_session_id:
        raise InvalidRequest("workspace or workspace_path is required")
    if request.workspace and request.workspace_path:
        raise InvalidRequest("workspace and workspace_path are mutually exclusive")
    if request.workspace_path and not Path(request.workspace_path).is_absolute():
        raise InvalidRequest(f"workspace_path {request.workspace_path!r} must be an absolute path")
    if request.permissions and request.permissions not in PERMISSION_MODES:
        raise InvalidRequest(f"permissions {request.permissions!r} must be one of {', '.join(PERMISSION_MODES)}")
    for field in ("worktree", "new_worktree"):
        if getattr(request, field):
            raise InvalidRequest(f"{field} is not offered by this version: leave it out")
    mode = (request.network_participation or {}).get("mode", "local")
    if mode != "local":
        raise InvalidRequest(f"network participation {mode!r} is not offered: sessions are local")


def new_record(
    request: CreateRequest,
    agent: VisibleAgent,
    workspace: Workspace,
    config: Config,
    secrets: Secrets,
    redactor: Redactor,
    allowed: TrustedUse,
    blocks: Blocks,
    servers: Sequence[McpServer],
    child: ChildPlan | None = None,
) -> SessionRecord:
    """Return the record of a new session, active and unbound.

    Args:
        allowed: what was found trusted.
        blocks: what other parts of the product tell the agent.
        servers: the MCP servers that the agent is given.
        child: what makes it the child of another session.

    Raises:
        InvalidRequest: provider or command cannot be resolved.
        Unprocessable: a server's secret leads nowhere.
    """
    definition = agent.loaded.definition
    resolution = resolve_runtime(definition, config, agent.loaded.path)
    require_secrets(servers, resolution.provider, secrets)
    parent_mode = child.parent.permission_mode if child else ""
    mode = session_mode(
        definition, config, requested=request.permissions, is_capped=allowed.is_capped, parent=parent_mode
    )
    if child is not None:
        servers = [server for server in servers if server.name in child.lineage.permission_policy.mcp_servers]
    session_id, stamp = ids.new_session_id(), times.now()
    session = Session(
        id=session_id,
        name=request.name.strip(),
        agent_name=definition.name,
        state="active",
        badge="idle",
        type="spawned" if child else "user",
        runtime=Runtime(
            status="unbound",
            selection_revision=0,
            effective=EffectiveRuntime(
                provider=resolution.provider.id, model=resolution.model, reasoning_effort=resolution.reasoning_effort
            ),
        ),
        attachable=True,
        pending_interactions=(),
        available_commands=(),
        archived_at=None,
        created_at=stamp,
        updated_at=stamp,
        workspace_id=workspace.id,
        workspace_path=workspace.root_dir,
        lineage=child.lineage if child else _lineage(session_id, workspace, agent, servers),
        resolved_network_participation=LOCAL_PARTICIPATION,
        definition_digest=agent.loaded.definition_digest,
        capabilities_digest=agent.loaded.capabilities_digest,
        permissions=mode.mode,
    )
    return SessionRecord(
        session=session,
        startup_prompt=_guidance(session, agent, workspace, resolution, blocks, child.overlay if child else ""),
        permission_mode=mode.mode,
        mode_derivation=mode,
        trust_marks=allowed.marks,
        cwd=child.cwd if child else workspace.root_dir,
        command=stored_command(resolution.command, redactor),
        model=resolution.model,
        model_source=resolution.model_source or "",
        reasoning_effort=resolution.reasoning_effort,
        effort_source=resolution.effort_source or "",
        additional_dirs=(
            additional_directories(child.cwd, child.additional_dirs)
            if child
            else additional_directories(workspace.root_dir, workspace.add_dirs)
        ),
        spawn_key=child.key if child else "",
        spawn_digest=child.digest if child else "",
        mcp_servers=without_literals(servers, redactor),
        # A built-in agent has no file.
        definition_path="" if agent.loaded.path == NO_FILE else str(agent.loaded.path),
        tool_access=_tool_access(definition, child),
        last_activity_at=stamp,
    )


def _tool_access(definition: AgentDefinition, child: ChildPlan | None) -> ToolAccess:
    # What is denied to a parent stays denied to its children.
    denied = child.parent.tool_access.deny_tools if child else ()
    return ToolAccess(
        tools=definition.tools,
        toolsets=definition.toolsets,
        deny_tools=tuple(dict.fromkeys((*definition.deny_tools, *denied))),
    )


def _lineage(session_id: str, workspace: Workspace, agent: VisibleAgent, servers: Sequence[McpServer]) -> Lineage:
    definition = agent.loaded.definition
    return Lineage(
        auto_stop_on_parent=False,
        notify_creator=False,
        permission_policy=PermissionPolicy(
            mcp_servers=tuple(server.name for server in servers),
            network_channels=(),
            sandbox_profiles=(),
            skills=(),
            tools=definition.tools,
            workspace_paths=(workspace.root_dir, *workspace.add_dirs),
        ),
        spawn_budget=SpawnBudget(max_children=_MAX_CHILDREN, max_depth=_MAX_DEPTH, ttl_seconds=0),
        spawn_depth=0,
        root_session_id=session_id,
    )


def block_context(agent: VisibleAgent, workspace: Workspace, config: Config) -> BlockContext:
    """Return what the slots of the startup prompt are told of a session to be.

    Raises:
        InvalidRequest: provider or command cannot be resolved.
    """
    definition = agent.loaded.definition
    return BlockContext(
        agent_name=definition.name,
        workspace_id=workspace.id,
        workspace_root=workspace.root_dir,
        additional_dirs=workspace.add_dirs,
        provider=resolve_runtime(definition, config, agent.loaded.path).provider.id,
        definition=definition,
        definition_path=agent.loaded.path,
    )


def _guidance(
    session: Session,
    agent: VisibleAgent,
    workspace: Workspace,
    resolution: Resolution,
    blocks: Blocks,
    overlay: str,
) -> str:
    definition = agent.loaded.definition
    facts = {
        "session_id": session.id,
        "session_name": session.name,
        "session_type": session.type or "user",
        "agent_name": session.agent_name,
        "provider": resolution.provider.id,
        "workspace_id": workspace.id,
        "workspace": workspace.root_dir,
    }
    sections: dict[str, object] = {
        "self": {
            "session_id": session.id,
            "agent_name": session.agent_name,
            "provider": resolution.provider.id,
            **({"model": resolution.model} if resolution.model else {}),
        },
        "workspace": {"id": workspace.id, "name": workspace.name, "root_dir": workspace.root_dir},
        "session": {"id": session.id, "type": session.type, "state": session.state, "created_at": session.created_at},
        "capabilities": [
            {"id": capability.id, "summary": capability.summary, "source": "agent"}
            for capability in definition.capabilities or ()
        ],
        "limits": _limits(session),
        "provenance": {"generated_at": session.created_at, "source": "compozy"},
    }
    return startup_prompt(facts=facts, sections=sections, body=definition.prompt, blocks=blocks, overlay=overlay)


def _limits(session: Session) -> dict[str, int]:
    assert session.lineage is not None, "every new session has a lineage"
    budget, depth = session.lineage.spawn_budget, session.lineage.spawn_depth
    return {
        "max_children": budget.max_children if depth < budget.max_depth else 0,
        "max_spawn_depth": max(0, budget.max_depth - depth),
    }
