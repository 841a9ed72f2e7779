"""Calls about the daemon's own jobs and who does them (contract §9)."""

from compozy.client.calls.caller import Calls, segment
from compozy.model.role import Role


class RoleCalls(Calls):
    """`workspace` is an id, a name or a path; "" means the home's own settings."""

    def list(self, workspace: str = "") -> tuple[Role, ...]:
        """Return every job and who does it."""
        return self._get("/api/roles", tuple[Role, ...], "roles", {"workspace": workspace})

    def get(self, role: str, workspace: str = "") -> Role:
        """Return one job."""
        return self._get(f"/api/roles/{segment(role)}", Role, "role", {"workspace": workspace})
