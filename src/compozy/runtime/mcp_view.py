"""Which file won, for every MCP server and every key of it: `compozy mcp list|explain` (decisions D1, D19; P35, P37).

Values of `env` and of headers are never shown: a literal is set, one under a secret-looking name is masked, a
reference is set or unset and names where it leads. Hidden definitions are listed with the rule that hides them.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

from compozy.config.config import Config
from compozy.config.errors import VaultError
from compozy.config.home import Home
from compozy.config.mcp.access import tools_of
from compozy.config.mcp.layers import places
from compozy.config.mcp.merge import McpLayer, Merged, is_whole, keys_of, merge_layers
from compozy.config.mcp.origin_lines import Lines
from compozy.config.redaction import Redactor
from compozy.config.secrets import ENV_PREFIX, Secrets
from compozy.documents.agent_header import read_header
from compozy.documents.agents import LoadedAgent
from compozy.documents.files import read_regular
from compozy.documents.limits import MAX_FILE_BYTES
from compozy.documents.mcp_json import FILE_NAME, load_mcp
from compozy.documents.servers import trimmed
from compozy.documents.source import InvalidUtf8, SourceText
from compozy.model.definition import McpServer
from compozy.model.errors import CompozyError
from compozy.model.mcp import (
    McpKeyView,
    McpReport,
    McpServerView,
    McpSourceView,
    ResolvedServer,
)
from compozy.model.secret_patterns import MASK, is_secret_name
from compozy.runtime.builtin_agents import NO_FILE
from compozy.runtime.mcp_servers import McpAsk, incomplete, is_trusted, layers_of, resolved
from compozy.runtime.trust import Trust, session_provider

_LEVELS = {
    "home": "the home",
    "workspace": "the workspace",
    "workspace_agent": "the workspace's agent",
    "extension": "an extension",
    "skill": "a skill",
}


class McpViews:
    """Reads and explains; starts nothing and opens no secret."""

    def __init__(self, home: Home, trust: Trust, secrets: Secrets, redactor: Redactor) -> None:
        self._home, self._trust, self._secrets, self._redactor = home, trust, secrets, redactor

    def report(self, config: Config, ask: McpAsk) -> McpReport:
        """Return every server of a place, or of one agent there. Reads files: call it from a thread."""
        layers, problems = layers_of(self._home, self._trust, config, ask)
        layers = [one for layer in layers for one in _in_detail(layer, ask)]
        merged = merge_layers(layers)
        lines = Lines()
        servers = resolved(merged, self._trust, config, ask)
        root = Path(ask.workspace.root_dir) if ask.workspace else None
        looked = [str(path) for _, *paths in places(self._home, root) for path in paths]
        if ask.agent is not None and ask.agent.path != NO_FILE:
            looked += [str(ask.agent.path), str(ask.agent.path.parent / FILE_NAME)]
        return McpReport(
            servers=tuple(self._server(one, merged[one.server.name], lines, config) for one in servers),
            looked=tuple(looked),
            problems=(*problems, *incomplete(merged)),
            workspace_id=ask.workspace.id if ask.workspace else "",
            agent=ask.agent.name if ask.agent else "",
            provider=session_provider(ask.agent.definition, config) if ask.agent else config.defaults.provider,
        )

    def _server(self, one: ResolvedServer, merged: Merged, lines: Lines, config: Config) -> McpServerView:
        server = one.server
        return McpServerView(
            name=server.name,
            transport="http" if one.is_remote else "stdio",
            state=one.state,
            reason=one.reason,
            tools=tools_of(server.name),
            level=one.level,
            at=lines.at(merged.winner, server.name),
            sources=tuple(self._sources(merged, lines, config)),
            keys=tuple(
                self._key(server, key, lines.at(merged.keys[key], server.name, key)) for key in keys_of(server)
            ),
        )

    def _sources(self, merged: Merged, lines: Lines, config: Config) -> Iterator[McpSourceView]:
        winner = merged.winner
        for layer, standing in merged.sources:
            yield McpSourceView(
                place=layer.place,
                level=layer.level,
                at=lines.at(layer, merged.server.name),
                standing=standing,
                trusted=is_trusted(layer, self._trust, config),
                why=_why(layer, winner, merged.server.name) if standing == "replaced" else "",
            )

    def _key(self, server: McpServer, key: str, place: str) -> McpKeyView:
        table, _, name = key.partition(".")
        if not name:
            value = getattr(server, table)
            if table == "auth":
                text = server.auth.registration if server.auth and server.auth.registration else "auto"
            else:
                text = shlex.join(value) if isinstance(value, tuple) else str(value)
            return McpKeyView(key=key, place=place, state="set", value=self._redactor.text(text))
        value = getattr(server, table)[name]
        if table in ("secret_env", "secret_headers"):
            return self._reference(key, value, place)
        if value and is_secret_name(name):
            return McpKeyView(key=key, place=place, state="redacted", value=MASK)
        note = "passed on as it is written: nothing is expanded" if "$" in value else ""
        return McpKeyView(key=key, place=place, state="set", note=note)

    def _reference(self, key: str, reference: str, place: str) -> McpKeyView:
        kind, _, name = reference.partition(":")
        # Spelled so that redaction leaves the name readable.
        where = f"variable {name}" if f"{kind}:" == ENV_PREFIX else f"vault entry {name}"
        try:
            is_there = self._secrets.is_there(reference)
        except VaultError as error:
            return McpKeyView(key=key, place=place, state="unset", value=where, note=error.message)
        note = "" if is_there else "sessions that are given this server are refused until it is set"
        return McpKeyView(key=key, place=place, state="set" if is_there else "unset", value=where, note=note)


def _why(layer: McpLayer, winner: McpLayer, name: str) -> str:
    if layer.level != winner.level:
        if not any(is_whole(server) for server in layer.servers if server.name == name):
            return f"it only adds to a server of {_LEVELS[layer.level]}, and this one is of {_LEVELS[winner.level]}"
        return f"{_LEVELS[winner.level]} comes after {_LEVELS[layer.level]}: across levels of trust nothing is mixed"
    if winner.replaces:
        return "an mcp.json replaces the whole server"
    return "the later definition uses another transport"


def _in_detail(layer: McpLayer, ask: McpAsk) -> list[McpLayer]:
    """Take an agent's layer apart into its AGENT.md and its mcp.json, so that what is hidden there is shown too."""
    if layer.place != "agent" or ask.agent is None:
        return [layer]
    sidecar = ask.agent.path.parent / FILE_NAME
    try:
        names = {server.name for server in load_mcp(sidecar)}
    except CompozyError:
        names = set()
    if not names:
        return [layer]
    beside = tuple(server for server in layer.servers if server.name in names)
    inline = _inline(ask.agent) or tuple(server for server in layer.servers if server.name not in names)
    own = McpLayer(place="agent", level=layer.level, path=layer.path, servers=inline, digest=layer.digest)
    above = McpLayer(
        place="mcp.json",
        level=layer.level,
        path=str(sidecar),
        servers=beside,
        digest=layer.digest,
        # Trust in the definition covers both files.
        trust_path=layer.path,
    )
    return [own, above]


def _inline(agent: LoadedAgent) -> tuple[McpServer, ...]:
    try:
        found = read_header(SourceText.decode(read_regular(agent.path, MAX_FILE_BYTES)), str(agent.path)).definition
    except (OSError, InvalidUtf8):
        return ()
    return tuple(map(trimmed, found.mcp_servers)) if found is not None else ()
