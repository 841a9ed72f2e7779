"""The providers service: states, probes, models heard from providers, curation (contract §2.3, §3.6).

What was heard is kept in memory only: after a restart it is asked again. One question at a time per provider.
"""

import asyncio
from collections.abc import Mapping

import msgspec

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.config.effective import curated_table
from compozy.config.environment import login_environment
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.keys import Key
from compozy.config.load import canonical_layer_table, load_config
from compozy.config.openai_compatible import is_openai_compatible, missing_setting
from compozy.config.provider_auth import Probed, auth_status, reference_of, slot_presence
from compozy.config.redaction import Redactor
from compozy.config.secrets import VAULT_PREFIX, Secrets
from compozy.config.toml_source import read_toml
from compozy.config.vault import Vault
from compozy.documents.text import nearest
from compozy.model.errors import CompozyError, InvalidRequest, NotFound, Unprocessable
from compozy.model.provider import CuratedModel, Provider
from compozy.model.provider_answers import (
    CredentialState,
    ModelRow,
    ModelSources,
    ModelSourceStatus,
    ProbeOutput,
    ProviderAuth,
    ProviderProbe,
    ProviderRow,
    ProviderSettingsRow,
)
from compozy.model.times import now
from compozy.runtime.providers.asking import PROBE_SECONDS, CannotAsk, classify, models_at, read_models, run, shown
from compozy.runtime.providers.catalog import Heard, model_rows, source_states
from compozy.runtime.providers.models_dev import NAMES as MODELS_DEV_NAMES
from compozy.runtime.providers.models_dev import ModelsDev
from compozy.runtime.providers.settings_rows import provider_changes, settings_row


