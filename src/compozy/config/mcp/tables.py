"""MCP servers written in config.toml, for everybody or for one provider (contract §2.1, §2.4; report P41).

Checked like those of AGENT.md, by the same rules; every problem has file and line. Merges nothing.
"""

from collections.abc import Iterator

from compozy.config.toml_source import TomlSource
from compozy.documents import codes
from compozy.documents.agent_checks import without_failed
from compozy.documents.decoding import TOML, Decoder
from compozy.documents.fields import MCP_SERVER
from compozy.documents.problems import Path, Problem
from compozy.documents.servers import server_from, server_problems, trimmed
from compozy.documents.text import shown
from compozy.model.definition import McpServer
from compozy.model.diagnostic import Severity

# A provider's table may add to a server that is defined elsewhere; whether it is complete shows after the merge.
_INCOMPLETE = frozenset({"mcp-command-required", "mcp-url-required"})


def server_tables(source: TomlSource) -> Iterator[Path]:
    """Yield the key path of every list of servers in a file."""
    if isinstance(source.table.get("mcp_servers"), list):
        yield ("mcp_servers",)
    providers = source.table.get("providers")
    for name, table in providers.items() if isinstance(providers, dict) else ():
        if isinstance(table, dict) and isinstance(table.get("mcp_servers"), list):
            yield ("providers", str(name), "mcp_servers")


def read_servers(source: TomlSource, path: Path) -> tuple[tuple[McpServer, ...], list[Problem]]:
    """Return the servers of one list in their order, and what is wrong with them."""
    rows: object = source.table
    for part in path:
        rows = rows[part] if isinstance(rows, dict) and isinstance(part, str) else None
    decoder = Decoder(TOML)
    servers: list[McpServer] = []
    problems: list[Problem] = []
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        at: Path = (*path, number)
        server = trimmed(server_from(decoder.table(MCP_SERVER, row, at)))
        found = server_problems(server, at, f"{'.'.join(map(str, path))}[{number}]")
        problems += [one for one in without_failed(found, decoder.failed) if _counts(one, path)]
        if any(server.name == other.name for other in servers):
            words = f"{'.'.join(map(str, path))}[{number}]: MCP server {shown(server.name)} is defined above already"
            problems.append(Problem(code="mcp-duplicate-name", message=f"{words}; remove one", path=(*at, "name")))
        servers.append(server)
    return tuple(servers), [*decoder.problems, *problems]


def table_problems(source: TomlSource) -> Iterator[str]:
    """Yield everything that keeps the servers of a file from being used, each with its place."""
    for path in server_tables(source):
        for problem in read_servers(source, path)[1]:
            if codes.entry(problem.code).severity is Severity.ERROR:
                yield f"{source.place(problem.path)}: {problem.message}"


def _counts(problem: Problem, path: Path) -> bool:
    return path[0] != "providers" or problem.code not in _INCOMPLETE
