"""From a loaded definition to the agent payload of the API (contract §3.3; decisions D1, D2, D9).

Pure. Secrets are shown as `[REDACTED]`, capabilities always as a list; hooks and headers are not shown.
"""

from collections.abc import Mapping

from compozy.catalog.discovery import DiscoveredAgent
from compozy.config.config import Config
from compozy.config.environment import is_secret_name
from compozy.model.agent import Agent, AgentDiagnostic, AgentRuntime, McpAuthView, McpServerView, SkillsPolicy
from compozy.model.definition import McpServer
from compozy.model.errors import CompozyError
from compozy.runtime.resolution import resolve_runtime

REDACTED = "[REDACTED]"


def agent_payload(found: DiscoveredAgent, config: Config, workspace_id: str = "") -> Agent:
    """Return the payload of an agent in force."""
    loaded = found.loaded
    definition = loaded.definition
    return Agent(
        name=definition.name,
        prompt=definition.prompt,
        provider=definition.provider,
        origin=found.origin,
        definition_digest=loaded.definition_digest,
        capabilities=definition.capabilities or (),
        model=definition.model,
        reasoning_effort=definition.reasoning_effort,
        command=definition.command,
        permissions=definition.permissions,
        tools=definition.tools,
        toolsets=definition.toolsets,
        deny_tools=definition.deny_tools,
        skills=SkillsPolicy(disabled=definition.skills_disabled) if definition.skills_disabled else None,
        category_path=definition.category_path,
        mcp_servers=tuple(_server(server) for server in definition.mcp_servers),
        workspace_id=workspace_id if found.origin == "workspace" else "",
        effective_runtime=_runtime(found, config),
        capabilities_digest=loaded.capabilities_digest,
        path=str(loaded.path),
    )


def broken_payload(name: str, path: str, kind: str, message: str, *, in_workspace: bool, workspace_id: str) -> Agent:
    """Return the row of a definition that does not load: empty but for its diagnostic."""
    return Agent(
        name=name,
        prompt="",
        provider="",
        origin="workspace" if in_workspace else "global",
        definition_digest="",
        capabilities=(),
        workspace_id=workspace_id if in_workspace else "",
        diagnostics=(AgentDiagnostic(path=path, error_kind=kind, message=message),),
        path=path,
    )


def _runtime(found: DiscoveredAgent, config: Config) -> AgentRuntime | None:
    try:
        return resolve_runtime(found.loaded.definition, config).as_runtime()
    except CompozyError:
        return None


def _server(server: McpServer) -> McpServerView:
    auth = server.auth
    return McpServerView(
        name=server.name,
        transport=server.transport,
        command=server.command,
        args=server.args,
        env=_shown(server.env),
        secret_env=dict.fromkeys(server.secret_env, REDACTED),
        url=server.url,
        auth=McpAuthView(
            client_secret_configured=bool(auth.client_secret_ref),
            registration=auth.registration,
            issuer_url=auth.issuer_url,
            client_id=auth.client_id,
            scopes=auth.scopes,
        )
        if auth is not None
        else None,
    )


def _shown(env: Mapping[str, str]) -> dict[str, str]:
    return {name: REDACTED if is_secret_name(name) else value for name, value in env.items()}
