"""How an agent program is launched: one provider (contract §2.3)."""

from typing import Literal

from compozy.model.record import Record

Harness = Literal["acp", "pi_acp"]
AuthMode = Literal["native_cli", "bound_secret", "none"]
EnvPolicy = Literal["filtered", "isolated"]
HomePolicy = Literal["operator", "isolated"]


class CuratedModel(Record, frozen=True, kw_only=True):
    """Metadata of one model; never an allow list. Costs are USD per million tokens, windows in tokens."""

    id: str
    display_name: str = ""
    context_window: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    supports_tools: bool | None = None
    supports_reasoning: bool | None = None
    reasoning_efforts: tuple[str, ...] = ()
    default_reasoning_effort: str = ""
    cost_input_per_million: float | None = None
    cost_output_per_million: float | None = None
    cost_cache_read_per_million: float | None = None
    cost_cache_write_per_million: float | None = None
    cost_reasoning_per_million: float | None = None
    deprecated: bool = False
    hidden: bool = False
    featured: bool = False
    release_date: str = ""


class CredentialSlot(Record, frozen=True, kw_only=True):
    """A secret the provider's program needs in its environment."""

    name: str
    target_env: str
    secret_ref: str = ""
    kind: str = ""
    required: bool = True


class ModelDiscovery(Record, frozen=True, kw_only=True):
    """How a provider's own list of models is asked for; `timeout` in seconds, 0 for the usual one."""

    enabled: bool = False
    command: str = ""
    endpoint: str = ""
    timeout: float = 0.0


class Provider(Record, frozen=True, kw_only=True):
    """One provider after merging built-in row and config."""

    id: str
    command: str
    display_name: str = ""
    harness: Harness = "acp"
    runtime_provider: str = ""
    auth_mode: AuthMode = "native_cli"
    env_policy: EnvPolicy = "filtered"
    home_policy: HomePolicy = "operator"
    default_model: str = ""
    curated: tuple[CuratedModel, ...] = ()
    discovery: ModelDiscovery = ModelDiscovery()
    reasoning_apply: Literal["acp_option", "none"] = "none"
    session_mcp: bool = True
    credential_slots: tuple[CredentialSlot, ...] = ()
    auth_status_command: str = ""
    auth_login_command: str = ""
    transport: str = ""
    base_url: str = ""
    none_security: str = ""
    builtin: bool = False
