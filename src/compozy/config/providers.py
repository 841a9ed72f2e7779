"""Providers: the built-in rows overlaid by ``[providers.*]`` of config.toml, field by field (contract §2.1, §2.3).

Reads tables that `load.py` has already checked against `ProviderTable`; knows no files and starts nothing.
"""

from typing import Annotated, Literal

import msgspec

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.config.commands import split_command
from compozy.config.durations import Duration
from compozy.config.home import Home
from compozy.config.openai_compatible import OPENAI_COMPATIBLE, is_openai_compatible, located
from compozy.config.sections import Free
from compozy.model.provider import (
    AuthMode,
    CredentialSlot,
    CuratedModel,
    EnvPolicy,
    Harness,
    HomePolicy,
    ModelDiscovery,
    Provider,
)
from compozy.model.record import Record

# Keys of older versions of the format, and where their meaning lives now.
REMOVED_KEYS: dict[str, str] = {
    "default_model": "use models.default",
    "supported_models": "use models.curated",
    "supports_reasoning_effort": "use models.curated[].reasoning_efforts and models.reasoning.apply",
    "aliases": "aliases are built in, give the other name a table of its own",
}
# Once a provider authenticates in another way, what belonged to the old way is dropped.
_DROPPED_WITH_AUTH_MODE = ("credential_slots", "auth_status_command", "auth_login_command")

ReleaseDate = Annotated[str, msgspec.Meta(pattern=r"^$|^\d{4}-\d{2}(-\d{2})?$")]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class CuratedRow(Record, frozen=True, kw_only=True):
    """One row of ``models.curated``; the same fields as `CuratedModel`, checked."""

    id: Annotated[str, msgspec.Meta(min_length=1)]
    display_name: str = ""
    context_window: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    supports_tools: bool | None = None
    supports_reasoning: bool | None = None
    reasoning_efforts: tuple[Effort, ...] = ()
    default_reasoning_effort: str = ""
    cost_input_per_million: float | None = None
    cost_output_per_million: float | None = None
    cost_cache_read_per_million: float | None = None
    cost_cache_write_per_million: float | None = None
    cost_reasoning_per_million: float | None = None
    deprecated: bool = False
    hidden: bool = False
    featured: bool = False
    release_date: ReleaseDate = ""


class ReasoningTable(Record, frozen=True, kw_only=True):
    """[providers.X.models.reasoning]"""

    apply: Literal["acp_option", "none"] = "none"


class DiscoveryTable(Record, frozen=True, kw_only=True):
    """[providers.X.models.discovery]"""

    enabled: bool = False
    command: str = ""
    endpoint: str = ""
    timeout: Duration = Duration(0)


class ModelsTable(Record, frozen=True, kw_only=True):
    """[providers.X.models]"""

    default: str = ""
    curated: tuple[CuratedRow, ...] = ()
    reasoning: ReasoningTable = ReasoningTable()
    discovery: DiscoveryTable = DiscoveryTable()


class SlotTable(Record, frozen=True, kw_only=True):
    """[[providers.X.credential_slots]]"""

    name: str
    target_env: str
    secret_ref: Annotated[str, msgspec.Meta(pattern="^$|^env:[A-Za-z_][A-Za-z0-9_]*$|^vault:.+$")] = ""
    kind: str = ""
    required: bool = True


class ProviderTable(Record, frozen=True, kw_only=True):
    """[providers.X] as written; a field that is absent keeps the built-in value."""

    command: str = ""
    display_name: str = ""
    models: ModelsTable = ModelsTable()
    harness: Harness = "acp"
    runtime_provider: str = ""
    transport: str = ""
    base_url: str = ""
    auth_mode: AuthMode = "native_cli"
    none_security: Literal["", "local_transport", "external_identity", "public_readonly"] = ""
    env_policy: EnvPolicy = "filtered"
    home_policy: HomePolicy = "operator"
    auth_status_command: str = ""
    auth_login_command: str = ""
    session_mcp: bool = True
    credential_slots: tuple[SlotTable, ...] = ()
    mcp_servers: tuple[Free, ...] = ()


_DIRECT = (
    "command",
    "display_name",
    "harness",
    "runtime_provider",
    "transport",
    "base_url",
    "none_security",
    "env_policy",
    "home_policy",
    "auth_status_command",
    "auth_login_command",
    "session_mcp",
)