class Providers:
    """Everything a route asks about providers."""

    def __init__(self, home: Home, config: Config, secrets: Secrets, redactor: Redactor) -> None:
        self._home = home
        self._config = config
        self._secrets = secrets
        self._redactor = redactor
        self._probed: dict[str, Probed] = {}
        self._heard: dict[str, Heard] = {}
        # One per provider: two clients that ask at once share no half-written answer.
        self._asking: dict[str, asyncio.Lock] = {}
        self._models_dev = ModelsDev(home)
        # The settings as the file has them, read again when it changed: (what it looked like, settings).
        self._written: tuple[tuple[int, ...], Config] = ((), config)

    def find(self, name: str) -> Provider:
        """Return a provider by any of its names.

        Raises:
            NotFound: there is none.
        """
        return _find(self._config, name)

    async def all(self) -> list[ProviderRow]:
        """Return every provider with its state."""
        return await asyncio.to_thread(self._all)

    def _all(self) -> list[ProviderRow]:
        written = self._as_written()
        return [self._payload(row, written) for row in written.providers.values()]

    async def get(self, name: str) -> ProviderRow:
        """Return one provider with its state.

        Raises:
            NotFound: there is none.
        """
        return await asyncio.to_thread(self._one, name)

    def _one(self, name: str) -> ProviderRow:
        written = self._as_written()
        return self._payload(_find(written, name), written)

    def _as_written(self) -> Config:
        """Return the home's settings as they are in the file; with a mistake in it, those in force."""
        try:
            found = self._home.config_file.stat()
        except OSError:
            return self._config
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if seen != self._written[0]:
            try:
                self._written = (seen, load_config(self._home))
            except ConfigError:
                self._written = (seen, self._config)
        return self._written[1]

    def auth(self, provider: Provider) -> ProviderAuth:
        """Return the state of one provider; looks at PATH and secrets, so call it in a thread."""
        status = auth_status(provider, self._secrets.is_there, self._probed.get(provider.id))
        clean = {name: self._redactor.text(getattr(status, name)) for name in ("message", "status_command")}
        return msgspec.structs.replace(status, **clean)

    def credentials(self, provider: Provider) -> tuple[CredentialState, ...]:
        """Return the slots of a provider, never a value."""
        return tuple(
            CredentialState(
                name=slot.name,
                target_env=slot.target_env,
                secret_ref=reference_of(slot),
                source=reference_of(slot).partition(":")[0],
                kind=slot.kind,
                required=slot.required,
                present=slot_presence(slot, self._secrets.is_there)[0],
            )
            for slot in provider.credential_slots
        )

    def _payload(self, provider: Provider, written: Config) -> ProviderRow:
        running = self._config.providers.get(provider.id)
        waiting = [] if running == provider else _differing(running, provider)
        if written.defaults.provider != self._config.defaults.provider == provider.id:
            waiting.append("default")
        return ProviderRow(
            name=provider.id,
            display_name=provider.display_name,
            default=provider.id == written.defaults.provider,
            default_model=provider.default_model,
            auth_status=self.auth(provider),
            waits_for_restart=tuple(waiting),
        )

    async def probe(self, name: str) -> ProviderProbe:
        """Ask the provider whether it is usable; the answer carries what its status command said, redacted.

        Raises:
            NotFound: there is none.
            Unprocessable: nothing can be asked: no status command and no endpoint.
        """
        provider = self.find(name)
        if not provider.auth_status_command and not is_openai_compatible(provider):
            raise Unprocessable(
                f"provider {provider.id!r} has no auth_status_command; set one to have it asked",
                code="provider_probe_unavailable",
                category="provider",
                hint=f"compozy config set providers.{provider.id}.auth_status_command '…'",
            )
        async with self._lock(provider):
            said = await asyncio.to_thread(self._ask, provider)
        status = await asyncio.to_thread(self.auth, provider)
        return ProviderProbe(provider=provider.id, auth_status=status, probe=said)

    def _ask(self, provider: Provider) -> ProbeOutput | None:
        try:
            if is_openai_compatible(provider):
                self._hear(provider)
                heard = self._heard[provider.id]
                self._note(provider, "authenticated", f"{provider.base_url} lists {len(heard.models)} models")
                return None
            ran = run(provider.auth_status_command, login_environment(provider, self._home))
        except CannotAsk as why:
            self._note(provider, why.state, why.message)
            return None
        state, message = classify(ran)
        self._note(provider, state, message)
        clean = self._redactor.text
        return ProbeOutput(
            exit_code=ran.exit_code,
            duration_ms=ran.duration_ms,
            stdout=clean(shown(ran.stdout)),
            stderr=clean(shown(ran.stderr)),
        )

    def _note(self, provider: Provider, state: str, message: str) -> None:
        self._probed[provider.id] = msgspec.convert({"state": state, "message": message, "at": now()}, Probed)

    # Models

    def models(self, name: str = "", *, view: str = "curated", source: str = "") -> list[ModelRow]:
        """Return the models of one provider or of all.

        Raises:
            NotFound: there is no such provider.
        """
        chosen = [self.find(name)] if name else list(self._config.providers.values())
        return [
            row
            for one in chosen
            for row in model_rows(
                one, self._heard.get(one.id), self._models_dev.about(one.id), view=view, source=source
            )
        ]

    def sources(self, name: str = "") -> list[ModelSourceStatus]:
        """Return the state of every source of one provider or of all."""
        chosen = [self.find(name)] if name else list(self._config.providers.values())
        has_list = bool(self._config.models_dev.url)
        return [
            row
            for one in chosen
            for row in source_states(
                one,
                self._heard.get(one.id),
                self._models_dev.about(one.id),
                can_ask=_can_ask(one),
                has_list=has_list and one.id in MODELS_DEV_NAMES,
            )
        ]

    async def refresh(self, name: str = "", *, source: str = "") -> ModelSources:
        """Ask for models: `source` is provider_live, models_dev, or "" for all; models.dev not for one provider.

        Raises:
            InvalidRequest: no such source, or models.dev has no address.
            NotFound: there is no such provider.
        """
        chosen = [self.find(name)] if name else list(self._config.providers.values())
        address = self._config.models_dev.url
        if source not in ("", "provider_live", "models_dev"):
            raise InvalidRequest(f"source {source!r} cannot be refreshed: choose provider_live or models_dev")
        if source == "models_dev" and not address:
            raise InvalidRequest(
                "models.dev has no address here: set models_dev.url",
                code="models_dev_not_configured",
                hint="compozy config set models_dev.url https://models.dev/api.json",
            )
        errors: list[str] = []
        if address and (source == "models_dev" or not (source or name)):
            async with self._asking.setdefault("", asyncio.Lock()):
                error = await asyncio.to_thread(self._models_dev.refresh, address)
            errors += [f"models.dev: {self._redactor.text(error)}"] if error else []
        for provider in chosen if source != "models_dev" else ():
            if _can_ask(provider):
                async with self._lock(provider):
                    error = await asyncio.to_thread(self._refresh_one, provider)
                errors += [f"{provider.id}: {error}"] if error else []
        return ModelSources(sources=tuple(self.sources(name)), error="; ".join(errors))

    def _refresh_one(self, provider: Provider) -> str:
        try:
            self._hear(provider)
        except CannotAsk as why:
            return why.message
        return ""

    def _hear(self, provider: Provider) -> None:
        """Ask for the list of models and remember the answer, or why there is none.

        Raises:
            CannotAsk: there is none.
        """
        before = self._heard.get(provider.id, Heard())
        at = now()
        try:
            models = self._list_of(provider)
        except CannotAsk as why:
            clean = self._redactor.text(why.message)
            self._heard[provider.id] = Heard(
                models=before.models, asked_at=at, answered_at=before.answered_at, error=clean
            )
            raise CannotAsk(why.state, clean) from why
        self._heard[provider.id] = Heard(models=models, asked_at=at, answered_at=at)

    def _list_of(self, provider: Provider) -> tuple[str, ...]:
        found = provider.discovery
        seconds = found.timeout or PROBE_SECONDS
        if found.command:
            ran = run(found.command, login_environment(provider, self._home), seconds)
            if ran.exit_code:
                raise CannotAsk("unknown", f"the discovery command ended with code {ran.exit_code}")
            return read_models(ran.stdout.encode(), "the discovery command")
        address = found.endpoint.removesuffix("/models") or provider.base_url
        if not address:
            raise CannotAsk("unknown", f"providers.{provider.id}.{missing_setting(provider, '-')[0]} is not set")
        try:
            key = next(iter(self._secrets.credentials(provider).values()), "")
        except CompozyError as error:
            raise CannotAsk("missing_credential", error.message) from error
        return models_at(address, key, seconds)

    def _lock(self, provider: Provider) -> asyncio.Lock:
        return self._asking.setdefault(provider.id, asyncio.Lock())

    # Settings

    async def settings_rows(self, written: Config, name: str = "") -> list[ProviderSettingsRow]:
        """Return the settings page's rows of all providers or of one, as the file has them.

        Raises:
            NotFound: there is no such provider.
        """
        chosen = [_find(written, name)] if name else list(written.providers.values())
        return await asyncio.to_thread(lambda: [self._settings_row(one, written) for one in chosen])

    def _settings_row(self, provider: Provider, written: Config) -> ProviderSettingsRow:
        source = read_toml(self._home.config_file)
        table = canonical_layer_table(source.table).get("providers") if source is not None else None
        return settings_row(
            provider,
            is_default=provider.id == written.defaults.provider,
            is_written=isinstance(table, dict) and provider.id in table,
            auth=self.auth(provider),
            credentials=self.credentials(provider),
        )

    def changes(
        self, written: Config, name: str, settings: Mapping[str, object], *, curation: Mapping[str, object]
    ) -> dict[Key, object]:
        """Return what a PUT of the settings page changes, by key of the file.

        Raises:
            InvalidRequest: a field or value that cannot be.
            NotFound: a model is curated of a provider that does not exist.
        """
        row = canonical_provider(name)
        changes = provider_changes(written.providers.get(row), row, settings)
        if curation:
            fields = {key: value for key, value in curation.items() if key != "model_id"}
            unknown = set(fields) - {"default_effort", "deprecated", "featured", "hidden"}
            if unknown or not curation.get("model_id"):
                raise InvalidRequest("model_curation needs model_id, and takes default_effort and the three flags")
            changes |= self.curation(name, str(curation["model_id"]), fields)
        return changes

    def removal(self, name: str) -> dict[Key, object]:
        """Return the change that removes a provider's table.

        Raises:
            NotFound: the file has none.
        """
        source = read_toml(self._home.config_file)
        row = canonical_provider(name)
        table = canonical_layer_table(source.table).get("providers") if source is not None else None
        if not isinstance(table, dict) or row not in table:
            raise NotFound(f"the settings say nothing about provider {name!r}", code="provider_not_configured")
        return {("providers", row): None}

    def store_secrets(self, secrets: Mapping[str, str]) -> None:
        """Put secrets of the settings page into the vault. Call it in a thread.

        Raises:
            InvalidRequest: a reference that is none of the vault's.
            VaultError: the vault cannot be written.
        """
        for reference, value in secrets.items():
            if not reference.startswith(VAULT_PREFIX) or not value:
                raise InvalidRequest("a secret needs a value and a secret_ref like vault:providers/NAME/SLOT")
            self._redactor.register(value)
            Vault(self._home).set(reference.removeprefix(VAULT_PREFIX), value)

    def curation(self, name: str, model_id: str, given: Mapping[str, object]) -> dict[Key, object]:
        """Return the change of config.toml that curates one model; a field that is null goes back to its default.

        Raises:
            NotFound: there is no such provider.
        """
        provider = self.find(name)
        rows = list(provider.curated)
        at = next((index for index, row in enumerate(rows) if row.id == model_id), -1)
        row = rows[at] if at >= 0 else CuratedModel(id=model_id)
        spelled = {"default_effort": "default_reasoning_effort"}
        fields = {spelled.get(key, key): value for key, value in given.items()}
        blank = CuratedModel(id=model_id)
        changed = {key: getattr(blank, key) if value is None else value for key, value in fields.items()}
        row = msgspec.structs.replace(row, **changed)
        rows = [*rows[:at], row, *rows[at + 1 :]] if at >= 0 else [*rows, row]
        return {("providers", provider.id, "models", "curated"): [curated_table(one) for one in rows]}


def _find(config: Config, name: str) -> Provider:
    provider = config.providers.get(canonical_provider(name))
    if provider is None:
        close = nearest(name, config.providers)
        advice = f"did you mean {close!r}?" if close else "see `compozy provider list`"
        raise NotFound(f"there is no provider {name!r}; {advice}", code="provider_unknown")
    return provider


def _differing(running: Provider | None, written: Provider) -> list[str]:
    """Return the fields of a provider that the daemon uses only after a restart."""
    if running is None:
        return ["*"]
    return [name for name in written.__struct_fields__ if getattr(running, name) != getattr(written, name)]


def _can_ask(provider: Provider) -> bool:
    found = provider.discovery
    return found.enabled and bool(found.command or found.endpoint or is_openai_compatible(provider))
