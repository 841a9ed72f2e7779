"""The fleet as Open Capability Manifests: what the agents here offer, in a form any router reads (issue 8 item 5).

One manifest for each capability of each agent that loads; prompts, commands, environment and paths stay. What cannot
be named by a legal id is listed with the reason.
"""

from collections.abc import Sequence
from urllib.parse import quote, urlencode

import msgspec

from compozy import __version__
from compozy.model.agent import Agent
from compozy.model.errors import NotFound
from compozy.model.manifests import AgentCard, OcmCatalog, OcmIndex, Skipped
from compozy.ocm.bridge.a2a import to_card
from compozy.ocm.bridge.agents import to_manifests
from compozy.ocm.bridge.drafts import BridgeError
from compozy.ocm.index import Places, PublishError, build_index

DEFAULT_PUBLISHER = "local"
# Where a manifest of the index is, from the daemon's root.
MANIFESTS = "api/ocm/manifests/"


def catalog_of(agents: Sequence[Agent], publisher: str) -> OcmCatalog:
    """Return the manifests of the agents that load."""
    manifests: list[dict[str, object]] = []
    skipped: list[Skipped] = []
    places = Places()
    for agent in agents:
        if not agent.definition_digest:
            continue
        for position, capability in enumerate(agent.capabilities):
            try:
                drafts = to_manifests(
                    agent.name,
                    (capability,),
                    publisher=publisher,
                    category_path=agent.category_path,
                    first_position=position,
                )
                for draft in drafts:
                    places.take(str(draft.document["id"]))
            except (BridgeError, PublishError) as error:
                skipped.append(Skipped(agent=agent.name, capability=capability.id, reason=error.message))
            else:
                manifests.extend(draft.document for draft in drafts)
    return OcmCatalog(manifests=tuple(manifests), skipped=tuple(skipped))


def manifest_of(catalog: OcmCatalog, identity: str) -> dict[str, object]:
    """Return one manifest of a catalog.

    Raises:
        NotFound: code `manifest_not_found`; no capability here has this id.
    """
    for manifest in catalog.manifests:
        if manifest["id"] == identity:
            return manifest
    raise NotFound(
        f"no capability here has the id {identity!r}: see `GET /api/ocm/catalog`", code="manifest_not_found"
    )


def index_of(catalog: OcmCatalog, *, workspace: str = "", publisher: str = "") -> OcmIndex:
    """Return the index of a catalog; its paths lead to the daemon's own route, with what the catalog was asked by."""
    index = msgspec.convert(build_index(catalog.manifests), OcmIndex)
    asked = urlencode({name: value for name, value in (("workspace", workspace), ("publisher", publisher)) if value})
    rows = [
        msgspec.structs.replace(row, path=MANIFESTS + quote(row.id, safe="") + (f"?{asked}" if asked else ""))
        for row in index.capabilities
    ]
    return msgspec.structs.replace(index, capabilities=tuple(rows))


def card_of(catalog: OcmCatalog, publisher: str) -> AgentCard:
    """Return an A2A card that lists the capabilities as skills; the daemon itself does not speak A2A."""
    card, _ = to_card(
        catalog.manifests,
        name="compozy",
        description="The agents of this machine; sessions are opened over the daemon's own API.",
        version=__version__,
        publisher=publisher,
    )
    return msgspec.convert(card, AgentCard)
