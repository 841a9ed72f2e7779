"""Routes of extensions (decisions D13); changing them is possible from this machine only (contract §1.3)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, empty_response, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.extension import ExtensionView
from compozy.runtime.services import Services


class AddExtension(Body, frozen=True, kw_only=True):
    path: str


async def list_extensions(app: Services, request: Request) -> Response:
    """Answer every registered extension."""
    return json_response({"extensions": await app.extensions.all()})


async def add_extension(app: Services, request: Request) -> Response:
    """Register an extension's folder."""
    body = await read_body(request, AddExtension)
    return json_response({"extension": await app.extensions.add(body.path)}, 201)


async def enable_extension(app: Services, request: Request) -> Response:
    """Bring its agents into force."""
    return json_response({"extension": await app.extensions.switch(request.path_params["name"], enabled=True)})


async def disable_extension(app: Services, request: Request) -> Response:
    """Take its agents out of force."""
    return json_response({"extension": await app.extensions.switch(request.path_params["name"], enabled=False)})


async def remove_extension(app: Services, request: Request) -> Response:
    """Forget an extension; its folder stays."""
    await app.extensions.remove(request.path_params["name"])
    return empty_response()


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/extensions",
        handler=list_extensions,
        name="listExtensions",
        summary="Every registered extension with its agents",
        answer={"extensions": tuple[ExtensionView, ...]},
    ),
    Route(
        method="POST",
        path="/api/extensions",
        handler=add_extension,
        name="addExtension",
        summary="Register an extension's folder, or read a known one anew",
        body=AddExtension,
        answer={"extension": ExtensionView},
        status=201,
        kind="privileged",
    ),
    Route(
        method="POST",
        path="/api/extensions/{name}/enable",
        handler=enable_extension,
        name="enableExtension",
        summary="Bring an extension's agents into force",
        answer={"extension": ExtensionView},
        kind="privileged",
    ),
    Route(
        method="POST",
        path="/api/extensions/{name}/disable",
        handler=disable_extension,
        name="disableExtension",
        summary="Take an extension's agents out of force",
        answer={"extension": ExtensionView},
        kind="privileged",
    ),
    Route(
        method="DELETE",
        path="/api/extensions/{name}",
        handler=remove_extension,
        name="removeExtension",
        summary="Forget an extension; its folder stays",
        status=204,
        kind="privileged",
    ),
)
