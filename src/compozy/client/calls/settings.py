"""Calls about the settings of the running daemon, and the first steps of its page (contract §2.1, §12)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from compozy.client.calls.caller import Calls, given, segment
from compozy.model.settings import GeneralSettings, SettingsApply

if TYPE_CHECKING:
    from compozy.config.onboarding import Onboarding
    from compozy.model.folders import FolderListing
    from compozy.model.provider_answers import ProviderSettingsList, ProviderSettingsRow

_PROVIDERS = "/api/settings/providers"
_ONBOARDING = "/api/onboarding"


class SettingsCalls(Calls):
    """The home's settings as the daemon follows them."""

    def general(self) -> GeneralSettings:
        """Return the general settings, where they lie, and the daemon that runs."""
        return self._get("/api/settings/general", GeneralSettings)

    def change_general(self, config: Mapping[str, object]) -> SettingsApply:
        """Change general settings; what is not given stays."""
        return self._send("PATCH", "/api/settings/general", SettingsApply, body={"config": dict(config)})

    def reload(self) -> SettingsApply:
        """Read the files again and take over what can change while the daemon runs."""
        return self._send("POST", "/api/settings/reload", SettingsApply)

    def providers(self) -> "ProviderSettingsList":
        """Return the settings of every provider, with where they come from and what each needs."""
        from compozy.model.provider_answers import ProviderSettingsList  # noqa: PLC0415 - start-up cost

        return self._get(_PROVIDERS, ProviderSettingsList)

    def provider(self, name: str) -> "ProviderSettingsRow":
        """Return the settings of one provider."""
        from compozy.model.provider_answers import ProviderSettingsRow  # noqa: PLC0415 - start-up cost

        return self._get(f"{_PROVIDERS}/{segment(name)}", ProviderSettingsRow, "provider")

    def put_provider(
        self, name: str, settings: Mapping[str, object], *, secrets: Sequence[Mapping[str, str]] = ()
    ) -> SettingsApply:
        """Change or add a provider; secrets go to the vault."""
        body = given(settings=dict(settings), secrets=list(secrets) or None)
        return self._send("PUT", f"{_PROVIDERS}/{segment(name)}", SettingsApply, body=body)

    def delete_provider(self, name: str) -> SettingsApply:
        """Remove a provider's table from the settings."""
        return self._send("DELETE", f"{_PROVIDERS}/{segment(name)}", SettingsApply)

    def browse(self, path: str = "", *, show_hidden: bool = False, dirs_only: bool = False) -> "FolderListing":
        """Return the names in a folder, for choosing one."""
        from compozy.model.folders import FolderListing  # noqa: PLC0415 - start-up cost

        query = {"path": path, "show_hidden": show_hidden, "dirs_only": dirs_only}
        return self._get("/api/fs/browse", FolderListing, query=query)

    def onboarding(self) -> "Onboarding":
        """Return whether the first steps of the page were finished, and when."""
        from compozy.config.onboarding import Onboarding  # noqa: PLC0415 - start-up cost

        return self._get(_ONBOARDING, Onboarding, "onboarding")

    def complete_onboarding(self) -> "Onboarding":
        """Remember that they were; the first time counts."""
        from compozy.config.onboarding import Onboarding  # noqa: PLC0415 - start-up cost

        return self._send("POST", f"{_ONBOARDING}/complete", Onboarding, "onboarding")

    def reset_onboarding(self) -> "Onboarding":
        """Show them again."""
        from compozy.config.onboarding import Onboarding  # noqa: PLC0415 - start-up cost

        return self._send("DELETE", _ONBOARDING, Onboarding, "onboarding")
