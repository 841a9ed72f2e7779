"""The MCP servers an agent gets with its session, in the shape of ACP (contract §5.6; decisions D19; P36, P38).

As long as the daemon hosts no tools of its own, the servers that the merge of all places gives are handed on. Only
stdio servers can be. Literal `env` values are handed on as they are written, `${…}` included (P35); a secret that
leads nowhere fails before any process starts.
"""

from collections.abc import Mapping, Sequence

import msgspec

from compozy.config.environment import is_secret_name
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model.definition import McpServer
from compozy.model.errors import Unprocessable
from compozy.model.mcp import ResolvedServer
from compozy.model.provider import Provider
from compozy.model.secret_patterns import MASK


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
            references = dict(server.secret_env) | dict(server.secret_headers)
            if server.auth is not None and server.auth.client_secret_ref:
                references["client_secret_ref"] = server.auth.client_secret_ref
            secrets.require(server_title(server), references)


def without_literals(servers: Sequence[McpServer], redactor: Redactor) -> tuple[McpServer, ...]:
    """Return the servers as they may be stored: literal secrets stay in the authored file.

    Secrets are values under secret-looking names and whatever redaction recognises, in `env`, headers, arguments and
    the address. They are masked wherever they turn up from now on (P39).
    """
    return tuple(
        msgspec.structs.replace(
            server,
            env=_masked(server.env, redactor),
            headers=_masked(server.headers, redactor),
            args=_masked_args(server.args, redactor),
            url=_kept(server.url, redactor, is_secret=False),
        )
        for server in servers
    )


def lacks_literals(servers: Sequence[McpServer]) -> bool:
    """Whether stored servers miss values that only the authored files have."""
    return any(MASK in (*one.env.values(), *one.headers.values(), *one.args, one.url) for one in servers)


def with_literals(
    servers: Sequence[McpServer], authored: Sequence[ResolvedServer], redactor: Redactor
) -> tuple[McpServer, ...]:
    """Return stored servers with the literal values of those that are authored now.

    Raises:
        Unprocessable: no trusted file says a value any more.
    """
    known = {one.server.name: one for one in authored}
    return tuple(_Filling(server, known.get(server.name), redactor).server() for server in servers)


def _masked(values: Mapping[str, str], redactor: Redactor) -> dict[str, str]:
    return {name: _kept(value, redactor, is_secret=is_secret_name(name)) for name, value in values.items()}


def _masked_args(args: Sequence[str], redactor: Redactor) -> tuple[str, ...]:
    return tuple(
        _kept(arg, redactor, is_secret=clean == MASK)
        for arg, clean in zip(args, redactor.items(args, redactor.value), strict=True)
    )


def _kept(value: str, redactor: Redactor, *, is_secret: bool) -> str:
    if not value or not (is_secret or redactor.text(value) != value):
        return value
    redactor.register(value)
    return MASK


class _Filling:
    """Puts the values that were left out back into one stored server."""

    def __init__(self, stored: McpServer, known: ResolvedServer | None, redactor: Redactor) -> None:
        self._stored, self._known, self._redactor = stored, known, redactor
        self._authored = known.server if known is not None and known.state != "untrusted" else None

    def server(self) -> McpServer:
        """Return the server, whole.

        Raises:
            Unprocessable: a value is not there any more.
        """
        stored, authored = self._stored, self._authored
        if not lacks_literals((stored,)):
            return stored
        args = authored.args if authored is not None and len(authored.args) == len(stored.args) else stored.args
        return msgspec.structs.replace(
            stored,
            env=self._values(stored.env, authored.env if authored else {}),
            headers=self._values(stored.headers, authored.headers if authored else {}),
            args=tuple(
                self._value(f"args[{i}]", old, new)
                for i, (old, new) in enumerate(zip(stored.args, args, strict=True))
            ),
            url=self._value("url", stored.url, authored.url if authored else ""),
        )

    def _values(self, stored: Mapping[str, str], authored: Mapping[str, str]) -> dict[str, str]:
        return {name: self._value(name, value, authored.get(name, "")) for name, value in stored.items()}

    def _value(self, key: str, stored: str, authored: str) -> str:
        if stored != MASK:
            return stored
        if not authored or authored == MASK:
            known = self._known
            place = known.reason if known is not None and known.reason else "its file does not say it any more"
            raise Unprocessable(
                f"{server_title(self._stored)} needs {key}, and {place}: restore it, or start a new session",
                code="mcp_secret_unresolved",
                category="mcp",
                evidence={
                    "owner": server_title(self._stored),
                    "key": key,
                    "path": known.path if known is not None else "",
                },
            )
        self._redactor.register(authored)
        return authored


def server_title(server: McpServer) -> str:
    """Return how messages call a server."""
    return f"MCP server {server.name!r}"


def _names(servers: Sequence[McpServer]) -> str:
    return ", ".join(repr(server.name) for server in servers)
