"""The canonical AGENT.md and the definition digest over it (formats §11). Byte-exact.

The capability catalog does not count (decisions D2); servers of mcp.json do.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

from compozy.documents.canonical_scalars import quote, scalar
from compozy.documents.durations import duration_text
from compozy.documents.fields import MATCHER_TEXT_FIELDS
from compozy.documents.names import name_problem
from compozy.documents.text import trim
from compozy.model.definition import AgentDefinition, HookDeclaration, McpServer

# A header of only these characters reads back as written, but for the marks below; any other is parsed again.
_SAFE_HEADER = re.compile(r"[\w ,./:\"@*|=+~(){}\[\]<>'!$^&;%?\\#\n-]*", re.ASCII)
# Written bare, `?` begins a complex key and `<<` merges; a block must not begin with blanks (formats §11.4).
_UNSAFE = ("? ", "?\n", "<<", "|\n", "|-\n", "|+\n")


class NoDigest(Exception):
    """A definition without digest: a reserved name, or a text that does not read back (formats §11.4)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def definition_digest(definition: AgentDefinition) -> str:
    """The lower-case hash of the canonical AGENT.md, without prefix.

    Raises:
        NoDigest: the name is reserved or the canonical text cannot be read back.
    """
    return hashlib.sha256(render(definition).encode("utf-8", "surrogatepass")).hexdigest()


def render(definition: AgentDefinition) -> str:
    """Write the canonical AGENT.md; sorted lists, fixed key order, empty fields left out.

    Raises:
        NoDigest: the name fails the authored check or the result cannot be read back.
    """
    problem = name_problem(definition.name, authored=True)
    if problem is not None:
        raise NoDigest(problem.code, problem.message)
    header = _header(definition)
    text = f"---\n{header}---\n\n{trim(definition.prompt)}\n"
    if not _reads_back(header):
        _check_reading(text)
    return text


def _reads_back(header: str) -> bool:
    """Whether a header plainly reads back; False means that it must be tried."""
    return _SAFE_HEADER.fullmatch(header) is not None and not any(mark in header for mark in _UNSAFE)


def _check_reading(text: str) -> None:
    # Reading needs the loader's checks, which need this module for digests.
    from compozy.documents.agent_header import read_header  # noqa: PLC0415 - mutual need, and rarely taken
    from compozy.documents.source import SourceText  # noqa: PLC0415 - with the above

    outcome = read_header(SourceText(text), "AGENT.md")
    if outcome.errors:
        raise NoDigest(
            "definition-digest-failed", f"the canonical form cannot be read back: {outcome.errors[0].message}"
        )


def _header(agent: AgentDefinition) -> str:
    out: list[str] = []
    name = trim(agent.name)
    out.append(f"name: {scalar(name, 2)}\n")
    provider = trim(agent.provider)
    out.append(f"provider: {scalar(provider, 2)}\n")
    for key in ("command", "model", "reasoning_effort"):
        _text(out, "", key, trim(getattr(agent, key)))
    for key in ("tools", "toolsets", "deny_tools"):
        _list(out, "", key, _sorted(getattr(agent, key)))
    _text(out, "", "permissions", trim(agent.permissions))
    if disabled := _sorted(agent.skills_disabled):
        out.append("skills:\n")
        _list(out, "  ", "disabled", disabled)
    _list(out, "", "category_path", [trim(part) for part in agent.category_path])
    if agent.mcp_servers:
        out.append("mcp_servers:\n")
        for server in sorted(agent.mcp_servers, key=lambda s: (s.name.encode(), s.transport.encode())):
            _server(out, server)
    if agent.hooks:
        out.append("hooks:\n")
        for hook in agent.hooks:
            _hook(out, hook)
    return "".join(out)


def _sorted(values: Iterable[str]) -> list[str]:
    return sorted({text for text in map(trim, values) if text}, key=str.encode)


def _server(out: list[str], server: McpServer) -> None:
    item: list[str] = []
    item.append(f"  name: {scalar(server.name, 4)}\n")
    _text(item, "  ", "transport", server.transport)
    _text(item, "  ", "command", server.command)
    _list(item, "  ", "args", server.args)
    _map(item, "  ", "env", server.env)
    _map(item, "  ", "secret_env", server.secret_env)
    _text(item, "  ", "url", server.url)
    _map(item, "  ", "headers", server.headers)
    _map(item, "  ", "secret_headers", server.secret_headers)
    if server.auth is not None:
        auth: list[str] = []
        for key in ("registration", "issuer_url", "client_id", "client_secret_ref"):
            _text(auth, "    ", key, getattr(server.auth, key))
        _list(auth, "    ", "scopes", sorted(server.auth.scopes, key=str.encode))
        if auth:
            item += ["  auth:\n", *auth]
    _text(item, "  ", "catalog_entry", server.catalog_entry)
    _text(item, "  ", "catalog_version", server.catalog_version)
    _item(out, item)


def _hook(out: list[str], hook: HookDeclaration) -> None:
    item: list[str] = []
    item.append(f"  name: {scalar(hook.name, 4)}\n")
    item.append(f"  event: {scalar(hook.event, 4)}\n")
    _text(item, "  ", "mode", hook.mode)
    if hook.enabled is not None:
        item.append(f"  enabled: {_flag(hook.enabled)}\n")
    if hook.required:
        item.append("  required: true\n")
    if hook.priority is not None:
        item.append(f"  priority: {hook.priority}\n")
    if hook.timeout_ns:
        item.append(f"  timeout: {duration_text(hook.timeout_ns)}\n")
    matcher: list[str] = []
    for key in MATCHER_TEXT_FIELDS:
        value = hook.matcher.get(key)
        if isinstance(value, bool):
            matcher.append(f"    {key}: {_flag(value)}\n")
        elif value and key != "agent_name":
            matcher.append(f"    {key}: {scalar(value, 6)}\n")
    if matcher:
        item += ["  matcher:\n", *matcher]
    _text(item, "  ", "command", hook.command)
    _list(item, "  ", "args", hook.args)
    _map(item, "  ", "env", hook.env)
    _map(item, "  ", "secret_env", hook.secret_env)
    _map(item, "  ", "metadata", hook.metadata)
    if hook.executor_kind:
        item += ["  executor:\n", f"    kind: {scalar(hook.executor_kind, 6)}\n"]
    _item(out, item)


def _item(out: list[str], item: list[str]) -> None:
    """Append a list item: the first line carries the dash in place of its indent."""
    out.append("- " + item[0][2:])
    out.extend(item[1:])


def _text(out: list[str], indent: str, key: str, value: str) -> None:
    if value:
        out.append(f"{indent}{key}: {scalar(value, len(indent) + 2)}\n")


def _list(out: list[str], indent: str, key: str, values: Iterable[str]) -> None:
    lines = [f"{indent}- {scalar(value, len(indent) + 2, under_dash=True)}\n" for value in values]
    if lines:
        out.append(f"{indent}{key}:\n")
        out.extend(lines)


def _map(out: list[str], indent: str, key: str, values: Mapping[str, str]) -> None:
    if values:
        out.append(f"{indent}{key}:\n")
        for name in sorted(values, key=str.encode):
            out.append(f"{indent}  {_key(name)}: {scalar(values[name], len(indent) + 4)}\n")


def _key(name: str) -> str:
    written = scalar(name, 0)
    return quote(name) if "\n" in written else written


def _flag(value: bool) -> str:
    return "true" if value else "false"
