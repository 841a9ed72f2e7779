"""Calls about the settings of the running daemon (contract §2.1, §12)."""

from compozy.client.calls.caller import Calls, JsonObject


class SettingsCalls(Calls):
    """The home's settings as the daemon follows them."""

    def reload(self) -> JsonObject:
        """Read the files again and take over what can change while the daemon runs."""
        return self._send("POST", "/api/settings/reload", JsonObject)
