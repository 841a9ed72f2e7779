"""One agent folder: AGENT.md, mcp.json and the capability catalog, with digests (formats §4.3).

`check_agent` reports everything and never raises for what a file holds; `load_agent` raises instead. Which folder is
in force is for `catalog` to say.
"""

import os
from pathlib import Path

import msgspec

from compozy.documents.agent_header import read_header
from compozy.documents.canonical import NoDigest, definition_digest
from compozy.documents.capabilities import read_catalog_folder
from compozy.documents.digests import capabilities_digest
from compozy.documents.files import FileProblem, open_folder, read_file
from compozy.documents.mcp_json import FILE_NAME as MCP_FILE
from compozy.documents.mcp_json import merge_servers, read_mcp_json
from compozy.documents.names import name_problem
from compozy.documents.problems import DefinitionError, diagnostic, has_errors
from compozy.documents.sidecars import FileStamp, file_diagnostic, read_source
from compozy.documents.source import SourceText
from compozy.documents.text import shown, trim
from compozy.model.definition import AgentDefinition, McpServer
from compozy.model.diagnostic import Diagnostic

AGENT_FILE = "AGENT.md"


class LoadedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A definition that loads, with its digests.

    `definition_digest` is "" when the definition has none (a reserved name); `warnings` then says so.
    """

    path: Path
    definition: AgentDefinition
    definition_digest: str
    capabilities_digest: str
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def name(self) -> str:
        """The declared name."""
        return self.definition.name


class AgentReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent folder holds: the loaded agent, or None, and every finding in check order."""

    loaded: LoadedAgent | None
    diagnostics: tuple[Diagnostic, ...]
    stamps: tuple[FileStamp, ...] = ()


def load_agent(path: Path) -> LoadedAgent:
    """Load the agent of one AGENT.md with its sidecars.

    Raises:
        DefinitionError: with everything that is wrong; its message is that of the first problem in check order.
    """
    report = check_agent(path)
    if report.loaded is None:
        raise DefinitionError(report.diagnostics)
    return report.loaded


def load_named_agent(name: str, agents_folder: Path) -> LoadedAgent:
    """Load an agent by name from the home's agents folder; folder and declared name must agree (formats §4.3).

    Raises:
        DefinitionError: the name is not allowed, or the definition does not load or declares another name.
    """
    wanted = trim(name)
    problem = name_problem(wanted)
    if problem is not None:
        raise DefinitionError((diagnostic(problem.code, problem.message, str(agents_folder)),))
    loaded = load_agent(agents_folder / wanted / AGENT_FILE)
    if loaded.name != wanted:
        raise DefinitionError((name_mismatch(loaded, wanted),))
    return loaded


def name_mismatch(loaded: LoadedAgent, expected: str) -> Diagnostic:
    """The declared name differs from the one the folder promises."""
    message = f"{loaded.path} defines name {shown(loaded.name)}, expected {shown(expected)}"
    return diagnostic("name-mismatch", message, str(loaded.path))


def check_agent(path: Path) -> AgentReport:
    """Read one AGENT.md with its sidecars and report everything that is wrong."""
    path = Path(os.path.abspath(path))
    try:
        handle = open_folder(path.parent, "open agent directory")
    except FileProblem as problem:
        return AgentReport(loaded=None, diagnostics=(file_diagnostic(problem),))
    try:
        return check_agent_folder(handle, path)
    finally:
        os.close(handle)


def check_agent_folder(handle: int, path: Path) -> AgentReport:
    """The same for an open agent folder; `path` is its AGENT.md."""
    shown_path, folder = str(path), str(path.parent)
    stamps: list[FileStamp] = []
    definition: AgentDefinition | None = None
    diagnostics: list[Diagnostic] = []
    source = _read_text(handle, path.name, "read agent file", shown_path, "decode agent frontmatter", stamps)
    if isinstance(source, SourceText):
        outcome = read_header(source, shown_path)
        definition = outcome.definition
        diagnostics += outcome.diagnostics
    else:
        diagnostics.append(source)
        if source.code == "not-found":
            return AgentReport(loaded=None, diagnostics=tuple(diagnostics))
    sidecar = _read_servers(handle, f"{folder}/{MCP_FILE}", diagnostics, stamps)
    catalog = read_catalog_folder(handle, folder)
    diagnostics += catalog.diagnostics
    stamps += catalog.stamps
    if definition is None or has_errors(diagnostics):
        return AgentReport(loaded=None, diagnostics=tuple(diagnostics), stamps=tuple(stamps))
    servers = merge_servers(definition.mcp_servers, sidecar) if sidecar else definition.mcp_servers
    definition = msgspec.structs.replace(definition, mcp_servers=servers, capabilities=catalog.capabilities)
    digest = ""
    try:
        digest = definition_digest(definition)
    except NoDigest as problem:
        diagnostics.append(diagnostic("definition-no-digest", problem.message, shown_path))
    loaded = LoadedAgent(
        path=path,
        definition=definition,
        definition_digest=digest,
        capabilities_digest=capabilities_digest(catalog.capabilities),
        warnings=tuple(diagnostics),
    )
    return AgentReport(loaded=loaded, diagnostics=tuple(diagnostics), stamps=tuple(stamps))


def _read_text(
    handle: int, name: str, what: str, path: str, decoding: str, stamps: list[FileStamp]
) -> SourceText | Diagnostic:
    try:
        data, state = read_file(handle, name, what, path)
    except FileProblem as problem:
        return file_diagnostic(problem)
    stamps.append(FileStamp.of(name, state, data))
    return read_source(data, path, decoding)


def _read_servers(
    handle: int, path: str, diagnostics: list[Diagnostic], stamps: list[FileStamp]
) -> tuple[McpServer, ...]:
    source = _read_text(handle, MCP_FILE, "read MCP JSON", path, "decode MCP JSON", stamps)
    if isinstance(source, Diagnostic):
        if source.code != "not-found":
            diagnostics.append(source)
        return ()
    outcome = read_mcp_json(source, path)
    diagnostics += outcome.diagnostics
    return outcome.servers or ()
