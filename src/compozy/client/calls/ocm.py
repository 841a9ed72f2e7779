"""Calls about the fleet as Open Capability Manifests (issue 8 item 5)."""

from compozy.client.calls.caller import Calls, JsonObject, segment
from compozy.model.manifests import AgentCard, OcmCatalog, OcmIndex


class OcmCalls(Calls):
    """`workspace` is an id, a name or a path, "" for the home's own agents; `publisher` begins the ids."""

    def catalog(self, workspace: str = "", *, publisher: str = "") -> OcmCatalog:
        """Return every manifest, and the capabilities that have none with the reason."""
        return self._get("/api/ocm/catalog", OcmCatalog, query=_asked(workspace, publisher))

    def manifest(self, identity: str, workspace: str = "", *, publisher: str = "") -> JsonObject:
        """Return one manifest; the publisher has to be the one its id begins with."""
        path = f"/api/ocm/manifests/{segment(identity)}"
        return self._get(path, JsonObject, query=_asked(workspace, publisher))

    def index(self, workspace: str = "", *, publisher: str = "") -> OcmIndex:
        """Return the index of the manifests: ids, digests, summaries, search terms."""
        return self._get("/.well-known/ocm.json", OcmIndex, query=_asked(workspace, publisher))

    def card(self, workspace: str = "", *, publisher: str = "") -> AgentCard:
        """Return an A2A card with a skill for each capability."""
        return self._get("/.well-known/agent-card.json", AgentCard, query=_asked(workspace, publisher))


def _asked(workspace: str, publisher: str) -> dict[str, str]:
    return {"workspace": workspace, "publisher": publisher}
