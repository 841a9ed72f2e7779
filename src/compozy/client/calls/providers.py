"""Calls about providers, their sign-in and their models (contract §2.3, §3.6)."""

from compozy.client.calls.caller import Calls, given, segment
from compozy.model.provider_answers import (
    ModelCuration,
    ModelRow,
    ModelSources,
    ModelSourceStatus,
    ProviderProbe,
    ProviderRow,
)

_ALL = "/api/providers"
_CATALOG = "/api/model-catalog"


class ProviderCalls(Calls):
    """Providers by any of their names."""

    def list(self) -> tuple[ProviderRow, ...]:
        """Return every provider, whether it can be used, and what mends it."""
        return self._get(_ALL, tuple[ProviderRow, ...], "providers")

    def get(self, name: str) -> ProviderRow:
        """Return one provider with its state."""
        return self._get(f"{_ALL}/{segment(name)}", ProviderRow)

    def probe(self, name: str) -> ProviderProbe:
        """Ask the provider's program or endpoint whether it can be used."""
        return self._send("POST", f"{_ALL}/{segment(name)}/auth/probe", ProviderProbe)

    def models(self, name: str = "", *, view: str = "") -> tuple[ModelRow, ...]:
        """Return the models of one provider or of all; `view` is ``curated`` or ``all``."""
        place = f"{_CATALOG}/providers/{segment(name)}/models" if name else f"{_CATALOG}/models"
        return self._get(place, tuple[ModelRow, ...], "models", {"view": view})

    def refresh(self, name: str = "", *, source: str = "") -> ModelSources:
        """Ask one provider, or every one that can be asked, for its models; `source` asks one source only."""
        place = f"{_CATALOG}/providers/{segment(name)}/models" if name else f"{_CATALOG}/models"
        return self._send("POST", f"{place}/refresh", ModelSources, body=given(source_id=source))

    def sources(self, name: str = "") -> tuple[ModelSourceStatus, ...]:
        """Return where the models of one provider or of all come from, and how fresh that is."""
        path = f"{_CATALOG}/providers/{segment(name)}/models/status" if name else f"{_CATALOG}/sources/status"
        return self._get(path, tuple[ModelSourceStatus, ...], "sources")

    def curate(self, name: str, model_id: str, **changes: object) -> ModelCuration:
        """Feature, hide or deprecate a model, or set its `default_effort`."""
        path = f"{_CATALOG}/providers/{segment(name)}/models/curate"
        return self._send("POST", path, ModelCuration, body=given(model_id=model_id) | changes)
