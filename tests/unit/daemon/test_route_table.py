"""Paths are matched strictly and fixed segments win over parameters."""

import pytest
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.route_table import RouteTable, path_parameters
from compozy.daemon.routing import Route
from compozy.runtime.services import Services


async def nothing(app: Services, request: Request) -> Response:
    return Response()


def route(method: str, path: str) -> Route:
    return Route(method=method, path=path, handler=nothing, name=path, summary="")  # type: ignore[arg-type]


TABLE = RouteTable(
    [
        route("GET", "/api/sessions"),
        route("POST", "/api/sessions"),
        route("GET", "/api/sessions/{id}"),
        route("GET", "/api/sessions/catalog-stream"),
        route("GET", "/api/workspaces/{ws}/sessions/{id}/events"),
    ]
)


@pytest.mark.parametrize(
    ("path", "template", "values"),
    [
        (b"/api/sessions", "/api/sessions", {}),
        (b"/api/sessions/sess-1", "/api/sessions/{id}", {"id": "sess-1"}),
        (b"/api/sessions/catalog-stream", "/api/sessions/catalog-stream", {}),
        (b"/api/sessions/a%2Fb%20c", "/api/sessions/{id}", {"id": "a/b c"}),
        (
            b"/api/workspaces/%2Frepo/sessions/s/events",
            "/api/workspaces/{ws}/sessions/{id}/events",
            {"ws": "/repo", "id": "s"},
        ),
    ],
)
def test_a_known_path_is_found_with_its_parameters(path: bytes, template: str, values: dict[str, str]) -> None:
    found = TABLE.find(path)["GET"]
    assert found.path == template
    assert path_parameters(found, path) == values


@pytest.mark.parametrize(
    "path", [b"/api/sessions/", b"/api//sessions", b"/api/sessions/a/b", b"", b"/", b"api/sessions"]
)
def test_any_other_path_is_unknown(path: bytes) -> None:
    assert TABLE.find(path) == {}


def test_two_routes_of_one_method_and_path_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two routes for GET"):
        RouteTable([route("GET", "/a/{x}"), route("GET", "/a/{y}")])


def test_methods_of_one_path_may_name_its_parameter_differently() -> None:
    table = RouteTable([route("GET", "/a/{x}"), route("DELETE", "/a/{y}")])
    assert set(table.find(b"/a/1")) == {"GET", "DELETE"}
    assert path_parameters(table.find(b"/a/1")["DELETE"], b"/a/1") == {"y": "1"}
