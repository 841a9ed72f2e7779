"""Every place that defines MCP servers, lowest first: home, workspace, provider, agent, skills (contract §2.4, D19).

Reads the files as they are, trusted or not: what a workspace may bring into force is decided by who asks. The digest
of a layer is that of what was read. Never raises for what a file holds: the findings are returned.
"""

from collections.abc import Iterator
from pathlib import Path

from compozy.config.builtin_providers import canonical_provider
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.load import workspace_config_file
from compozy.config.mcp.merge import McpLayer
from compozy.config.mcp.tables import read_servers, server_tables, table_problems
from compozy.config.toml_source import read_toml
from compozy.config.trust_grants import text_digest
from compozy.documents.mcp_json import FILE_NAME, check_mcp_json
from compozy.model.diagnostic import Diagnostic, Severity
from compozy.model.mcp import McpLevel


def workspace_mcp_file(root: Path) -> Path:
    """Return where a workspace's own servers lie."""
    return root / ".compozy" / FILE_NAME


def settings_layers(home: Home, root: Path | None, provider: str) -> tuple[list[McpLayer], list[str]]:
    """Return what config.toml and mcp.json say in the home, then in the workspace, then for the provider.

    The second value lists what is wrong with the files, each with its place; a file with mistakes gives no layer.
    """
    layers: list[McpLayer] = []
    of_provider: list[McpLayer] = []
    problems: list[str] = []
    for level, config, sidecar in places(home, root):
        found, wrong = _settings_file(config, level, provider)
        problems += wrong
        layers += (layer for layer in found if layer.place == "config.toml")
        of_provider += (layer for layer in found if layer.place == "provider")
        found, wrong = file_layer(sidecar, level)
        problems += wrong
        layers += found
    return [*layers, *of_provider], problems


def places(home: Home, root: Path | None) -> Iterator[tuple[McpLevel, Path, Path]]:
    """Yield level, settings file and mcp.json of the home and of a workspace."""
    yield "home", home.config_file, home.mcp_file
    # A workspace that is the home's parent names the home's own files.
    if root is not None and workspace_config_file(root).absolute() != home.config_file.absolute():
        yield "workspace", workspace_config_file(root), workspace_mcp_file(root)


def file_layer(path: Path, level: McpLevel) -> tuple[list[McpLayer], list[str]]:
    """Return the layer of one mcp.json, none when there is no such file, and what is wrong with it."""
    outcome = check_mcp_json(path)
    if outcome.servers is None:
        return [], [in_words(one) for one in outcome.diagnostics if one.severity is Severity.ERROR]
    digest = "" if level == "home" else outcome.digest
    layer = McpLayer(place="mcp.json", level=level, path=str(path), servers=outcome.servers, digest=digest)
    return ([layer] if outcome.digest else []), []


def in_words(finding: Diagnostic) -> str:
    """Return a finding as one line with its place."""
    at = f":{finding.position.line}" if finding.position is not None else ""
    return f"{finding.path}{at}: {finding.message}"


def _settings_file(path: Path, level: McpLevel, provider: str) -> tuple[list[McpLayer], list[str]]:
    try:
        source = read_toml(path)
    except ConfigError as error:
        return [], [error.message]
    if source is None:
        return [], []
    wrong = list(table_problems(source))
    if wrong:
        return [], wrong
    digest = "" if level == "home" else text_digest(source.text)
    layers = []
    for key in server_tables(source):
        if len(key) > 1 and canonical_provider(str(key[1])) != provider:
            continue
        servers = read_servers(source, key)[0]
        layers.append(
            McpLayer(
                place="config.toml" if len(key) == 1 else "provider",
                level=level,
                path=str(path),
                servers=servers,
                digest=digest,
            )
        )
    return layers, []
