"""On which line of AGENT.md each field was written, for people who ask where a value comes from (issue 3 item 5)."""

from compozy.documents.edits.header import Parts
from compozy.documents.edits.nodes import CannotEdit, EditRefused, to_data
from compozy.documents.edits.toml_nodes import locate_toml
from compozy.documents.edits.toml_splice import read_toml
from compozy.documents.edits.yaml_nodes import locate_yaml
from compozy.documents.text import fold, trim


class Origins:
    """The lines of a file's fields. `lines` has each top-level field, and `skills.disabled`, with its line from 1."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, int] = {}
        self.server_names: set[str] = set()
        self.prompt_line = 1
        try:
            parts = Parts(text)
        except EditRefused:
            return
        body = text[parts.body :]
        blank = len(body) - len(body.lstrip())
        self.prompt_line = text.count("\n", 0, parts.body + blank) + 1
        try:
            if parts.is_toml():
                self._read_toml(parts)
            else:
                self._read_yaml(parts)
        except CannotEdit:
            return

    def _read_yaml(self, parts: Parts) -> None:
        root = locate_yaml(parts.text, parts.start, parts.end, str)
        for pair in root.pairs if root is not None else ():
            self.lines[pair.name] = parts.text.count("\n", 0, pair.key.start) + 1
            if pair.name == "mcp_servers":
                self._name_servers(to_data(pair.value))

    def _read_toml(self, parts: Parts) -> None:
        data = read_toml(parts.header)
        self._name_servers(next((value for key, value in data.items() if fold(key) == "mcp_servers"), None))
        for section in locate_toml(parts.text, parts.start, parts.end):
            places = [(section.path, section.header_end)] if section.path else []
            places += [(one.path, one.key.start) for one in section.statements]
            for path, offset in places:
                self.lines.setdefault(fold(str(path[0])), parts.text.count("\n", 0, offset) + 1)

    def _name_servers(self, servers: object) -> None:
        for one in servers if isinstance(servers, list) else []:
            if isinstance(one, dict) and isinstance(one.get("name"), str):
                self.server_names.add(trim(one["name"]))
