"""Calls about extensions (decisions D13)."""

from compozy.client.calls.caller import Calls, segment
from compozy.model.extension import ExtensionView

_ALL = "/api/extensions"


class ExtensionCalls(Calls):
    """The registered extensions of the home."""

    def list(self) -> tuple[ExtensionView, ...]:
        """Return every extension with its agents."""
        return self._get(_ALL, tuple[ExtensionView, ...], "extensions")

    def add(self, path: str) -> ExtensionView:
        """Register the extension in a folder, or read it anew."""
        return self._send("POST", _ALL, ExtensionView, "extension", body={"path": path})

    def enable(self, name: str) -> ExtensionView:
        """Bring its agents into force."""
        return self._send("POST", f"{_ALL}/{segment(name)}/enable", ExtensionView, "extension")

    def disable(self, name: str) -> ExtensionView:
        """Take its agents out of force."""
        return self._send("POST", f"{_ALL}/{segment(name)}/disable", ExtensionView, "extension")

    def remove(self, name: str) -> None:
        """Forget it; its folder stays."""
        self._do("DELETE", f"{_ALL}/{segment(name)}")
