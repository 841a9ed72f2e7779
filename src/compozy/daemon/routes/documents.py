"""The route that describes all others: the OpenAPI document."""

from functools import cache

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.routing import Route
from compozy.runtime.services import Services


@cache
def _document() -> bytes:
    # The list of routes contains this one, so it is looked up when it is asked for.
    from compozy.daemon.openapi import openapi_document  # noqa: PLC0415 - start-up cost
    from compozy.daemon.routes import ALL_ROUTES  # noqa: PLC0415 - the list is complete only after this module

    return msgspec.json.encode(openapi_document(ALL_ROUTES))


async def get_openapi(app: Services, request: Request) -> Response:
    """Answer the OpenAPI 3.1 document."""
    return Response(_document(), media_type="application/json")


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/openapi.json",
        handler=get_openapi,
        name="getOpenApi",
        summary="This API as an OpenAPI 3.1 document",
        answer=dict[str, object],
    ),
)
