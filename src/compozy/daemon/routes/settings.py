"""Routes of the settings pages: general settings, and reading the files again (contract §12; shapes)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.settings import GeneralSettings, SettingsApply
from compozy.runtime.services import Services
from compozy.runtime.settings_view import general_answer, general_changes, general_config


class PatchGeneral(Body, frozen=True, kw_only=True):
    config: dict[str, object]


async def get_general(app: Services, request: Request) -> Response:
    """Answer the general settings as the file has them, and what runs."""
    config = await app.settings.written()
    return json_response(general_answer(config, app.home, app.status, await app.store.count_sessions()))


async def patch_general(app: Services, request: Request) -> Response:
    """Write what differs from the file."""
    body = await read_body(request, PatchGeneral)
    shown = general_config(await app.settings.written(), app.home)
    return json_response(await app.settings.change(general_changes(body.config, shown), section="general"))


async def post_reload(app: Services, request: Request) -> Response:
    """Read the files again and take over what can be."""
    return json_response(await app.settings.reload())


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/settings/general",
        handler=get_general,
        name="getSettingsGeneral",
        summary="General settings, where they lie, and the daemon that runs",
        answer=GeneralSettings,
    ),
    Route(
        method="PATCH",
        path="/api/settings/general",
        handler=patch_general,
        name="updateSettingsGeneral",
        summary="Change general settings; what is not sent stays",
        body=PatchGeneral,
        answer=SettingsApply,
        kind="privileged",
    ),
    Route(
        method="POST",
        path="/api/settings/reload",
        handler=post_reload,
        name="reloadSettings",
        summary="Read the settings files again and take over what can change while the daemon runs",
        answer=SettingsApply,
        kind="privileged",
    ),
)
