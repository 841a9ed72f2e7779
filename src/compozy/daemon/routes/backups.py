"""The route that makes a backup while the daemon works. Restoring stops the daemon: that is `compozy restore`."""

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.backup import BackupReport
from compozy.model.errors import Forbidden
from compozy.runtime.backups.making import make_backup
from compozy.runtime.services import Services

_AGENT_HEADERS = ("x-compozy-session-id", "x-compozy-agent")


class BackupBody(Body, frozen=True, kw_only=True):
    path: str
    with_secrets: bool = False
    overwrite: bool = False


async def create_backup(app: Services, request: Request) -> Response:
    """Write a backup to a file of this machine."""
    if any(name in request.headers for name in _AGENT_HEADERS):
        raise Forbidden("backups are for a person, not for an agent", code="operator_only")
    body = await read_body(request, BackupBody)
    report = await asyncio.to_thread(
        make_backup, app.home, Path(body.path), with_secrets=body.with_secrets, overwrite=body.overwrite
    )
    return json_response({"backup": report}, 201)


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/backups",
        handler=create_backup,
        name="createBackup",
        summary="Write a backup of the home to a file",
        body=BackupBody,
        answer={"backup": BackupReport},
        status=201,
        kind="privileged",
    ),
)
