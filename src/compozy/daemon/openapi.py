"""The OpenAPI 3.1 document of everything served, built from the routes and the record types they name.

Nothing is written by hand: a route says its body, its answer and its query, msgspec derives the JSON Schemas
(2020-12, which is OpenAPI 3.1's dialect). Built on first request and kept; knows no handler.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from compozy import __version__
from compozy.daemon.routing import Route, Shape
from compozy.model.api import ErrorEnvelope
from compozy.model.tool import ToolErrorEnvelope

JsonObject = dict[str, object]
_TOOL_ERRORS = {
    "202": "a person has to allow it first",
    "409": "two tools have this id",
    "422": "it cannot run now",
    "502": "what runs the tool failed",
    "507": "the result cannot be kept",
}
_PAGE = "text/html"
_REFERENCE = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{([a-z_]+)\}")
# What any route may answer beside its success (contract §3.1); a body adds 413.
_ERRORS = {"400": "not understood", "403": "refused", "404": "not found", "500": "a fault of the daemon"}
# Who calls these is told by the identity headers.
_KERNEL = "/api/agent/"
_WRITE_ERRORS = {"409": "the present state forbids it", "422": "a rule refuses it", "503": "not now"}


def openapi_document(routes: Iterable[Route]) -> JsonObject:
    """Return the whole document as plain data."""
    listed = tuple(routes)
    types = list(dict.fromkeys((ErrorEnvelope, ToolErrorEnvelope, *_types(listed))))
    schemas, components = msgspec.json.schema_components(types, schema_hook=_free, ref_template=_REFERENCE)
    by_type: dict[object, JsonObject] = dict(zip(types, schemas, strict=True))
    paths: dict[str, JsonObject] = {}
    for route in listed:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "compozy",
            "version": __version__,
            "description": "The daemon's API, the same on the Unix socket and on loopback HTTP.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "http://localhost:2123"}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _free(kind: type) -> JsonObject:
    """The schema of a type that msgspec has no word for.

    Raises:
        NotImplementedError: a type of ours that needs a record instead.
    """
    if kind is object:
        return {"description": "any JSON value"}
    if issubclass(kind, float):
        return {"type": "number"}
    raise NotImplementedError(f"{kind.__name__} has no JSON schema: make it a record")


def _types(routes: Iterable[Route]) -> Iterator[object]:
    for route in routes:
        if route.body is not None:
            yield route.body
        yield from _members(route.answer)


def _members(shape: Shape) -> Iterator[object]:
    if isinstance(shape, Mapping):
        yield from shape.values()
    elif shape is not None:
        yield shape


def _operation(route: Route, by_type: Mapping[object, JsonObject]) -> JsonObject:
    operation: JsonObject = {"operationId": route.name, "summary": route.summary, "tags": [_tag(route)]}
    parameters = [_parameter(name, "path") for name in _PARAMETER.findall(route.path)]
    parameters += [_parameter(name, "query") for name in route.query]
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(by_type[route.body])}
    if route.upload:
        file: JsonObject = {"type": "string", "contentMediaType": "application/octet-stream"}
        form: JsonObject = {"type": "object", "properties": {route.upload: file}, "required": [route.upload]}
        operation["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": form}}}
    operation["responses"] = _responses(route, by_type)
    return operation


def _responses(route: Route, by_type: Mapping[object, JsonObject]) -> JsonObject:
    answers: JsonObject = {}
    schema = _schema(route.answer, by_type)
    if route.streams:
        answers["200"] = {
            "description": "server-sent events",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
        if schema is not None:
            answers["202"] = {"description": "taken, without a stream", "content": _json(schema)}
    elif route.media:
        answers[str(route.status)] = {"description": "done", "content": {route.media: {}}}
    elif schema is None:
        answers[str(route.status)] = {"description": "done"}
    else:
        answers[str(route.status)] = {"description": "done", "content": _json(schema)}
    errors = dict(_ERRORS)
    if route.kind != "read":
        errors |= _WRITE_ERRORS
    if route.path.startswith(_KERNEL):
        errors["401"] = "no session is named, or there is none of that id"
    if route.upload:
        errors["415"] = "its type is not accepted"
    if route.body is not None or route.upload:
        errors["413"] = "the body is too large"
    envelope = _json(by_type[ErrorEnvelope])
    if route.tool_errors:
        envelope = _json({"anyOf": [by_type[ErrorEnvelope], by_type[ToolErrorEnvelope]]})
        errors |= _TOOL_ERRORS
    if route.media == _PAGE:
        # A browser that came by a link is told in words; guards before the route answer as everywhere.
        envelope = {**envelope, _PAGE: {}}
    answers.update({status: {"description": text, "content": envelope} for status, text in sorted(errors.items())})
    return answers


def _schema(shape: Shape, by_type: Mapping[object, JsonObject]) -> JsonObject | None:
    if shape is None:
        return None
    if isinstance(shape, Mapping):
        members = {name: by_type[kind] for name, kind in shape.items()}
        return {"type": "object", "properties": members, "required": list(members)}
    return by_type[shape]


def _parameter(name: str, place: str) -> JsonObject:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}


def _json(schema: object) -> JsonObject:
    return {"application/json": {"schema": schema}}


def _tag(route: Route) -> str:
    parts = route.path.removeprefix("/api/").split("/")
    return "sessions" if "sessions" in parts else parts[0]
