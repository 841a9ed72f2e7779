"""Calls about the daemon itself: status, doctor, drain (contract §3.6)."""

from typing import TYPE_CHECKING

from compozy.client.calls.caller import Calls, JsonObject
from compozy.model.daemon import DrainState, IdentityAnswer
from compozy.model.doctor import Report
from compozy.model.process import AgentProcesses

if TYPE_CHECKING:
    from compozy.model.status import Status


class DaemonCalls(Calls):
    """What the daemon says of itself."""

    def status(self) -> "Status":
        """Return health, sessions and providers of the daemon."""
        from compozy.model.status import Status  # noqa: PLC0415 - start-up cost

        return self._get("/api/status", Status)

    def identity(self) -> IdentityAnswer:
        """Return process id, version and address."""
        return self._get("/api/status/identity", IdentityAnswer)

    def processes(self) -> AgentProcesses:
        """Return the processes of agents, with the session each belongs to."""
        return self._get("/api/daemon/processes", AgentProcesses)

    def doctor(self, *, only: str = "", exclude: str = "", quiet: bool = False) -> Report:
        """Return what is wrong with the home and the daemon; names are separated by commas."""
        return self._get("/api/doctor", Report, query={"only": only, "exclude": exclude, "quiet": quiet})

    def drain(self) -> DrainState:
        """Admit no new work; what runs goes on."""
        return self._send("POST", "/api/drain", DrainState)

    def undrain(self) -> DrainState:
        """Admit work again."""
        return self._send("POST", "/api/undrain", DrainState)

    def openapi(self) -> JsonObject:
        """Return the OpenAPI document of everything served."""
        return self._get("/api/openapi.json", JsonObject)
