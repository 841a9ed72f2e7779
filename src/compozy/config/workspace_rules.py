"""What a workspace's config.toml may decide (decisions D15): a cloned repository must not widen anything by itself.

Process-wide sections never come from a workspace. Whatever names a program, an address or a secret, and every wider
permission, is left out until a person trusted the file as it is; a note says so. The home's ``[trust] mode = "off"``
restores the contract.
"""

from collections.abc import Iterator

from compozy.config.sections import PermissionsSection, TrustSection
from compozy.config.toml_source import TomlSource
from compozy.model.definition import PERMISSION_MODES
from compozy.model.record import Record

# One daemon serves all workspaces: these belong to the home alone.
_HOME_ONLY = frozenset(
    {"daemon", "http", "log", "redact", "trust", "limits", "observability", "models_dev", "selection"}
)
# These start programs, reach servers, or open tools.
_NEEDS_TRUST = frozenset({"hooks", "mcp_servers", "tools"})


class WorkspaceNeed(Record, frozen=True, kw_only=True):
    """One setting of a workspace that counts only after it was trusted: its key, its value in words, its place."""

    key: str
    value: str
    place: str


def workspace_needs(source: TomlSource, permissions: PermissionsSection) -> Iterator[WorkspaceNeed]:
    """Yield what of a workspace's file needs trust, whether it has it or not."""
    for name, value in source.table.items():
        if name in _NEEDS_TRUST:
            yield _need(source, (name,), value)
        elif name == "providers" and isinstance(value, dict):
            for provider, table in value.items():
                rest = _beyond_models(table) if isinstance(table, dict) else {}
                if rest:
                    yield _need(source, (name, provider), rest)
        elif name == "permissions" and isinstance(value, dict) and _is_wider(value.get("mode"), permissions.mode):
            yield _need(source, (name, "mode"), value["mode"])


def _need(source: TomlSource, key: tuple[str, ...], value: object) -> WorkspaceNeed:
    return WorkspaceNeed(key=".".join(key), value=_in_words(value), place=source.place(key))


def _in_words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_in_words(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "; ".join(_in_words(inner) for inner in value)
    return str(value)


def _beyond_models(table: dict[str, object]) -> dict[str, object]:
    models = table.get("models")
    found = {key: value for key, value in table.items() if key != "models"}
    if isinstance(models, dict) and "discovery" in models:
        found["models.discovery"] = models["discovery"]
    return found


def _is_wider(mode: object, cap: str) -> bool:
    return mode in PERMISSION_MODES and PERMISSION_MODES.index(str(mode)) > PERMISSION_MODES.index(cap)


class WorkspaceRules:
    """Filters one workspace's table; `notes` and `refused` (by key path) collect what was left out and why."""

    def __init__(self, *, trust: TrustSection, permissions: PermissionsSection, is_trusted: bool = False) -> None:
        self._trusts_all = is_trusted or trust.mode == "off"
        self._cap = permissions.mode
        self.notes: list[str] = []
        self.refused: dict[tuple[str, ...], str] = {}

    def apply(self, table: dict[str, object], source: TomlSource) -> dict[str, object]:
        """Return the table without what this workspace may not decide."""
        kept: dict[str, object] = {}
        for name, value in table.items():
            if name in _HOME_ONLY:
                self._note(source, name, "is decided by the home alone")
            elif name == "session" and isinstance(value, dict) and "retention" in value:
                self._note(source, "session.retention", "is decided by the home alone")
                kept[name] = {key: inner for key, inner in value.items() if key != "retention"}
            elif self._trusts_all:
                kept[name] = value
            elif name in _NEEDS_TRUST:
                self._note(source, name, "needs trust, which this workspace does not have")
            elif name == "providers" and isinstance(value, dict):
                kept[name] = self._models_only(value, source)
            elif name == "permissions" and isinstance(value, dict):
                kept[name] = self._capped(value, source)
            else:
                kept[name] = value
        return kept

    def _models_only(self, providers: dict[str, object], source: TomlSource) -> dict[str, object]:
        kept: dict[str, object] = {}
        for name, table in providers.items():
            if not isinstance(table, dict):
                continue
            models = table.get("models")
            if isinstance(models, dict):
                kept[name] = {"models": {key: value for key, value in models.items() if key != "discovery"}}
            if set(table) - {"models"}:
                self._note(source, f"providers.{name}", "needs trust for everything but its models")
        return kept

    def _capped(self, permissions: dict[str, object], source: TomlSource) -> dict[str, object]:
        mode = permissions.get("mode")
        if _is_wider(mode, self._cap):
            self._note(source, "permissions.mode", f"is wider than the home's {self._cap!r} and needs trust")
            return {**permissions, "mode": self._cap}
        return permissions

    def _note(self, source: TomlSource, key: str, why: str) -> None:
        self.refused[tuple(key.split("."))] = why
        self.notes.append(f"{source.place(tuple(key.split('.')))}: {key} {why}; it is left out")
