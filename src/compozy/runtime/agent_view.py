"""From a loaded definition to the agent payload of the API (contract §3.3; decisions D1, D2, D9).

Pure. Secrets are shown as `[REDACTED]`, capabilities always as a list; hooks and headers are not shown.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from compozy.catalog.discovery import DiscoveredAgent
from compozy.config.config import Config
from compozy.config.environment import is_secret_name
from compozy.config.redaction import Redactor
from compozy.model.agent import Agent, AgentDiagnostic, AgentRuntime, McpAuthView, McpServerView, SkillsPolicy
from compozy.model.command_secrets import masked_command
from compozy.model.definition import AgentDefinition, McpServer
from compozy.model.errors import CompozyError, InvalidRequest
from compozy.model.secret_patterns import MASK
from compozy.runtime.resolution import resolve_runtime

# Known shapes are masked whatever the setting: what is sent back masked means the same as before.
_REDACTOR = Redactor()


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
        command=masked_command(definition.command),
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


def with_whole_command(wanted: AgentDefinition, present: AgentDefinition | None) -> AgentDefinition:
    """Return what a client sent, with the secrets of the command that its payload did not show.

    Raises:
        InvalidRequest: a masked command that is not the present one's.
    """
    if MASK not in wanted.command:
        return wanted
    if present is not None and masked_command(present.command) == wanted.command.strip():
        return replace(wanted, command=present.command)
    raise InvalidRequest(
        f"agent.command holds {MASK}, which stands for a secret that is not shown: write the command whole, or send "
        "it exactly as you read it to keep it as it is"
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
        args=tuple(str(arg) for arg in _REDACTOR.items(server.args, _REDACTOR.value)),
        env=_shown(server.env),
        secret_env=dict.fromkeys(server.secret_env, MASK),
        url=_REDACTOR.text(server.url),
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
    return {name: MASK if is_secret_name(name) else value for name, value in env.items()}
