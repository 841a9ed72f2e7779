"""Calls about providers, their sign-in and their models (contract §2.3, §3.6)."""

from compozy.client.calls.caller import Calls, JsonObject, segment

_ALL = "/api/providers"
_CATALOG = "/api/model-catalog"


class ProviderCalls(Calls):
    """Providers by any of their names."""

    def list(self) -> tuple[JsonObject, ...]:
        """Return every provider, whether it can be used, and what mends it."""
        return self._get(_ALL, tuple[JsonObject, ...], "providers")

    def get(self, name: str) -> JsonObject:
        """Return one provider with its state."""
        return self._get(f"{_ALL}/{segment(name)}", JsonObject)

    def probe(self, name: str) -> JsonObject:
        """Ask the provider's program or endpoint whether it can be used."""
        return self._send("POST", f"{_ALL}/{segment(name)}/auth/probe", JsonObject)

    def models(self, name: str = "", *, view: str = "") -> tuple[JsonObject, ...]:
        """Return the models of one provider or of all; `view` is ``curated`` or ``all``."""
        query = {"provider_id": name, "view": view}
        return self._get(f"{_CATALOG}/models", tuple[JsonObject, ...], "models", query)

    def refresh(self, name: str = "") -> JsonObject:
        """Ask one provider, or every one that can be asked, for its models."""
        place = f"{_CATALOG}/providers/{segment(name)}/models" if name else f"{_CATALOG}/models"
        return self._send("POST", f"{place}/refresh", JsonObject)
