"""Routes of providers and their models (contract §3.6; shapes "Providers and models")."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_flag, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest, NotFound
from compozy.model.provider_answers import (
    ModelCuration,
    ModelRow,
    ModelSources,
    ModelSourceStatus,
    ProviderProbe,
    ProviderRow,
)
from compozy.runtime.services import Services

_UNAVAILABLE = 503
_QUERY = ("view", "source_id", "refresh", "include_stale")


class RefreshModels(Body, frozen=True, kw_only=True):
    force: bool = False
    request_id: str = ""
    source_id: str = ""


class CurateModel(Body, frozen=True, kw_only=True):
    model_id: str
    default_effort: str | msgspec.UnsetType | None = msgspec.UNSET
    deprecated: bool | msgspec.UnsetType | None = msgspec.UNSET
    featured: bool | msgspec.UnsetType | None = msgspec.UNSET
    hidden: bool | msgspec.UnsetType | None = msgspec.UNSET


async def list_providers(app: Services, request: Request) -> Response:
    """Answer every provider with its state."""
    return json_response({"providers": await app.providers.all()})


async def get_provider(app: Services, request: Request) -> Response:
    """Answer one provider."""
    return json_response(await app.providers.get(request.path_params["provider_id"]))


async def probe_auth(app: Services, request: Request) -> Response:
    """Ask the provider itself."""
    return json_response(await app.providers.probe(request.path_params["provider_id"]))


async def list_models(app: Services, request: Request) -> Response:
    """Answer models, of one provider or of all."""
    query = query_values(request)
    name = request.path_params.get("provider_id") or query.get("provider_id", "")
    view = query.get("view") or "curated"
    if view not in ("curated", "all"):
        raise InvalidRequest(f"query parameter 'view' is {view!r}; write curated or all")
    try:
        if query_flag(request, "refresh"):
            await app.providers.refresh(name)
        rows = app.providers.models(name, view=view, source=query.get("source_id", ""))
    except NotFound as error:
        raise InvalidRequest(error.message, code=error.code) from error
    if not query_flag(request, "include_stale", default=True):
        rows = [row for row in rows if not row.stale]
    return json_response({"models": rows})


async def refresh_models(app: Services, request: Request) -> Response:
    """Ask the providers for their models; 503 when one did not answer."""
    body = await read_body(request, RefreshModels)
    try:
        name = request.path_params.get("provider_id", "")
        found = await app.providers.refresh(name, source=body.source_id.strip())
    except NotFound as missing:
        raise InvalidRequest(missing.message, code=missing.code) from missing
    return json_response(found, _UNAVAILABLE if found.error else 200)


async def source_status(app: Services, request: Request) -> Response:
    """Answer the state of the sources of models."""
    try:
        return json_response({"sources": app.providers.sources(request.path_params.get("provider_id", ""))})
    except NotFound as missing:
        raise InvalidRequest(missing.message, code=missing.code) from missing


async def curate_model(app: Services, request: Request) -> Response:
    """Write what is said about one model into the home's config."""
    body = await read_body(request, CurateModel)
    name = request.path_params["provider_id"]
    if not body.model_id.strip():
        raise InvalidRequest("model_id is required: name the model")
    names = ("default_effort", "deprecated", "featured", "hidden")
    fields = {name: value for name in names if (value := getattr(body, name)) is not msgspec.UNSET}
    try:
        changes = app.providers.curation(name, body.model_id.strip(), fields)
    except NotFound as missing:
        raise InvalidRequest(missing.message, code=missing.code) from missing
    applied = await app.settings.change(changes, section="providers")
    rows = app.providers.models(name, view="all")
    row = next(one for one in rows if one.model_id == body.model_id.strip())
    return json_response(ModelCuration(apply=applied, model=row))


_MODELS = "/api/model-catalog/providers/{provider_id}/models"

ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/providers",
        handler=list_providers,
        name="listProviders",
        summary="Every provider, whether it can be used, and what mends it",
        answer={"providers": tuple[ProviderRow, ...]},
    ),
    Route(
        method="GET",
        path="/api/providers/{provider_id}",
        handler=get_provider,
        name="getProvider",
        summary="One provider with its state",
        answer=ProviderRow,
    ),
    Route(
        method="POST",
        path="/api/providers/{provider_id}/auth/probe",
        handler=probe_auth,
        name="probeProviderAuth",
        summary="Ask the provider's program or endpoint whether it can be used",
        answer=ProviderProbe,
        kind="privileged",
    ),
    Route(
        method="GET",
        path="/api/model-catalog/models",
        handler=list_models,
        name="listProviderModels",
        summary="Models of all providers, merged from config, the providers' own lists and the built-in rows",
        answer={"models": tuple[ModelRow, ...]},
        query=("provider_id", *_QUERY),
    ),
    Route(
        method="POST",
        path="/api/model-catalog/models/refresh",
        handler=refresh_models,
        name="refreshProviderModels",
        summary="Ask every provider that can be asked for its models",
        body=RefreshModels,
        answer=ModelSources,
        kind="privileged",
    ),
    Route(
        method="GET",
        path=_MODELS,
        handler=list_models,
        name="listProviderModelsByProvider",
        summary="Models of one provider",
        answer={"models": tuple[ModelRow, ...]},
        query=_QUERY,
    ),
    Route(
        method="POST",
        path=f"{_MODELS}/refresh",
        handler=refresh_models,
        name="refreshProviderModelsByProvider",
        summary="Ask one provider for its models",
        body=RefreshModels,
        answer=ModelSources,
        kind="privileged",
    ),
    Route(
        method="POST",
        path=f"{_MODELS}/curate",
        handler=curate_model,
        name="curateProviderModel",
        summary="Feature, hide or deprecate a model, or set its default effort",
        body=CurateModel,
        answer=ModelCuration,
        kind="privileged",
    ),
    Route(
        method="GET",
        path=f"{_MODELS}/status",
        handler=source_status,
        name="getProviderModelStatusByProvider",
        summary="Where the models of one provider come from, and how fresh that is",
        answer={"sources": tuple[ModelSourceStatus, ...]},
    ),
    Route(
        method="GET",
        path="/api/model-catalog/sources/status",
        handler=source_status,
        name="getProviderModelStatus",
        summary="Where models come from, and how fresh that is",
        answer={"sources": tuple[ModelSourceStatus, ...]},
    ),
)
