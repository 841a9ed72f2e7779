"""Providers and their models as the API shows them: state, sign-in, credentials, settings (contract §2.3, §3.6)."""

from typing import Literal

from compozy.model.provider import CuratedModel
from compozy.model.record import Record
from compozy.model.settings import SettingsApply

AuthState = Literal[
    "authenticated",
    "needs_login",
    "missing_cli",
    "missing_credential",
    "permission_denied",
    "rate_limited",
    "transient",
    "none",
    "unknown",
]
Action = Literal["install_cli", "login", "bind_secret", "retry", "inspect", "no_retry"]


class Login(Record, frozen=True, kw_only=True):
    """The login command of a provider, which itself is never shown, and what to do next."""

    configured: bool
    presence: Literal["present", "missing", "unknown"]
    executable: str = ""
    recommended_action: Action | None = None
    source: str = ""


class ProviderAuth(Record, frozen=True, kw_only=True):
    """`ProviderAuth` of the contract; `mend` is additive: one command or step that mends the state."""

    state: AuthState
    mode: str
    env_policy: str
    home_policy: str
    login: Login
    code: str = ""
    message: str = ""
    status_command: str = ""
    last_probe_at: str | None = None
    mend: str = ""


class ProviderRow(Record, frozen=True, kw_only=True):
    """One provider and whether it can be used."""

    name: str
    display_name: str
    default: bool
    default_model: str
    auth_status: ProviderAuth
    waits_for_restart: tuple[str, ...] = ()
    """Fields that the file says and the daemon uses only after a restart (additive)."""


class ProbeOutput(Record, frozen=True, kw_only=True):
    """What a provider's status command said, with secrets masked; `duration_ms` in milliseconds."""

    exit_code: int
    duration_ms: int
    stdout: str
    stderr: str


class ProviderProbe(Record, frozen=True, kw_only=True):
    """What asking a provider brought; `probe` is null when no command ran."""

    provider: str
    auth_status: ProviderAuth
    probe: ProbeOutput | None


class ModelCost(Record, frozen=True, kw_only=True):
    """USD per million tokens."""

    input_per_million: int | float | None = None
    output_per_million: int | float | None = None
    cache_read_per_million: int | float | None = None
    cache_write_per_million: int | float | None = None
    reasoning_per_million: int | float | None = None


class ModelSource(Record, frozen=True, kw_only=True):
    """Where a fact about a model comes from."""

    source_id: str
    source_kind: str
    priority: int
    stale: bool
    refreshed_at: str = ""
    last_error: str = ""


class ModelRow(Record, frozen=True, kw_only=True):
    """One model (ModelRow); `available` is null while nobody asked the provider. Windows in tokens."""

    provider_id: str
    model_id: str
    curated: bool
    featured: bool
    hidden: bool
    deprecated: bool
    availability_state: str
    available: bool | None
    stale: bool
    sources: tuple[ModelSource, ...]
    reasoning_source: str = ""
    display_name: str = ""
    default_reasoning_effort: str = ""
    release_date: str = ""
    context_window: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    supports_tools: bool | None = None
    supports_reasoning: bool | None = None
    reasoning_efforts: tuple[str, ...] = ()
    cost: ModelCost | None = None
    refreshed_at: str = ""
    last_error: str = ""


class ModelSourceStatus(Record, frozen=True, kw_only=True):
    """One source of models of one provider, and how fresh it is."""

    provider_id: str
    source_id: str
    source_kind: str
    priority: int
    row_count: int
    refresh_state: str
    stale: bool
    last_refresh: str = ""
    last_success: str = ""
    last_error: str = ""


class ModelSources(Record, frozen=True, kw_only=True):
    """The sources after asking; `error` says who did not answer (then the status is 503)."""

    sources: tuple[ModelSourceStatus, ...]
    error: str = ""


class ModelCuration(Record, frozen=True, kw_only=True):
    """A model as it is curated now, and what came of the change."""

    apply: SettingsApply
    model: ModelRow


class CredentialState(Record, frozen=True, kw_only=True):
    """A credential slot and whether its secret is there; never the secret."""

    name: str
    target_env: str
    secret_ref: str
    source: str
    kind: str
    required: bool
    present: bool


class SlotSettings(Record, frozen=True, kw_only=True):
    """A credential slot as the settings say it."""

    name: str
    target_env: str
    secret_ref: str
    required: bool
    kind: str = ""


class DiscoverySettings(Record, frozen=True, kw_only=True):
    """How a provider's own list of models is asked for."""

    enabled: bool = False
    command: str = ""
    endpoint: str = ""
    timeout: str = ""


class ReasoningSettings(Record, frozen=True, kw_only=True):
    """How an effort is handed to the agent program."""

    apply: str


class ModelSettings(Record, frozen=True, kw_only=True):
    """The `models` table of a provider."""

    default: str = ""
    curated: tuple[CuratedModel, ...] = ()
    discovery: DiscoverySettings | None = None
    reasoning: ReasoningSettings | None = None


class ProviderSettings(Record, frozen=True, kw_only=True):
    """The settings of a provider as its table says them; what looks like a secret is masked."""

    auth_mode: str = ""
    auth_status_command: str = ""
    base_url: str = ""
    command: str = ""
    credential_slots: tuple[SlotSettings, ...] = ()
    display_name: str = ""
    env_policy: str = ""
    harness: str = ""
    home_policy: str = ""
    models: ModelSettings | None = None
    runtime_provider: str = ""
    transport: str = ""


class SettingsSource(Record, frozen=True, kw_only=True):
    """Where settings come from."""

    kind: Literal["builtin-provider", "global-config"]
    scope: Literal["global"]


class SettingsSources(Record, frozen=True, kw_only=True):
    """Where the settings in force come from, what they hide, and where they can be written."""

    available_targets: tuple[str, ...]
    effective_source: SettingsSource
    shadowed_sources: tuple[SettingsSource, ...]


class FallbackSettings(Record, frozen=True, kw_only=True):
    """What would be in force without the file."""

    settings: ProviderSettings
    source: SettingsSource


class ProviderSettingsRow(Record, frozen=True, kw_only=True):
    """One provider on the settings page."""

    name: str
    default: bool
    command_available: bool
    auth_status: ProviderAuth
    credentials: tuple[CredentialState, ...]
    settings: ProviderSettings
    source_metadata: SettingsSources
    fallback: FallbackSettings | None = None


class ProviderSettingsList(Record, frozen=True, kw_only=True):
    """Every provider on the settings page."""

    collection: Literal["providers"]
    scope: Literal["global"]
    available_scopes: tuple[Literal["global"], ...]
    providers: tuple[ProviderSettingsRow, ...]
