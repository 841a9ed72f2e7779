"""The MCP servers an agent gets with its session, in the shape of ACP (contract §5.6; decisions D19; P36, P38).

As long as the daemon hosts no tools of its own, the servers that the agent's definition names are handed on. Only
stdio servers can be. Literal `env` values are handed on as they are written, `${…}` included (P35); a secret that
leads nowhere fails before any process starts.
"""

from collections.abc import Sequence

from compozy.config.secrets import Secrets
from compozy.model.definition import McpServer
from compozy.model.provider import Provider


def injected_servers(
    servers: Sequence[McpServer], provider: Provider, secrets: Secrets
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the servers for `session/new`, and a note for each that cannot be handed on.

    Raises:
        Unprocessable: a secret that a server needs cannot be resolved.
        VaultError: the vault cannot be opened.
    """
    if not servers:
        return [], []
    if not provider.session_mcp:
        return [], [f"provider {provider.id!r} takes no MCP servers: {_names(servers)} are left out"]
    given: list[dict[str, object]] = []
    notes: list[str] = []
    for server in servers:
        if not server.command:
            notes.append(f"MCP server {server.name!r} is remote and cannot be handed to the agent yet")
            continue
        env = {**server.env, **secrets.environment(server_title(server), server.secret_env)}
        given.append(
            {
                "name": server.name,
                "command": server.command,
                "args": list(server.args),
                "env": [{"name": name, "value": env[name]} for name in sorted(env)],
            }
        )
    return given, notes


def require_secrets(servers: Sequence[McpServer], provider: Provider, secrets: Secrets) -> None:
    """Refuse servers whose secrets lead nowhere, when the session is created and nothing runs (P36).

    Raises:
        Unprocessable: naming server, key and variable.
        VaultError: the vault cannot be read.
    """
    if provider.session_mcp:
        for server in servers:
            if server.command:
                secrets.require(server_title(server), server.secret_env)


def server_title(server: McpServer) -> str:
    """Return how messages call a server."""
    return f"MCP server {server.name!r}"


def _names(servers: Sequence[McpServer]) -> str:
    return ", ".join(repr(server.name) for server in servers)
