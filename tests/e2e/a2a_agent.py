"""An agent of the published A2A SDK on loopback, run by the Python that has it: prints its address, then serves.

`a2a_agent.py current` speaks 1.0, `old` only 0.3; `card FILE` only reads a card. Knows nothing of us.
"""

import json
import socket
import sys

import uvicorn
from a2a.helpers import new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict, ParseDict
from starlette.applications import Starlette
from starlette.responses import JSONResponse


class Echo(AgentExecutor):
    """Works on a task in two steps; `fail` fails, `ask` asks back."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        said = context.get_user_input()
        await event_queue.enqueue_event(
            Task(
                id=context.task_id,
                context_id=context.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                history=[context.message],
            )
        )
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if said == "fail":
            await updater.failed(updater.new_agent_message([new_text_part("no paper left")]))
        elif said == "ask":
            await updater.requires_input(updater.new_agent_message([new_text_part("which order?")]))
        else:
            await updater.add_artifact([new_text_part(f"done: {said}")])
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def card(url: str) -> AgentCard:
    return AgentCard(
        name="Echo",
        description="Says it again",
        version="1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="Says it again", tags=["say"], examples=["say hi"])],
    )


class Only03:
    """Answers 1.0 as a server does that has never heard of it."""

    def __init__(self, app: Starlette) -> None:
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        headers = dict(scope.get("headers") or [])
        if headers.get(b"a2a-version") == b"1.0":
            await receive()
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}}
            await JSONResponse(error)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


if __name__ == "__main__":
    if sys.argv[1] == "card":
        with open(sys.argv[2]) as file:
            read = ParseDict(json.load(file), AgentCard())
        print(json.dumps({"name": read.name, "skills": [one.id for one in read.skills]}))
        sys.exit()
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    own = card(url)
    handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), own)
    routes = create_jsonrpc_routes(handler, "/", enable_v0_3_compat=sys.argv[1] == "old")
    app = Starlette(routes=[*routes, *create_agent_card_routes(own)])
    print(url, json.dumps(MessageToDict(own)), flush=True)
    served = Only03(app) if sys.argv[1] == "old" else app
    uvicorn.Server(uvicorn.Config(served, log_level="error")).run(sockets=[listener])
