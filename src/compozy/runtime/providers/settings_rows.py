"""Providers as the settings page shows and changes them (shapes: GET and PUT /api/settings/providers).

A row says what is in force, what the built-in row would say, and where it comes from. No login command is shown.
"""

from collections.abc import Mapping

import msgspec

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.config.commands import split_command
from compozy.config.effective import masked, provider_table
from compozy.config.keys import Key
from compozy.model.errors import InvalidRequest
from compozy.model.provider import Provider
from compozy.model.provider_answers import (
    CredentialState,
    FallbackSettings,
    ProviderAuth,
    ProviderSettings,
    ProviderSettingsRow,
    SettingsSource,
    SettingsSources,
)

_WRITABLE = (*ProviderSettings.__struct_fields__, "auth_login_command", "session_mcp", "none_security")
_BUILTIN = SettingsSource(kind="builtin-provider", scope="global")
_FILE = SettingsSource(kind="global-config", scope="global")


def settings_row(
    provider: Provider,
    *,
    is_default: bool,
    is_written: bool,
    auth: ProviderAuth,
    credentials: tuple[CredentialState, ...],
) -> ProviderSettingsRow:
    """Return one row; `is_written` says that the home's file has a table of this provider."""
    builtin = BUILTIN_PROVIDERS.get(provider.id) if is_written else None
    return ProviderSettingsRow(
        name=provider.id,
        default=is_default,
        command_available=auth.state != "missing_cli",
        auth_status=auth,
        credentials=credentials,
        settings=_settings(provider),
        source_metadata=SettingsSources(
            available_targets=("global-config",),
            effective_source=_FILE if is_written else _BUILTIN,
            shadowed_sources=(_BUILTIN,) if builtin is not None else (),
        ),
        fallback=FallbackSettings(settings=_settings(builtin), source=_BUILTIN) if builtin is not None else None,
    )


def _settings(provider: Provider) -> ProviderSettings:
    return msgspec.convert(masked(provider_table(provider)), ProviderSettings)


def provider_changes(provider: Provider | None, name: str, asked: Mapping[str, object]) -> dict[Key, object]:
    """Return what a PUT changes, by key of the file: what is sent and differs; null removes what the file says.

    Raises:
        InvalidRequest: a field that providers do not have, or a command that cannot be split.
    """
    table = provider_table(provider) if provider is not None else {}
    shown = masked(table)
    assert isinstance(shown, dict)
    changes: dict[Key, object] = {}
    for field, value in asked.items():
        if field not in _WRITABLE:
            raise InvalidRequest(f"settings.{field} is no setting of a provider; known: {', '.join(_WRITABLE)}")
        if field in ("command", "auth_login_command", "auth_status_command") and isinstance(value, str) and value:
            try:
                split_command(value)
            except ValueError as error:
                raise InvalidRequest(f"settings.{field}: {error}") from error
        if field == "models" and isinstance(value, Mapping):
            models = shown.get("models")
            before = models if isinstance(models, Mapping) else {}
            for part, inner in value.items():
                if inner != before.get(part):
                    changes["providers", name, "models", str(part)] = _without_nulls(inner)
        # What was masked for the page comes back masked: it means "as it is".
        elif value not in (shown.get(field), table.get(field)):
            changes["providers", name, field] = _without_nulls(value)
    return changes


def _without_nulls(value: object) -> object:
    """Leave out nulls inside tables: TOML has none."""
    if isinstance(value, Mapping):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
