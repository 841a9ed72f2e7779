"""MCP servers: from decoded fields to records, and the checks in their fixed order (formats §7.1)."""

from collections.abc import Mapping

from compozy.documents.decoding import map_in, text_in, texts_in
from compozy.documents.environment import env_problems, reference_problems, reference_reason
from compozy.documents.problems import Fix, Path, Problem
from compozy.documents.remote_urls import header_problems, issuer_reason, url_reason
from compozy.documents.text import nearest, shown, trim
from compozy.model.definition import McpAuth, McpServer


def server_from(fields: Mapping[str, object], name: str | None = None) -> McpServer:
    """Build a server as written; nothing is trimmed."""
    auth = fields.get("auth")
    return McpServer(
        name=text_in(fields, "name") if name is None else name,
        transport=text_in(fields, "transport"),
        command=text_in(fields, "command"),
        args=texts_in(fields, "args"),
        env=map_in(fields, "env"),
        secret_env=map_in(fields, "secret_env"),
        url=text_in(fields, "url"),
        headers=map_in(fields, "headers"),
        secret_headers=map_in(fields, "secret_headers"),
        auth=_auth(auth) if isinstance(auth, dict) else None,
        catalog_entry=text_in(fields, "catalog_entry"),
        catalog_version=text_in(fields, "catalog_version"),
    )


def _auth(fields: Mapping[str, object]) -> McpAuth | None:
    auth = McpAuth(
        registration=text_in(fields, "registration"),
        issuer_url=text_in(fields, "issuer_url"),
        client_id=text_in(fields, "client_id"),
        client_secret_ref=text_in(fields, "client_secret_ref"),
        scopes=texts_in(fields, "scopes"),
    )
    return auth


def trimmed(server: McpServer) -> McpServer:
    """The server with the trimming of mcp.json: name, transport, command, url, auth and catalog (formats §7.6)."""
    auth = server.auth
    return McpServer(
        name=trim(server.name),
        transport=trim(server.transport),
        command=trim(server.command),
        args=server.args,
        env=server.env,
        secret_env=server.secret_env,
        url=trim(server.url),
        headers=server.headers,
        secret_headers=server.secret_headers,
        auth=None
        if auth is None
        else McpAuth(
            registration=trim(auth.registration),
            issuer_url=trim(auth.issuer_url),
            client_id=trim(auth.client_id),
            client_secret_ref=trim(auth.client_secret_ref),
            scopes=tuple(trim(scope) for scope in auth.scopes),
        ),
        catalog_entry=trim(server.catalog_entry),
        catalog_version=trim(server.catalog_version),
    )


def has_auth(auth: McpAuth | None) -> bool:
    """Whether any field of `auth` says something; all blank means no authentication."""
    if auth is None:
        return False
    fields = (auth.registration, auth.issuer_url, auth.client_id, auth.client_secret_ref)
    return any(trim(field) for field in fields) or bool(auth.scopes)


def server_problems(server: McpServer, path: Path, where: str) -> list[Problem]:
    """Check one server; `where` is the prefix of messages, such as ``agent.mcp_servers[0]``."""
    problems = _name_problems(server, path, where)
    transport = server.transport
    if transport not in ("", "stdio", "http"):
        close = nearest(trim(transport), ("stdio", "http"))
        fix = Fix(title=f"write {close}", kind="set_value", text=close) if close else None
        message = f"{where}.transport must be one of stdio, http, found {shown(transport)}"
        problems.append(
            Problem(
                code="mcp-transport-invalid", message=message, path=(*path, "transport"), suggestion=close, fix=fix
            )
        )
        if not close:
            return problems
        # Judged as it will be after the repair.
        transport = close
    effective = transport or ("http" if trim(server.url) else "stdio")
    problems += _auth_problems(server.auth, (*path, "auth"), where)
    if effective == "stdio":
        problems += _stdio_problems(server, path, where)
    else:
        problems += _http_problems(server, path, where)
    return problems


def _name_problems(server: McpServer, path: Path, where: str) -> list[Problem]:
    at: Path = (*path, "name")
    if not trim(server.name):
        return [Problem(code="mcp-name-required", message=f"{where}.name: MCP server name is required", path=at)]
    for character, word in (("\0", "NUL"), ("/", "slash")):
        if character in server.name:
            message = f"{where}.name: MCP server name {shown(server.name)} must not contain a {word}"
            return [Problem(code="mcp-name-invalid", message=message, path=at)]
    return []


