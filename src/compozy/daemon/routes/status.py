"""Routes about the daemon itself: status, identity, doctor, drain (contract §3.6, §1.4)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_flag, query_values
from compozy.daemon.routing import Route
from compozy.model.daemon import DrainState, IdentityAnswer
from compozy.model.doctor import Report
from compozy.model.process import AgentProcesses
from compozy.model.status import Status
from compozy.runtime.doctor import doctor_report
from compozy.runtime.processes import agent_processes
from compozy.runtime.services import Services
from compozy.runtime.status import status_answer


async def get_status(app: Services, request: Request) -> Response:
    """Answer the whole status."""
    return json_response(await status_answer(app.status, app.config, app.store))


async def get_identity(app: Services, request: Request) -> Response:
    """Answer who serves this home; touches nothing that can wait."""
    return json_response(app.status.identity())


async def get_processes(app: Services, request: Request) -> Response:
    """Answer which processes run for which session."""
    return json_response(await agent_processes(app.store))


async def get_doctor(app: Services, request: Request) -> Response:
    """Answer every finding, filtered by `only` and `exclude` (comma-separated categories or ids)."""
    query = query_values(request)
    only, exclude = query.get("only", ""), query.get("exclude", "")
    return json_response(await doctor_report(app, only=only, exclude=exclude, quiet=query_flag(request, "quiet")))


async def post_drain(app: Services, request: Request) -> Response:
    """Admit no new work."""
    return json_response(app.status.drain())


async def post_undrain(app: Services, request: Request) -> Response:
    """Admit work again."""
    return json_response(app.status.undrain())


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/status",
        handler=get_status,
        name="getStatus",
        summary="Health, sessions and providers of this daemon",
        answer=Status,
    ),
    Route(
        method="GET",
        path="/api/status/identity",
        handler=get_identity,
        name="getRuntimeIdentity",
        summary="Process id, version and address of this daemon",
        answer=IdentityAnswer,
    ),
    Route(
        method="GET",
        path="/api/daemon/processes",
        handler=get_processes,
        name="listAgentProcesses",
        summary="The processes of agents, with the session each belongs to",
        answer=AgentProcesses,
    ),
    Route(
        method="GET",
        path="/api/doctor",
        handler=get_doctor,
        name="getDoctor",
        summary="What is wrong with this home and daemon, and how to mend it",
        answer=Report,
        query=("only", "exclude", "quiet"),
    ),
    Route(
        method="POST",
        path="/api/drain",
        handler=post_drain,
        name="drainDaemon",
        summary="Admit no new work; what runs goes on",
        answer=DrainState,
        kind="privileged",
    ),
    Route(
        method="POST",
        path="/api/undrain",
        handler=post_undrain,
        name="undrainDaemon",
        summary="Admit work again",
        answer=DrainState,
        kind="privileged",
    ),
)
