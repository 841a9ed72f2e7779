"""Routes of the first steps: onboarding, and the folder picker (contract §12; shapes)."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from compozy.config.onboarding import Onboarding, complete_onboarding, onboarding, reset_onboarding
from compozy.daemon.messages import json_response, query_flag, query_values
from compozy.daemon.routing import Route
from compozy.model.folders import FolderListing
from compozy.runtime.browsing import browse
from compozy.runtime.services import Services


async def get_onboarding(app: Services, request: Request) -> Response:
    """Answer whether the first steps were finished."""
    return json_response({"onboarding": await asyncio.to_thread(onboarding, app.home)})


async def post_complete(app: Services, request: Request) -> Response:
    """Remember that they were."""
    return json_response({"onboarding": await asyncio.to_thread(complete_onboarding, app.home)})


async def delete_onboarding(app: Services, request: Request) -> Response:
    """Forget it."""
    return json_response({"onboarding": await asyncio.to_thread(reset_onboarding, app.home)})


async def get_browse(app: Services, request: Request) -> Response:
    """List one folder."""
    found = await asyncio.to_thread(
        browse,
        query_values(request).get("path", ""),
        show_hidden=query_flag(request, "show_hidden"),
        dirs_only=query_flag(request, "dirs_only"),
    )
    return json_response(found)


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/onboarding",
        handler=get_onboarding,
        name="getOnboardingStatus",
        summary="Whether the first steps were finished",
        answer={"onboarding": Onboarding},
    ),
    Route(
        method="DELETE",
        path="/api/onboarding",
        handler=delete_onboarding,
        name="resetOnboarding",
        summary="Show the first steps again",
        answer={"onboarding": Onboarding},
        kind="privileged",
    ),
    Route(
        method="POST",
        path="/api/onboarding/complete",
        handler=post_complete,
        name="completeOnboarding",
        summary="The first steps are finished",
        answer={"onboarding": Onboarding},
        kind="privileged",
    ),
    Route(
        method="GET",
        path="/api/fs/browse",
        handler=get_browse,
        name="browseDirectory",
        summary="Names in a folder, for choosing one",
        answer=FolderListing,
        kind="privileged",
        query=("path", "show_hidden", "dirs_only"),
    ),
)