def _auth_problems(auth: McpAuth | None, path: Path, where: str) -> list[Problem]:
    if auth is None or not has_auth(auth):
        return []
    found: list[tuple[str, Path]] = []
    registration = trim(auth.registration) or "auto"
    if registration not in ("auto", "pre_registered"):
        found.append(("registration must be one of auto, pre_registered", (*path, "registration")))
    elif registration == "auto":
        for name in ("issuer_url", "client_id", "client_secret_ref"):
            if trim(getattr(auth, name)):
                found.append((f"{name} is only valid with registration pre_registered", (*path, name)))
    else:
        found += _registered_problems(auth, path)
    seen: dict[str, int] = {}
    for i, scope in enumerate(trim(scope) for scope in auth.scopes):
        at: Path = (*path, "scopes", i)
        if not scope:
            found.append((f"scopes[{i}] is required", at))
        elif scope in seen:
            found.append((f"scopes[{i}] duplicates scopes[{seen[scope]}]", at))
        seen.setdefault(scope, i)
    return [Problem(code="mcp-auth-invalid", message=f"{where}.auth.{words}", path=at) for words, at in found]


def _registered_problems(auth: McpAuth, path: Path) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    issuer = trim(auth.issuer_url)
    if not issuer:
        found.append(("issuer_url is required with registration pre_registered", (*path, "issuer_url")))
    if not trim(auth.client_id):
        found.append(("client_id is required with registration pre_registered", (*path, "client_id")))
    if issuer and (reason := issuer_reason(issuer)):
        found.append((reason.removeprefix("auth."), (*path, "issuer_url")))
    if trim(auth.client_secret_ref) and (reason := reference_reason(auth.client_secret_ref, "mcp")):
        found.append((f"client_secret_ref: {reason}", (*path, "client_secret_ref")))
    return found


def _misplaced(path: Path, where: str, name: str, words: str, suffix: str = "") -> Problem:
    return Problem(
        code="mcp-field-not-allowed", message=f"{where}.{name} {words}{suffix}", path=(*path, name), part="key"
    )


def _stdio_problems(server: McpServer, path: Path, where: str) -> list[Problem]:
    problems = []
    only_remote = "is only valid for remote MCP servers; remove it, or give a url instead of a command"
    if not trim(server.command):
        message = f"{where}.command is required for stdio MCP servers"
        problems.append(Problem(code="mcp-command-required", message=message, path=(*path, "command")))
    if trim(server.url):
        problems.append(_misplaced(path, where, "url", "url requires remote transport; remove `transport: stdio`"))
        problems[-1].message = f"{where}: url requires remote transport; write `transport: http` or remove the url"
    if has_auth(server.auth):
        problems.append(_misplaced(path, where, "auth", only_remote))
    for name in ("headers", "secret_headers"):
        if getattr(server, name):
            problems.append(_misplaced(path, where, name, only_remote))
    for name, secret in (("env", False), ("secret_env", True)):
        values = getattr(server, name)
        if values:
            problems += env_problems(values, (*path, name), f"{where}.{name}", refuse_injection=True, secret=secret)
    if server.secret_env:
        problems += reference_problems(server.secret_env, (*path, "secret_env"), f"{where}.secret_env", "mcp")
    return problems


def _http_problems(server: McpServer, path: Path, where: str) -> list[Problem]:
    problems = []
    if not trim(server.url):
        message = f"{where}.url is required for http MCP servers"
        problems.append(Problem(code="mcp-url-required", message=message, path=(*path, "url")))
    for name in ("command", "args", "env", "secret_env"):
        value = getattr(server, name)
        if trim(value) if isinstance(value, str) else value:
            words = "is only valid for stdio MCP servers; remove it, or give a command instead of a url"
            problems.append(_misplaced(path, where, name, words))
    if trim(server.url) and (reason := url_reason(server.url, f"{where}.url")):
        problems.append(Problem(code="mcp-url-invalid", message=reason, path=(*path, "url")))
    if server.headers or server.secret_headers:
        owned = has_auth(server.auth)
        problems += header_problems(server.headers, server.secret_headers, path, where, has_auth=owned)
    return problems
