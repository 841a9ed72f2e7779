"""On which line a server, or a key of one, was written: for people who ask which file won (issue 7 item 4).

Looks only into the files that layers name; a file that changed meanwhile is named without a line.
"""

from pathlib import Path

from compozy.config.errors import ConfigError
from compozy.config.mcp.merge import McpLayer
from compozy.config.mcp.tables import read_servers, server_tables
from compozy.config.toml_source import TomlSource, read_toml
from compozy.documents.files import read_regular_text
from compozy.documents.mcp_json import written_lines
from compozy.documents.origins import Origins

_JsonLines = dict[tuple[str, str], int]


class Lines:
    """Reads each file once."""

    def __init__(self) -> None:
        self._toml: dict[str, TomlSource | None] = {}
        self._json: dict[str, _JsonLines] = {}
        self._agents: dict[str, int] = {}

    def at(self, layer: McpLayer, name: str, key: str = "") -> str:
        """Return ``file:line`` of a server in a layer, or of one of its keys."""
        if layer.place in ("config.toml", "provider"):
            return self._in_toml(layer, name, key)
        line = self._in_json(layer.path, name, key) if layer.place == "mcp.json" else self._in_agent(layer.path)
        return f"{layer.path}:{line}" if line else layer.path

    def _in_toml(self, layer: McpLayer, name: str, key: str) -> str:
        if layer.path not in self._toml:
            try:
                self._toml[layer.path] = read_toml(Path(layer.path))
            except ConfigError:
                self._toml[layer.path] = None
        source = self._toml[layer.path]
        for path in server_tables(source) if source is not None else ():
            if source is None or (len(path) == 1) != (layer.place == "config.toml"):
                continue
            servers = read_servers(source, path)[0]
            if len(path) == 1 or servers == layer.servers:
                number = next((i for i, server in enumerate(servers) if server.name == name), None)
                if number is not None:
                    return source.place((*path, number, *(key.split(".", 1) if key else ())))
        return layer.path

    def _in_json(self, path: str, name: str, key: str) -> int:
        if path not in self._json:
            try:
                self._json[path] = written_lines(read_regular_text(Path(path)))
            except (OSError, UnicodeDecodeError):
                self._json[path] = {}
        lines = self._json[path]
        return lines.get((name, key)) or lines.get((name, ""), 0)

    def _in_agent(self, path: str) -> int:
        if path not in self._agents:
            try:
                lines = Origins(read_regular_text(Path(path))).lines
            except (OSError, UnicodeDecodeError):
                lines = {}
            self._agents[path] = lines.get("mcp_servers", 0)
        return self._agents[path]
