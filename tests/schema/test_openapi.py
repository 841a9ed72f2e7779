"""The OpenAPI document tells the truth: every route is in it with its shapes, and real answers fit them."""

import json
from collections.abc import Mapping
from typing import get_args, get_origin
from urllib.parse import quote

import jsonschema
import pytest

from compozy.client import ApiError, DaemonClient
from compozy.daemon.openapi import openapi_document
from compozy.daemon.routes import ALL_ROUTES
from compozy.daemon.routing import Route
from tests.kit.daemons import Daemon

# Routes whose success says nothing but "done".
EMPTY = {
    "deleteSession",
    "deleteSessionAttachment",
    "stopSession",
    "revokeToolApprovalGrant",
    "feedHostedMcpMessage",
    "releaseHostedMcp",
    "feedMcpServe",
    "releaseMcpServe",
    "deleteWorkspace",
    "removeExtension",
}
DOCUMENT = json.loads(json.dumps(openapi_document(ALL_ROUTES)))


def _operation(route: Route) -> dict[str, object]:
    return DOCUMENT["paths"][route.path][route.method.lower()]


def _check(instance: object, schema: dict[str, object]) -> None:
    jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(instance)


@pytest.mark.parametrize("route", ALL_ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_says_what_it_takes_and_what_it_answers(route: Route) -> None:
    operation = _operation(route)
    if route.method in ("POST", "PUT", "PATCH") and route.body is None:
        pytest.fail("name the struct that the handler decodes") if _reads_a_body(route) else None
    known = route.streams or route.media or route.answer is not None or route.name in EMPTY
    assert known, "name the answer's record"
    assert {"400", "403", "404", "500"} <= set(operation["responses"])
    named = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "path"}
    assert named == {part[1:-1] for part in route.path.split("/") if part.startswith("{")}


def test_every_answer_is_described_down_to_its_members() -> None:
    bare = [route.name for route in ALL_ROUTES if any(_is_bare(shape) for shape in _shapes(route))]
    assert bare == ["getOpenApi"], "make a record of what these routes answer"


def _shapes(route: Route) -> list[object]:
    return list(route.answer.values()) if isinstance(route.answer, Mapping) else [route.answer]


def _is_bare(shape: object) -> bool:
    """Whether a shape says no more than "an object"."""
    inner = get_args(shape)
    if get_origin(shape) is tuple:
        return _is_bare(inner[0])
    return shape is object or (get_origin(shape) is dict and inner == (str, object))


def _reads_a_body(route: Route) -> bool:
    return "read_body" in route.handler.__code__.co_names


def test_the_document_is_served_and_every_schema_in_it_is_one(shared_daemon: Daemon) -> None:
    with shared_daemon.client() as client:
        served = client.request("GET", "/api/openapi.json").json()
    assert served == DOCUMENT
    assert served["openapi"] == "3.1.0"
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    names = [operation["operationId"] for path in DOCUMENT["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def places(shared_daemon: Daemon, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A workspace with an agent and a session that has run once: what path parameters may name."""
    folder = tmp_path_factory.mktemp("project")
    agent = folder / ".compozy" / "agents" / "scout"
    agent.mkdir(parents=True)
    (agent / "AGENT.md").write_text("---\nname: scout\nprovider: offline\n---\n\nFind things.\n")
    with shared_daemon.client() as client:
        body = {"workspace_path": str(folder), "agent_name": "scout"}
        session = client.request("POST", "/api/sessions", body=body).json()["session"]
        path = f"/api/workspaces/{session['workspace_id']}/sessions/{session['id']}"
        prompt = {"message": "find the kettle", "message_id": "m1", "idempotency_key": "k1"}
        with client.stream("POST", f"{path}/prompt", body=prompt) as stream:
            assert [event.data for event in stream if event is not None][-1] == "[DONE]"
    # Written last: its sessions would need trust. A server may have the name of an agent.
    (folder / ".compozy" / "mcp.json").write_text('{"mcpServers": {"scout": {"command": "scout-srv"}}}')
    return {"workspace_id": session["workspace_id"], "session_id": session["id"], "name": "scout"}


READS = [
    route
    for route in ALL_ROUTES
    if route.method == "GET" and not route.streams and route.answer is not None and route.transport == "any"
]


@pytest.mark.parametrize("route", READS, ids=lambda route: route.path)
def test_a_real_answer_fits_its_schema_and_both_listeners_give_the_same(
    route: Route, shared_daemon: Daemon, places: dict[str, str]
) -> None:
    # The name of an agent, except below the providers.
    path = route.path.replace("/providers/{name}", "/providers/offline")
    for name, value in places.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    query = {"workspace": places["workspace_id"]} if "workspace" in route.query else {}
    if "workspace_id" in route.query and not query:
        query = {"workspace_id": places["workspace_id"]}
    headers = {"X-Compozy-Session-ID": places["session_id"], "X-Compozy-Agent": places["name"]}
    with shared_daemon.client() as unix, shared_daemon.tcp_client() as tcp:
        answers = [_ask(client, path, query, headers) for client in (unix, tcp)]
    statuses, values = [status for status, _ in answers], [value for _, value in answers]
    assert statuses[0] == statuses[1]
    if "{" not in path:
        assert statuses[0] == 200
    responses = _operation(route)["responses"]
    _check(values[0], responses[str(statuses[0])]["content"]["application/json"]["schema"])
    if route.name not in ("getStatus", "getDoctor", "getSessionRecap", "getAgentContext"):
        assert values[0] == values[1]


def _ask(client: DaemonClient, path: str, query: dict[str, str], headers: dict[str, str]) -> tuple[int, object]:
    try:
        answer = client.request("GET", path, query=query, headers=headers)
        return answer.status, answer.json()
    except ApiError as refused:
        return refused.status, refused.envelope
