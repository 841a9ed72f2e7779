"""What one definition on disk says once everything is read, with the origin of each value (issue 3 item 5).

Plain JSON data for people and programs. Says what the files hold, not what a session would use: defaults of the
home and of providers are the daemon's to add. Values of secret-looking names are hidden (decisions D1).
"""

import os
from pathlib import Path

import msgspec

from compozy.catalog.checking.files import check_file
from compozy.catalog.checking.targets import Kind, NothingToCheck, Target, targets_at
from compozy.documents.agents import LoadedAgent, check_agent
from compozy.documents.capabilities import check_capabilities
from compozy.documents.capability_records import FileFormat, read_catalog, read_record
from compozy.documents.digests import capabilities_digest
from compozy.documents.durations import duration_text
from compozy.documents.environment import is_secret_like
from compozy.documents.mcp_json import read_mcp_json
from compozy.documents.origins import Origins
from compozy.documents.source import SourceText
from compozy.documents.text import trim
from compozy.model.capability import Capability
from compozy.model.command_secrets import masked_command
from compozy.model.definition import AgentDefinition, HookDeclaration, McpServer
from compozy.model.diagnostic import Diagnostic

HIDDEN = "[REDACTED]"
JsonObject = dict[str, object]


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """What `inspect` shows: the value, or None when a diagnostic is an error; warnings stand beside a value."""

    kind: str
    path: str
    value: JsonObject | None
    diagnostics: tuple[Diagnostic, ...]
    texts: dict[str, str] = {}


def inspect(path: Path) -> Inspection:
    """Inspect an agent folder or AGENT.md, a capability file or folder, or an mcp.json.

    Raises:
        NothingToCheck: nothing of these lies at the path.
    """
    target = _target(Path(os.path.abspath(path)))
    if target.kind is Kind.AGENT:
        return _agent(target.path)
    if target.kind is Kind.CATALOG:
        return _catalog(target.path)
    checked = check_file(target.path)
    value: JsonObject | None = None
    if checked.text is not None and target.kind is Kind.MCP:
        servers = read_mcp_json(SourceText(checked.text), checked.path).servers
        if servers is not None:
            value = {"mcp_servers": [{**server(one), "source": checked.path} for one in servers]}
    elif checked.text is not None:
        value = _capability_file(target, checked.text)
    texts = {checked.path: checked.text} if checked.text is not None else {}
    return Inspection(
        kind=target.kind.value, path=checked.path, value=value, diagnostics=checked.diagnostics, texts=texts
    )


def _target(path: Path) -> Target:
    kinds = (Kind.AGENT, Kind.CATALOG, Kind.MCP, Kind.CAPABILITY_FILE, Kind.CAPABILITY_RECORD)
    # A folder of many definitions is none itself.
    is_one = not path.is_dir() or path.name == "capabilities" or os.path.lexists(path / "AGENT.md")
    for target in targets_at(path):
        if is_one and target.kind in kinds:
            return target
    raise NothingToCheck(
        f"{str(path)!r} is no definition; name an agent folder, an AGENT.md, a capability file or folder, "
        "or an mcp.json"
    )


def _agent(path: Path) -> Inspection:
    report = check_agent(path)
    texts = {}
    for file in dict.fromkeys([str(path), *(one.path for one in report.diagnostics)]):
        text = check_file(Path(file)).text
        if text is not None:
            texts[file] = text
    value = _agent_value(report.loaded, texts.get(str(path), "")) if report.loaded is not None else None
    return Inspection(kind="agent", path=str(path), value=value, diagnostics=report.diagnostics, texts=texts)


def _agent_value(loaded: LoadedAgent, text: str) -> JsonObject:
    definition = loaded.definition
    origins = Origins(text)
    value: JsonObject = {"name": definition.name, "path": str(loaded.path), "prompt": definition.prompt}
    for name in ("provider", "model", "reasoning_effort", "command", "permissions"):
        text = getattr(definition, name)
        _keep(value, name, masked_command(text) if name == "command" else text)
    for name in ("tools", "toolsets", "deny_tools", "category_path"):
        _keep(value, name, list(getattr(definition, name)))
    if definition.skills_disabled:
        value["skills"] = {"disabled": list(definition.skills_disabled)}
    value["mcp_servers"] = _servers(definition, loaded.path, origins)
    value["hooks"] = [hook(one) for one in definition.hooks]
    value["capabilities"] = [capability(one) for one in definition.capabilities or ()]
    value["definition_digest"] = loaded.definition_digest
    value["capabilities_digest"] = loaded.capabilities_digest
    value["origins"] = _origins(definition, loaded.path, origins)
    return value