def merge_provider_tables(base: dict[str, object], overlay: dict[str, object]) -> dict[str, object]:
    """Overlay one file's table of a provider on another's: present fields win, lists replace."""
    merged = dict(base)
    mode = overlay.get("auth_mode")
    if mode is not None and mode != base.get("auth_mode"):
        for key in _DROPPED_WITH_AUTH_MODE:
            merged.pop(key, None)
    for key, value in overlay.items():
        below = merged.get(key)
        if key == "models" and isinstance(below, dict) and isinstance(value, dict):
            merged[key] = {**below, **value}
        else:
            merged[key] = value
    return merged


def build_defaults(home: Home) -> dict[str, Provider]:
    """Return the built-in rows as they are in this home without any file."""
    rows = dict(BUILTIN_PROVIDERS)
    rows[OPENAI_COMPATIBLE] = in_home(rows[OPENAI_COMPATIBLE], home)
    return rows


def in_home(provider: Provider, home: Home) -> Provider:
    """Return the provider with the command that this home's own installation answers to."""
    if not is_openai_compatible(provider):
        return provider
    return msgspec.structs.replace(provider, command=located(provider, home))


def _row(name: str, table: ProviderTable) -> Provider:
    """Return what the written fields are laid over: the built-in row, the row of endpoints, or nothing."""
    if name in BUILTIN_PROVIDERS:
        return BUILTIN_PROVIDERS[name]
    if table.runtime_provider == OPENAI_COMPATIBLE:
        return msgspec.structs.replace(BUILTIN_PROVIDERS[OPENAI_COMPATIBLE], id=name, display_name="", builtin=False)
    return Provider(id=name, command="")


def build_provider(name: str, written: dict[str, object], table: ProviderTable) -> Provider:
    """Return the provider `name` with the written fields over its built-in row.

    Raises:
        ValueError: the fields contradict one another; the message says which.
    """
    row = _row(name, table)
    changes: dict[str, object] = {key: getattr(table, key) for key in _DIRECT if key in written}
    slots = row.credential_slots
    if "credential_slots" in written:
        slots = tuple(_slot(slot) for slot in table.credential_slots)
    mode: AuthMode = row.auth_mode
    if "auth_mode" in written:
        mode = table.auth_mode
    elif "credential_slots" in written and slots:
        mode = "bound_secret"
    if mode != row.auth_mode:
        if "credential_slots" not in written:
            slots = ()
        if mode in ("none", "bound_secret"):
            for key in ("auth_status_command", "auth_login_command"):
                changes.setdefault(key, "")
    changes |= {"auth_mode": mode, "credential_slots": slots} | _model_changes(written, table)
    provider = msgspec.structs.replace(row, **changes)
    _check(provider)
    return provider


def _slot(slot: SlotTable) -> CredentialSlot:
    reference = slot.secret_ref or (f"env:{slot.target_env}" if slot.kind in ("", "api_key") else "")
    return CredentialSlot(
        name=slot.name, target_env=slot.target_env, secret_ref=reference, kind=slot.kind, required=slot.required
    )


def _model_changes(written: dict[str, object], table: ProviderTable) -> dict[str, object]:
    models = written.get("models")
    if not isinstance(models, dict):
        return {}
    changes: dict[str, object] = {}
    if "default" in models:
        changes["default_model"] = table.models.default
    if "curated" in models:
        changes["curated"] = tuple(
            CuratedModel(**{name: getattr(row, name) for name in row.__struct_fields__})
            for row in table.models.curated
        )
    if "discovery" in models:
        found = table.models.discovery
        changes["discovery"] = ModelDiscovery(
            enabled=found.enabled, command=found.command, endpoint=found.endpoint, timeout=float(found.timeout)
        )
    if "reasoning" in models:
        changes["reasoning_apply"] = table.models.reasoning.apply
    return changes


def _check(provider: Provider) -> None:
    """Refuse contradictions between fields (contract §2.3)."""
    if not provider.command:
        raise ValueError(f'provider {provider.id!r} command is required; add command = "…"')
    split_command(provider.command)
    if provider.auth_mode in ("native_cli", "none") and provider.credential_slots:
        raise ValueError(
            f'auth_mode {provider.auth_mode!r} takes no credential_slots; use auth_mode = "bound_secret"'
        )
    if provider.auth_mode == "none" and (provider.auth_status_command or provider.auth_login_command):
        raise ValueError("auth_mode 'none' takes no auth_status_command or auth_login_command; remove them")
    for model in provider.curated:
        effort = model.default_reasoning_effort
        if effort and effort not in model.reasoning_efforts:
            raise ValueError(
                f"model {model.id!r}: default_reasoning_effort {effort!r} is not one of its reasoning_efforts; add it"
            )
