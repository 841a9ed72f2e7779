"""Routes that offer the fleet as Open Capability Manifests and as an A2A card (issue 8 item 5)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_values
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.manifests import AgentCard, OcmCatalog, OcmIndex
from compozy.ocm.grammar import id_problem
from compozy.ocm.manifest import Manifest
from compozy.runtime.ocm_catalog import DEFAULT_PUBLISHER, card_of, catalog_of, index_of, manifest_of
from compozy.runtime.services import Services


async def _catalog(app: Services, request: Request) -> OcmCatalog:
    values = query_values(request)
    reference = values.get("workspace", "")
    workspace = await app.workspaces.get(reference) if reference else None
    found = await app.fleet.visible(workspace)
    return catalog_of(found.agents, _publisher(request))


def _publisher(request: Request) -> str:
    publisher = query_values(request).get("publisher", "") or DEFAULT_PUBLISHER
    if id_problem(publisher) is not None:
        raise InvalidRequest(f"publisher {publisher!r} cannot be part of an id: use a-z, 0-9 and - _ . :")
    return publisher


async def get_catalog(app: Services, request: Request) -> Response:
    """Answer every manifest of a place."""
    return json_response(await _catalog(app, request))


async def get_index(app: Services, request: Request) -> Response:
    """Answer the index of the manifests."""
    given = query_values(request)
    index = index_of(
        await _catalog(app, request),
        workspace=given.get("workspace", ""),
        publisher=given.get("publisher", ""),
    )
    return json_response(index)


async def get_manifest(app: Services, request: Request) -> Response:
    """Answer one manifest."""
    return json_response(manifest_of(await _catalog(app, request), request.path_params["id"]))


async def get_card(app: Services, request: Request) -> Response:
    """Answer an A2A agent card."""
    return json_response(card_of(await _catalog(app, request), _publisher(request)))


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/ocm/catalog",
        handler=get_catalog,
        name="getOcmCatalog",
        summary="The capabilities of the agents in force as Open Capability Manifests",
        query=("workspace", "publisher"),
        answer=OcmCatalog,
    ),
    Route(
        method="GET",
        path="/api/ocm/manifests/{id}",
        handler=get_manifest,
        name="getOcmManifest",
        summary="One of those manifests, by its id (as one segment: slashes are written %2F)",
        query=("workspace", "publisher"),
        answer=Manifest,
    ),
    Route(
        method="GET",
        path="/.well-known/ocm.json",
        handler=get_index,
        name="getOcmIndex",
        summary="The index of those manifests: ids, digests, summaries, search terms",
        query=("workspace", "publisher"),
        answer=OcmIndex,
    ),
    Route(
        method="GET",
        path="/.well-known/agent-card.json",
        handler=get_card,
        name="getAgentCard",
        summary="An A2A agent card that lists those capabilities as skills",
        query=("workspace", "publisher"),
        answer=AgentCard,
    ),
)
