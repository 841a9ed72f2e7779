"""Which file and line says a setting, over the layers of one place (contract §2.1). Pure; reads nothing itself."""

from collections.abc import Sequence

from compozy.config.builtin_providers import canonical_provider
from compozy.config.load import Layer

BUILT_IN = "built in"


class Places:
    """Answers from files that were read together; the last that says something wins."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = tuple(reversed(layers))

    def of(self, *key: str) -> str:
        """Return ``file:line`` of the value in force, "built in" when no file says it."""
        for layer in self._layers:
            if _says(layer.table, key):
                return layer.source.place(key)
        return BUILT_IN

    def of_provider(self, provider: str, *key: str) -> str:
        """Return the same for a key of a provider, under whichever of its names it is written."""
        for layer in self._layers:
            written = layer.table.get("providers")
            for name, table in written.items() if isinstance(written, dict) else ():
                if canonical_provider(str(name)) == provider and isinstance(table, dict) and _says(table, key):
                    return layer.source.place(("providers", str(name), *key))
        return BUILT_IN


def _says(table: dict[str, object], key: Sequence[str]) -> bool:
    value: object = table
    for part in key:
        if not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return True
