"""Which MCP servers a session is given: all places merged, with trust and the agent's lists (D15, D19; P37, P70).

`resolve_mcp_servers` is the one answer for session starts, for supervision and for `compozy mcp`. It starts nothing
and opens no secret. Untrusted definitions of a workspace are in it, marked: what that means is for the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compozy.config.config import Config
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.mcp.access import access
from compozy.config.mcp.layers import settings_layers
from compozy.config.mcp.merge import McpLayer, Merged, merge_layers
from compozy.config.secrets import Secrets
from compozy.documents.agents import LoadedAgent
from compozy.documents.servers import server_problems, trimmed
from compozy.model.agent import Origin
from compozy.model.definition import McpServer
from compozy.model.mcp import McpLevel, McpSource, ResolvedServer, ServerStart
from compozy.model.workspace import Workspace
from compozy.runtime.trust import Trust, session_provider
from compozy.runtime.trust_evidence import definition_digest


@dataclass(frozen=True, kw_only=True)
class McpAsk:
    """For whom servers are resolved: a place, an agent in it, the skills that are active; all may be missing."""

    workspace: Workspace | None = None
    agent: LoadedAgent | None = None
    origin: Origin = "global"
    skills: Sequence[McpLayer] = ()


def resolve_mcp_servers(home: Home, trust: Trust, config: Config, ask: McpAsk) -> tuple[ResolvedServer, ...]:
    """Return every server by name in the order of first mention; those an agent does not get say why.

    Reads files: call it from a thread.

    Raises:
        ConfigError: a file cannot be used, or a merged server is incomplete; with file and line.
    """
    layers, problems = layers_of(home, trust, config, ask)
    merged = merge_layers(layers)
    problems += incomplete(merged)
    if problems:
        raise ConfigError("\n".join(problems))
    return resolved(merged, trust, config, ask)


def layers_of(home: Home, trust: Trust, config: Config, ask: McpAsk) -> tuple[list[McpLayer], list[str]]:
    """Return every layer, lowest first, and what is wrong with the files."""
    root = Path(ask.workspace.root_dir) if ask.workspace is not None else None
    provider = session_provider(ask.agent.definition, config) if ask.agent is not None else config.defaults.provider
    layers, problems = settings_layers(home, root, provider)
    if ask.agent is not None:
        layers.append(agent_layer(ask.agent, agent_level(trust, ask)))
    return [*layers, *ask.skills], problems


def agent_layer(agent: LoadedAgent, level: McpLevel) -> McpLayer:
    """Return what an agent's definition says, its mcp.json included."""
    definition = agent.definition
    digest = "" if level == "home" else definition_digest(definition)
    # Names are compared after trimming; those of AGENT.md are kept as written until here.
    servers = tuple(map(trimmed, definition.mcp_servers))
    return McpLayer(place="agent", level=level, path=str(agent.path), servers=servers, digest=digest)


def agent_level(trust: Trust, ask: McpAsk) -> McpLevel:
    """Return whom an agent's definition is trusted like."""
    if ask.agent is None or not trust.brings(ask.agent, ask.origin):
        return "home"
    roots = (ask.workspace.root_dir, *ask.workspace.add_dirs) if ask.workspace is not None else ()
    is_inside = any(Path(ask.agent.path).is_relative_to(root) for root in roots)
    return "workspace_agent" if is_inside else "extension"


def resolved(merged: dict[str, Merged], trust: Trust, config: Config, ask: McpAsk) -> tuple[ResolvedServer, ...]:
    """Return the servers with their state, each once."""
    definition = ask.agent.definition if ask.agent is not None else None
    servers = []
    for name, one in merged.items():
        sources = tuple(
            McpSource(
                place=layer.place,
                level=layer.level,
                path=layer.path,
                standing=standing,
                trusted=is_trusted(layer, trust, config),
            )
            for layer, standing in one.sources
        )
        state, reason = access(definition, name)
        waiting = [source.path for source in sources if source.standing != "replaced" and not source.trusted]
        if state == "in_force" and waiting:
            state, reason = "untrusted", f"nobody trusted {waiting[0]!r} as it is now"
        servers.append(
            ResolvedServer(
                server=one.server,
                level=one.winner.level,
                path=one.winner.path,
                state=state,
                reason=reason,
                sources=sources,
            )
        )
    return tuple(servers)


def is_trusted(layer: McpLayer, trust: Trust, config: Config) -> bool:
    """Whether what a layer says may be used."""
    if layer.level == "home" or config.trust.mode == "off":
        return True
    return trust.grants.has(layer.trust_path or layer.path, layer.digest)


def incomplete(merged: dict[str, Merged]) -> list[str]:
    """Return what is wrong with servers that only several places together define."""
    found = []
    for one in merged.values():
        if len(one.in_use) > 1 or one.winner.place == "provider":
            problems = server_problems(one.server, (), f"MCP server {one.server.name!r}")
            found += [f"{one.winner.path}: {problem.message}" for problem in problems if problem.code in _MISSING]
    return found


# The other rules were checked where each place was read.
_MISSING = frozenset({"mcp-command-required", "mcp-url-required", "mcp-field-not-allowed"})


def given(servers: Sequence[ResolvedServer]) -> tuple[McpServer, ...]:
    """Return the servers that the agent gets."""
    return tuple(one.server for one in servers if one.state == "in_force")


def start_of(server: McpServer, secrets: Secrets) -> ServerStart:
    """Return a server as it is started or reached, references resolved.

    Raises:
        Unprocessable: a reference leads nowhere; server, key and variable are named.
        VaultError: the vault cannot be opened.
    """
    owner = f"MCP server {server.name!r}"
    secret = server.auth.client_secret_ref if server.auth is not None else ""
    found = secrets.environment(owner, {"client_secret_ref": secret}) if secret else {}
    return ServerStart(
        name=server.name,
        argv=(server.command, *server.args) if server.command else (),
        env={**server.env, **secrets.environment(owner, server.secret_env)},
        url=server.url,
        headers={**server.headers, **secrets.environment(owner, server.secret_headers)},
        client_secret=found.get("client_secret_ref", ""),
    )
