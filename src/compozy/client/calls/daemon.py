"""Calls about the daemon itself: status, doctor, drain (contract §3.6)."""

from typing import TYPE_CHECKING

from compozy.client.calls.caller import Calls, JsonObject, given
from compozy.model.daemon import DrainState, IdentityAnswer
from compozy.model.doctor import Report
from compozy.model.process import AgentProcesses

if TYPE_CHECKING:
    from compozy.model.backup import BackupReport
    from compozy.model.retention import RetentionReport, RetentionState
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

    def retention(self) -> "RetentionState":
        """Return how long stopped sessions are kept, and what the store takes."""
        from compozy.model.retention import RetentionState  # noqa: PLC0415 - start-up cost

        return self._get("/api/retention", RetentionState, "retention")

    def run_retention(
        self,
        *,
        max_age: str | None = None,
        max_sessions: int | None = None,
        max_bytes: int | None = None,
        dry_run: bool = False,
    ) -> "RetentionReport":
        """Remove stopped sessions beyond the limits; `dry_run` only says which."""
        from compozy.model.retention import RetentionReport  # noqa: PLC0415 - start-up cost

        body = given(max_age=max_age, max_sessions=max_sessions, max_bytes=max_bytes, dry_run=dry_run or None)
        return self._send("POST", "/api/retention", RetentionReport, "report", body=body)

    def backup(self, path: str, *, with_secrets: bool = False, overwrite: bool = False) -> "BackupReport":
        """Write a backup of the home to an absolute path on the daemon's machine."""
        from compozy.model.backup import BackupReport  # noqa: PLC0415 - start-up cost

        body = given(path=path, with_secrets=with_secrets or None, overwrite=overwrite or None)
        return self._send("POST", "/api/backups", BackupReport, "backup", body=body)

    def openapi(self) -> JsonObject:
        """Return the OpenAPI document of everything served."""
        return self._get("/api/openapi.json", JsonObject)