def _servers(definition: AgentDefinition, path: Path, origins: Origins) -> list[JsonObject]:
    sidecar = path.parent / "mcp.json"
    checked = check_file(sidecar) if sidecar.exists() else None
    found = read_mcp_json(SourceText(checked.text), checked.path).servers if checked and checked.text else None
    names = {one.name for one in found or ()}
    rows = []
    for one in definition.mcp_servers:
        from_sidecar = trim(one.name) in names
        row: JsonObject = {**server(one), "source": str(sidecar if from_sidecar else path)}
        if from_sidecar and trim(one.name) in origins.server_names:
            row["replaces"] = f"{path}: the server of the same name"
        rows.append(row)
    return rows


def _origins(definition: AgentDefinition, path: Path, origins: Origins) -> JsonObject:
    """Say for each value where it was written: a file with its line."""
    found: JsonObject = {name: f"{path}:{line}" for name, line in origins.lines.items()}
    found["prompt"] = f"{path}:{origins.prompt_line}"
    if definition.capabilities is not None:
        for name in ("capabilities.toml", "capabilities.json", "capabilities"):
            if (path.parent / name).exists():
                found["capabilities"] = str(path.parent / name)
    if (path.parent / "mcp.json").exists():
        found["mcp_servers (sidecar)"] = str(path.parent / "mcp.json")
    return found


def _catalog(folder: Path) -> Inspection:
    report = check_capabilities(folder)
    value: JsonObject | None = None
    if report.ok:
        rows = [capability(one) for one in report.capabilities or ()]
        value = {"capabilities": rows, "capabilities_digest": report.digest}
    texts = {}
    for file in dict.fromkeys(one.path for one in report.diagnostics):
        text = check_file(Path(file)).text
        if text is not None:
            texts[file] = text
    return Inspection(kind="capabilities", path=str(folder), value=value, diagnostics=report.diagnostics, texts=texts)


def _capability_file(target: Target, text: str) -> JsonObject | None:
    file_format: FileFormat = "json" if target.path.suffix == ".json" else "toml"
    source, shown = SourceText(text), str(target.path)
    if target.kind is Kind.CAPABILITY_RECORD:
        outcome = read_record(source, shown, file_format, target.path.stem)
    else:
        outcome = read_catalog(source, shown, file_format)
    if outcome.capabilities is None:
        return None
    rows = [capability(one) for one in outcome.capabilities]
    return {"capabilities": rows, "capabilities_digest": capabilities_digest(outcome.capabilities)}


def _keep(value: JsonObject, name: str, item: object) -> None:
    if item:
        value[name] = item


def capability(one: Capability) -> JsonObject:
    """Return a capability as JSON data, empty fields left out."""
    built: JsonObject = msgspec.to_builtins(one)
    return built


def server(one: McpServer) -> JsonObject:
    """Return a server as JSON data; literal values of secret-looking names are hidden."""
    built: JsonObject = msgspec.to_builtins(one)
    for name in ("env", "headers"):
        values = built.get(name)
        if isinstance(values, dict):
            built[name] = {key: HIDDEN if is_secret_like(key) else text for key, text in values.items()}
    return built


def hook(one: HookDeclaration) -> JsonObject:
    """Return a hook as JSON data with its timeout as text."""
    built: JsonObject = msgspec.to_builtins(one)
    if one.timeout_ns is not None:
        del built["timeout_ns"]
        built["timeout"] = duration_text(one.timeout_ns)
    values = built.get("env")
    if isinstance(values, dict):
        built["env"] = {key: HIDDEN if is_secret_like(key) else text for key, text in values.items()}
    return built
