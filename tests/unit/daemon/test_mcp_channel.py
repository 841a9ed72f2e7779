"""Both doors for MCP connections carry them over the same three routes."""

from dataclasses import replace

from compozy.daemon.routes import hosted_mcp, mcp_serve
from compozy.daemon.routing import Route

_TAILS = ("/messages", "/messages/stream", "/release")


def _channel(routes: tuple[Route, ...]) -> list[Route]:
    """The routes of the channel, without what tells the doors apart."""
    found = [route for route in routes if "/internal/" in route.path and route.path.endswith(_TAILS)]
    bare = next(route.path for route in found if route.path.endswith("/release")).removesuffix("/release")
    return [replace(route, path=route.path.removeprefix(bare), name="", handler=hosted_mcp.bind) for route in found]


def test_agents_and_clients_outside_speak_over_routes_that_differ_only_in_path_and_name() -> None:
    agents, outside = _channel(hosted_mcp.ROUTES), _channel(mcp_serve.ROUTES)
    assert agents == outside
    assert [route.path for route in agents] == list(_TAILS)
    assert all(route.transport == "unix" for route in agents), "the other side is known by its process"
