"""Calls about agents: read, choose, write, take back (contract §3.3; decisions D2, D27)."""

from collections.abc import Mapping, Sequence

from compozy.client.calls.caller import Calls, given, segment
from compozy.model.agent import Agent
from compozy.model.authoring import Deleted, EditedAgent, Kept, RestoredAgent
from compozy.model.capability import AgentCapabilities
from compozy.model.fleet import AgentList, CatalogPage, Definitions
from compozy.model.resolution import AgentResolution
from compozy.model.selection import Selection

_ALL = "/api/agents"


class AgentCalls(Calls):
    """`workspace` is an id, a name or a path; "" means the global agents."""

    def list(self, workspace: str = "") -> AgentList:
        """Return the agents in force, and the places that could not be read."""
        return self._get(_ALL, AgentList, query={"workspace": workspace})

    def catalog(
        self,
        workspace: str = "",
        *,
        name: str = "",
        q: str = "",
        category: str = "",
        status: str = "",
        cursor: str = "",
        limit: int | None = None,
    ) -> CatalogPage:
        """Return one page of agents with what their sessions did."""
        query = {"workspace": workspace, "name": name, "q": q, "category": category, "status": status}
        return self._get(f"{_ALL}/catalog", CatalogPage, query={**query, "cursor": cursor, "limit": limit})

    def get(self, name: str, workspace: str = "") -> Agent:
        """Return one agent with its capabilities and effective runtime."""
        return self._get(_one(name), Agent, "agent", {"workspace": workspace})

    def resolution(self, name: str, workspace: str = "") -> AgentResolution:
        """Return what a session of the agent would use, each value with its source."""
        return self._get(f"{_one(name)}/resolution", AgentResolution, "resolution", {"workspace": workspace})

    def definitions(self, name: str, workspace: str = "") -> Definitions:
        """Return every definition of a name: the one in force, the hidden ones, and why."""
        return self._get(f"{_one(name)}/definitions", Definitions, query={"workspace": workspace})

    def capabilities(self, name: str, workspace: str = "", *, detail: str = "rich") -> AgentCapabilities:
        """Return what an agent declares it can do; `detail` is ``brief`` or ``rich``."""
        query = {"workspace": workspace, "detail": detail}
        return self._get(f"{_one(name)}/capabilities", AgentCapabilities, query=query)

    def select(
        self, task: str, workspace: str = "", *, require: Sequence[str] = (), prefer: Sequence[str] = ()
    ) -> Selection:
        """Return the agent that fits a task best by what agents declare, and why."""
        # Left out when empty, so that an older daemon still understands the call.
        wishes = given(require=tuple(require) or None, prefer=tuple(prefer) or None)
        body = {"task": task, "workspace": workspace, **wishes}
        return self._send("POST", f"{_ALL}/select", Selection, body=body)

    def create(self, fields: Mapping[str, object], *, workspace: str = "", scope: str = "") -> Agent:
        """Write a new agent; `fields` are those of an agent's payload. `scope`: ``global`` or ``workspace``."""
        body = {"scope": scope or ("workspace" if workspace else "global"), "agent": dict(fields)}
        return self._send("POST", _ALL, Agent, "agent", body=body | given(workspace=workspace or None))

    def update(
        self, name: str, fields: Mapping[str, object], expected_digest: str, *, workspace: str = ""
    ) -> EditedAgent:
        """Replace the fields of an agent, if it still has the digest you saw."""
        body = {"agent": dict(fields), "expected_digest": expected_digest}
        return self._send("PUT", _one(name), EditedAgent, body=body | given(workspace=workspace or None))

    def duplicate(
        self,
        source: str,
        name: str,
        *,
        scope: str | None = None,
        workspace: str = "",
        overrides: Mapping[str, object] | None = None,
    ) -> Agent:
        """Copy an agent's whole folder under a new name."""
        body = given(name=name, scope=scope, workspace=workspace or None, overrides=overrides)
        return self._send("POST", f"{_one(source)}/duplicate", Agent, "agent", body=body)

    def delete(self, name: str, workspace: str = "") -> Deleted:
        """Delete an agent's folder; its sessions stay, and it can be restored."""
        return self._send("DELETE", _one(name), Deleted, query={"workspace": workspace})

    def history(self, name: str, workspace: str = "") -> tuple[Kept, ...]:
        """Return what an agent's folder held before each change, newest first."""
        return self._get(f"{_one(name)}/history", tuple[Kept, ...], "history", {"workspace": workspace})

    def restore(self, name: str, hash_: str, *, workspace: str = "", expected_digest: str = "") -> RestoredAgent:
        """Give an agent's folder a kept state back; with a digest only if it still holds what you saw."""
        body = given(hash=hash_, workspace=workspace or None, expected_digest=expected_digest or None)
        return self._send("POST", f"{_one(name)}/restore", RestoredAgent, body=body)


def _one(name: str) -> str:
    return f"{_ALL}/{segment(name)}"
