"""The MCP servers an agent gets with its session, in the shape of ACP (contract §5.6; decisions D19; P36, P38).

As long as the daemon hosts no tools of its own, the servers that the agent's definition names are handed on. Only
stdio servers can be; secrets are resolved from the daemon's environment, and a missing one fails before any process
starts.
"""

from collections.abc import Mapping, Sequence

from compozy.config.redaction import Redactor
from compozy.model.definition import McpServer
from compozy.model.errors import Unprocessable
from compozy.model.provider import Provider

_ENV = "env:"


def injected_servers(
    servers: Sequence[McpServer], provider: Provider, environ: Mapping[str, str], redactor: Redactor
) -> tuple[list[dict[str, object]], list[str]]:
    """Return the servers for `session/new`, and a note for each that cannot be handed on.

    Raises:
        Unprocessable: a secret that a server needs cannot be resolved.
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
        env = {**server.env, **_secrets(server, environ, redactor)}
        given.append(
            {
                "name": server.name,
                "command": server.command,
                "args": list(server.args),
                "env": [{"name": name, "value": env[name]} for name in sorted(env)],
            }
        )
    return given, notes


def _secrets(server: McpServer, environ: Mapping[str, str], redactor: Redactor) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, reference in server.secret_env.items():
        value = environ.get(reference.removeprefix(_ENV), "") if reference.startswith(_ENV) else ""
        if not value:
            raise Unprocessable(
                f"MCP server {server.name!r} needs {name}: {reference!r} cannot be resolved; set it in the daemon's "
                "environment and restart the daemon",
                code="mcp_secret_unresolved",
                category="mcp",
                evidence={"server": server.name, "variable": name},
                diagnostic=True,
            )
        # Told first: it is masked wherever it turns up from now on.
        redactor.register(value)
        found[name] = value
    return found


def _names(servers: Sequence[McpServer]) -> str:
    return ", ".join(repr(server.name) for server in servers)
