"""`compozy.Client` has a method for each operation of the OpenAPI document, and none for what is not served."""

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from types import SimpleNamespace
from typing import NoReturn, cast

import compozy
from compozy.client import DaemonClient
from compozy.daemon.openapi import openapi_document
from compozy.daemon.route_table import RouteTable
from compozy.daemon.routes import ALL_ROUTES

# Operations without a method, each with the reason.
NONE = {
    **dict.fromkeys(("postMcp", "streamMcp", "endMcp"), "the MCP protocol itself: an MCP client speaks it"),
    "receiveMcpLogin": "where a browser comes back to after a login",
    **dict.fromkeys(
        ("openMcpServe", "feedMcpServe", "streamMcpServe", "releaseMcpServe"),
        "between the daemon and its own `mcp serve` process (compozy.client.relay)",
    ),
    **dict.fromkeys(
        (
            "bindHostedMcp",
            "getHostedMcpProjection",
            "streamHostedMcpProjection",
            "callHostedMcpTool",
            "feedHostedMcpMessage",
            "streamHostedMcpMessages",
            "releaseHostedMcp",
        ),
        "between the daemon and the MCP process of a session (compozy.client.relay)",
    ),
}

# What a parameter is given, by its annotation; text where none fits.
VALUES: tuple[tuple[str, object], ...] = (
    ("compozy.model.session.Session", SimpleNamespace(id="ses-1", workspace_id="ws-1")),
    ("tuple[", ()),
    ("Sequence[", ()),
    ("Mapping[", {}),
    ("dict[", {}),
    ("bytes", b"x"),
    ("bool", True),
    ("float", 1.0),
    ("int", 1),
)


class _Asked(Exception):
    """A request that would have gone out."""


class _Listener:
    """Where a client sends to: it keeps method and path, and answers nothing."""

    def __init__(self) -> None:
        self.asked: set[tuple[str, str]] = set()

    def request(self, method: str, path: str, **rest: object) -> NoReturn:
        self.asked.add((method, path))
        raise _Asked

    stream = request


def _methods(client: compozy.Client) -> Iterator[tuple[str, Callable[..., object]]]:
    groups = [name for name, value in vars(compozy.Client).items() if isinstance(value, cached_property)]
    for group in (*(getattr(client, name) for name in groups), client.kernel("ses-1", "scout")):
        for name, method in inspect.getmembers(group, inspect.ismethod):
            if not name.startswith("_"):
                yield f"{type(group).__name__}.{name}", method


def _arguments(method: Callable[..., object], *, of_all: bool) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD or not (of_all or parameter.default is parameter.empty):
            continue
        annotation = str(parameter.annotation)
        found[name] = next((value for part, value in VALUES if part in annotation), "one")
    return found


def _asked_by(method: Callable[..., object], listener: _Listener) -> set[tuple[str, str]]:
    """Return what a method asks for, with what it needs and with everything it takes."""
    listener.asked.clear()
    for of_all in (False, True):
        try:
            method(**_arguments(method, of_all=of_all))
        except _Asked:
            continue
    return set(listener.asked)


def test_each_operation_has_a_method_or_a_reason_to_have_none() -> None:
    listener = _Listener()
    table = RouteTable(ALL_ROUTES)
    reached: set[str] = set()
    for name, method in _methods(compozy.Client(transport=cast(DaemonClient, listener))):
        asked = _asked_by(method, listener)
        assert asked, f"{name} asks the daemon for nothing"
        for verb, path in asked:
            route = table.find(path.encode()).get(verb)
            assert route is not None, f"{name} asks for {verb} {path}, which is not served"
            reached.add(route.name)
    paths = cast(dict[str, dict[str, dict[str, object]]], openapi_document(ALL_ROUTES)["paths"])
    served = {str(operation["operationId"]) for path in paths.values() for operation in path.values()}
    assert served - reached == set(NONE), "write a method in compozy/client/calls, or name the reason here"
