"""The MCP servers an agent gets with its session, in the shape of ACP (contract §5.6; decisions D19; P36, P38).

As long as the daemon hosts no tools of its own, the servers that the merge of all places gives are handed on. Only
stdio servers can be. Literal `env` values are handed on as they are written, `${…}` included (P35); a secret that
leads nowhere fails before any process starts.
"""

from collections.abc import Mapping, Sequence

import msgspec

from compozy.config.environment import is_secret_name
from compozy.config.redaction import Redactor
from compozy.config.secret_patterns import MASK
from compozy.config.secrets import Secrets
from compozy.model.definition import McpServer
from compozy.model.errors import Unprocessable
from compozy.model.mcp import ResolvedServer
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


def without_literals(servers: Sequence[McpServer], redactor: Redactor) -> tuple[McpServer, ...]:
    """Return the servers as they may be stored: literal values of secret-looking names stay in the authored file.

    The values are masked wherever they turn up from now on (P39).
    """
    return tuple(
        msgspec.structs.replace(server, env=_masked(server.env, redactor), headers=_masked(server.headers, redactor))
        for server in servers
    )


def lacks_literals(servers: Sequence[McpServer]) -> bool:
    """Whether stored servers miss values that only the authored files have."""
    return any(MASK in (*server.env.values(), *server.headers.values()) for server in servers)


def with_literals(
    servers: Sequence[McpServer], authored: Sequence[ResolvedServer], redactor: Redactor
) -> tuple[McpServer, ...]:
    """Return stored servers with the literal values of those that are authored now.

    Raises:
        Unprocessable: no trusted file says a value any more.
    """
    known = {one.server.name: one for one in authored}
    return tuple(_filled(server, known.get(server.name), redactor) for server in servers)


def _masked(values: Mapping[str, str], redactor: Redactor) -> dict[str, str]:
    kept = {}
    for name, value in values.items():
        is_secret = bool(value) and is_secret_name(name)
        if is_secret:
            redactor.register(value)
        kept[name] = MASK if is_secret else value
    return kept


def _filled(server: McpServer, known: ResolvedServer | None, redactor: Redactor) -> McpServer:
    if not lacks_literals((server,)):
        return server
    env, headers = dict(server.env), dict(server.headers)
    authored = known.server if known is not None and known.state != "untrusted" else None
    place = known.reason if known is not None and known.reason else "its file does not say it any more"
    for values, source in ((env, authored and authored.env), (headers, authored and authored.headers)):
        for name, value in values.items():
            if value != MASK:
                continue
            found = (source or {}).get(name, "")
            if not found:
                raise Unprocessable(
                    f"{server_title(server)} needs {name}, and {place}: restore it, or start a new session",
                    code="mcp_secret_unresolved",
                    category="mcp",
                    evidence={"owner": server_title(server), "key": name, "path": known.path if known else ""},
                )
            redactor.register(found)
            values[name] = found
    return msgspec.structs.replace(server, env=env, headers=headers)


def server_title(server: McpServer) -> str:
    """Return how messages call a server."""
    return f"MCP server {server.name!r}"


def _names(servers: Sequence[McpServer]) -> str:
    return ", ".join(repr(server.name) for server in servers)
