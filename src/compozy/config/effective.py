"""A `Config` as the file would say it: nested tables, dotted keys, secrets masked. For answers to people and clients.

Providers are written out as their tables of config.toml, built-in rows included. References to secrets (``env:NAME``)
are no secrets and stay; values that look like one are masked (contract §5.8).
"""

from collections.abc import Iterator, Mapping

import msgspec

from compozy.config.config import Config
from compozy.config.durations import Duration
from compozy.config.keys import Key
from compozy.config.redaction import Redactor
from compozy.model.provider import CuratedModel, Provider

_FACTS = ("notes", "sources")


def effective_table(config: Config) -> dict[str, object]:
    """Return every value in force, by section; nothing is masked."""
    values = {name: getattr(config, name) for name in config.__struct_fields__ if name not in _FACTS}
    values["providers"] = {name: provider_table(row) for name, row in config.providers.items()}
    return {name: _data(value) for name, value in values.items()}


def provider_table(provider: Provider) -> dict[str, object]:
    """Return a provider as its table in config.toml; what is empty is left out."""
    models: dict[str, object] = {
        "default": provider.default_model,
        "curated": [curated_table(row) for row in provider.curated],
        "reasoning": {"apply": provider.reasoning_apply},
        "discovery": _discovery(provider),
    }
    slots = [
        {
            "name": slot.name,
            "target_env": slot.target_env,
            "secret_ref": slot.secret_ref,
            **({"kind": slot.kind} if slot.kind else {}),
            "required": slot.required,
        }
        for slot in provider.credential_slots
    ]
    table: dict[str, object] = {
        "command": provider.command,
        "display_name": provider.display_name,
        "models": {name: value for name, value in models.items() if value},
        "harness": provider.harness,
        "runtime_provider": provider.runtime_provider,
        "transport": provider.transport,
        "base_url": provider.base_url,
        "auth_mode": provider.auth_mode,
        "none_security": provider.none_security,
        "env_policy": provider.env_policy,
        "home_policy": provider.home_policy,
        "auth_status_command": provider.auth_status_command,
        "auth_login_command": provider.auth_login_command,
        "credential_slots": slots,
    }
    return {name: value for name, value in table.items() if value} | {"session_mcp": provider.session_mcp}


def curated_table(row: CuratedModel) -> dict[str, object]:
    """Return one row of ``models.curated`` as it is written; what is empty is left out."""
    built: dict[str, object] = msgspec.to_builtins(row)
    return {name: value for name, value in built.items() if value or name == "id"}


def _discovery(provider: Provider) -> dict[str, object]:
    found = provider.discovery
    timeout = Duration(found.timeout).text if found.timeout else ""
    values = {"enabled": found.enabled, "command": found.command, "endpoint": found.endpoint, "timeout": timeout}
    return {name: value for name, value in values.items() if value}


def flatten(table: Mapping[str, object], above: Key = ()) -> Iterator[tuple[Key, object]]:
    """Yield every value with its key; lists are values."""
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, (*above, name))
        else:
            yield (*above, name), value


def look_up(table: Mapping[str, object], key: Key) -> tuple[bool, object]:
    """Return whether the key has a value, and the value."""
    value: object = table
    for part in key:
        if not isinstance(value, dict) or part not in value:
            return False, None
        value = value[part]
    return True, value


def masked(value: object) -> object:
    """Return plain data with what looks like a secret masked; references stay, they name where a secret is."""
    return _masked(value, Redactor())


def _masked(value: object, redactor: Redactor) -> object:
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if _is_reference(inner)}
        rest = {
            name: inner for name, inner in value.items() if name not in kept and not isinstance(inner, dict | list)
        }
        clean = redactor.value(rest)
        assert isinstance(clean, dict)
        return {
            name: inner if name in kept else clean[name] if name in clean else _masked(inner, redactor)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return redactor.items(value, lambda inner: inner if _is_reference(inner) else _masked(inner, redactor))
    return redactor.value(value)


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("env:", "vault:")) and " " not in value


def _data(value: object) -> object:
    """Return plain data with every field, also those that have their defaults."""
    if isinstance(value, Duration):
        return value.text
    if isinstance(value, msgspec.Struct):
        return {name: _data(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {name: _data(inner) for name, inner in value.items()}
    return [_data(inner) for inner in value] if isinstance(value, list | tuple) else value
