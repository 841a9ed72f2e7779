"""mcp.json: strict JSON to servers, and the merge into an agent's own (formats §7.6, §7.7, decisions D10)."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

import msgspec

from compozy.documents.agent_checks import without_failed
from compozy.documents.decoding import JSON, JSON_EXACT, Decoder
from compozy.documents.fields import MCP_JSON, MCP_JSON_SERVER
from compozy.documents.files import FileProblem, open_folder, read_file
from compozy.documents.json_document import JsonDocument
from compozy.documents.problems import DefinitionError, Fix, Path, Problem, has_errors, to_diagnostics
from compozy.documents.servers import server_from, server_problems, trimmed
from compozy.documents.sidecars import file_diagnostic, read_source
from compozy.documents.source import SourceText
from compozy.documents.text import fold, nearest, shown, shown_path, trim
from compozy.model.definition import McpServer
from compozy.model.diagnostic import Diagnostic

FILE_NAME = "mcp.json"
_CAMEL, _SNAKE = "mcpServers", "mcp_servers"


class McpOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one mcp.json says: its servers when nothing is wrong, and every finding.

    `digest` is the SHA-256 of the file's bytes, "" when there is no file or only a text was read.
    """

    servers: tuple[McpServer, ...] | None
    diagnostics: tuple[Diagnostic, ...]
    digest: str = ""


def read_mcp_json(source: SourceText, path: str) -> McpOutcome:
    """Read an mcp.json text: all problems, or the servers in their merged order."""
    document = JsonDocument(source.normal, "decode MCP JSON")
    problems = list(document.problems)
    servers: tuple[McpServer, ...] = ()
    if not document.broken:
        servers, found = _servers(document.value, path)
        problems += found
    diagnostics = to_diagnostics(problems, path, source, document.places)
    return McpOutcome(servers=None if has_errors(diagnostics) else servers, diagnostics=diagnostics)


def _servers(value: object, path: str) -> tuple[tuple[McpServer, ...], list[Problem]]:
    if value is None:
        return (), []
    top = Decoder(JSON_EXACT)
    if not isinstance(value, dict):
        top.table(MCP_JSON, value, ())
        return (), top.problems
    problems = _top_level_warnings(value)
    decoder = Decoder(JSON)
    servers: dict[str, tuple[McpServer, Path]] = {}
    for member in (_CAMEL, _SNAKE):
        found, more = _collection(value.get(member), member, decoder)
        problems += more
        for server, at in found:
            servers[server.name] = (server, at)
    problems = decoder.problems + problems if decoder.problems else problems
    for i, (server, at) in enumerate(servers.values()):
        checked = server_problems(server, at, f"mcp.json {shown_path(path)}[{i}]")
        problems += without_failed(checked, decoder.failed)
    return tuple(server for server, _ in servers.values()), problems


def _top_level_warnings(value: Mapping[str, object]) -> list[Problem]:
    problems = []
    for key in value:
        if key in (_CAMEL, _SNAKE):
            continue
        close = nearest(key, (_CAMEL, _SNAKE))
        message = f"unknown top-level key {shown(key)} is ignored"
        fix = None
        if close:
            message += f": did you mean {shown(close)}?"
            fix = Fix(title=f"rename it to {close}", kind="rename_key", text=close) if close not in value else None
        problems.append(
            Problem(code="mcp-unknown-top-level", message=message, path=(key,), part="key", suggestion=close, fix=fix)
        )
    if _CAMEL in value and _SNAKE in value:
        message = f"both {_CAMEL} and {_SNAKE} are given: where a name is in both, {_SNAKE} wins; keep one of them"
        problems.append(Problem(code="mcp-two-collections", message=message, path=(_SNAKE,), part="key"))
    return problems


def _collection(value: object, member: str, decoder: Decoder) -> tuple[list[tuple[McpServer, Path]], list[Problem]]:
    """The servers of one map in the order of their raw names' bytes; names that meet after trimming are refused."""
    if value is None:
        return [], []
    if not isinstance(value, dict):
        decoder.expect_mapping(value, (member,))
        return [], []
    found: list[tuple[McpServer, Path]] = []
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for raw in sorted(value, key=_byte_order):
        at: Path = (member, raw)
        server = trimmed(server_from(decoder.table(MCP_JSON_SERVER, value[raw], at), decoder.clean(raw)))
        if server.name in seen:
            message = f"duplicate MCP server name {shown(server.name)}: {shown(raw)} and {shown(seen[server.name])}"
            problems.append(Problem(code="mcp-duplicate-name", message=message, path=at, part="key"))
            continue
        seen[server.name] = raw
        found.append((server, at))
    return found, problems


def _byte_order(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def merge_servers(inline: Sequence[McpServer], sidecar: Sequence[McpServer]) -> tuple[McpServer, ...]:
    """Put the sidecar's servers over the agent's own: same trimmed name replaces in place, new ones follow."""
    merged = list(inline)
    position = {trim(server.name): i for i, server in enumerate(merged)}
    for server in sidecar:
        if server.name in position:
            merged[position[server.name]] = server
        else:
            position[server.name] = len(merged)
            merged.append(server)
    return tuple(merged)


def check_mcp_json(path: FilePath) -> McpOutcome:
    """Read one mcp.json and report everything that is wrong; no file means no servers."""
    shown_path = str(path)
    try:
        handle = open_folder(path.parent, "read MCP JSON")
        try:
            data, _ = read_file(handle, path.name, "read MCP JSON", shown_path)
        finally:
            os.close(handle)
    except FileProblem as problem:
        if problem.code == "not-found":
            return McpOutcome(servers=(), diagnostics=())
        return McpOutcome(servers=None, diagnostics=(file_diagnostic(problem),))
    source = read_source(data, shown_path, "decode MCP JSON")
    if isinstance(source, Diagnostic):
        return McpOutcome(servers=None, diagnostics=(source,))
    outcome = read_mcp_json(source, shown_path)
    return msgspec.structs.replace(outcome, digest=hashlib.sha256(data).hexdigest())


def written_lines(text: str) -> dict[tuple[str, str], int]:
    """Return the line of every server, as ``(name, "")``, and of every key of it, as ``(name, "env.MODE")``."""
    source = SourceText(text)
    places = JsonDocument(source.normal, "decode MCP JSON").places()
    lines: dict[tuple[str, str], int] = {}

    def note(path: Path, name: str, key: str) -> None:
        span = places.key_span(path)
        if span is not None:
            lines[(name, key)] = source.position(source.to_file(span[0])).line

    for member in (_CAMEL, _SNAKE):
        servers = places.value.get(member) if isinstance(places.value, dict) else None
        for raw, fields in servers.items() if isinstance(servers, dict) else ():
            note((member, raw), trim(raw), "")
            for field, value in fields.items() if isinstance(fields, dict) else ():
                note((member, raw, field), trim(raw), fold(field))
                for key in value if isinstance(value, dict) else ():
                    note((member, raw, field, key), trim(raw), f"{fold(field)}.{key}")
    return lines


def load_mcp(path: FilePath) -> tuple[McpServer, ...]:
    """Load one mcp.json; no file means no servers.

    Raises:
        DefinitionError: with everything that is wrong.
    """
    outcome = check_mcp_json(path)
    if outcome.servers is None:
        raise DefinitionError(outcome.diagnostics)
    return outcome.servers
