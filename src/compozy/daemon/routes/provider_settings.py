"""Routes of the providers' settings page (shapes: /api/settings/providers)."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.provider_answers import ProviderSettingsList, ProviderSettingsRow
from compozy.model.settings import SettingsApply
from compozy.runtime.services import Services


class ProviderSecret(Body, frozen=True, kw_only=True):
    secret_ref: str
    value: str
    kind: str = ""
    name: str = ""


class PutProvider(Body, frozen=True, kw_only=True):
    settings: dict[str, object]
    secrets: tuple[ProviderSecret, ...] = ()
    model_curation: dict[str, object] | None = None


async def list_settings(app: Services, request: Request) -> Response:
    """Answer every provider with its settings; no secret's value."""
    rows = await app.providers.settings_rows(await app.settings.written())
    return json_response(
        ProviderSettingsList(
            collection="providers", scope="global", available_scopes=("global",), providers=tuple(rows)
        )
    )


async def get_settings(app: Services, request: Request) -> Response:
    """Answer one provider with its settings."""
    rows = await app.providers.settings_rows(await app.settings.written(), request.path_params["name"])
    return json_response({"provider": rows[0]})


async def put_settings(app: Services, request: Request) -> Response:
    """Write what differs, add the provider when it is new; secrets go to the vault."""
    body = await read_body(request, PutProvider)
    written = await app.settings.written()
    values = app.providers.changes(
        written, request.path_params["name"], body.settings, curation=body.model_curation or {}
    )
    secrets = {secret.secret_ref: secret.value for secret in body.secrets}
    await asyncio.to_thread(app.providers.store_secrets, secrets)
    return json_response(await app.settings.change(values, section="providers"))


async def delete_settings(app: Services, request: Request) -> Response:
    """Remove the provider's table from the file; a built-in row is in force again."""
    values = app.providers.removal(request.path_params["name"])
    return json_response(await app.settings.change(values, section="providers"))


_ONE = "/api/settings/providers/{name}"
ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/settings/providers",
        handler=list_settings,
        name="listSettingsProviders",
        summary="Settings of every provider, with where they come from and what each needs",
        answer=ProviderSettingsList,
    ),
    Route(
        method="GET",
        path=_ONE,
        handler=get_settings,
        name="getSettingsProvider",
        summary="Settings of one provider",
        answer={"provider": ProviderSettingsRow},
    ),
    Route(
        method="PUT",
        path=_ONE,
        handler=put_settings,
        name="putSettingsProvider",
        summary="Change or add a provider; secrets go to the vault",
        body=PutProvider,
        answer=SettingsApply,
        kind="privileged",
    ),
    Route(
        method="DELETE",
        path=_ONE,
        handler=delete_settings,
        name="deleteSettingsProvider",
        summary="Remove a provider's table from the settings",
        answer=SettingsApply,
        kind="privileged",
    ),
)
