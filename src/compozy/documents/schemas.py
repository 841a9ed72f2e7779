"""JSON Schemas (2020-12) of the authored formats, from the same field tables that decode them.

`schema_of` answers for one name of `SCHEMAS`; unknown keys are refused as the parser refuses them. A schema cannot
say everything the checker says (matcher families, sync events, duplicate ids); it says nothing the checker denies.
"""

from collections.abc import Callable, Iterable

from compozy.documents import companion_fields, fields
from compozy.documents.fields import Field, Kind, Table
from compozy.documents.hook_events import ASYNC_EVENTS, SYNC_EVENTS
from compozy.documents.limits import MAX_CAPABILITIES
from compozy.documents.text import nearest
from compozy.model.definition import RESERVED_AGENT_NAMES
from compozy.model.errors import InvalidRequest

Schema = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ENV_NAMES: Schema = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
_SEGMENT = "[a-z](?:[a-z0-9]|_(?=[a-z0-9]))*"
_TOOL = f"^{_SEGMENT}(?:__{_SEGMENT})+$"
# The text before the star, with one letter added, must be an id with a namespace.
_TOOL_WILDCARD = f"^{_SEGMENT}(?:__{_SEGMENT})*__\\*$|^{_SEGMENT}(?:__{_SEGMENT})+_\\*$"
_DURATION = "^[-+]?(?:0|(?:(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$"
_CLOCK: Schema = {"pattern": "^\\s*(?:[01][0-9]|2[0-3]):[0-5][0-9]\\s*$"}
_NOT_BLANK: Schema = {"pattern": "\\S"}


def _reference(namespace: str) -> Schema:
    """Return the grammar of a secret reference: an environment variable, or a vault path of the namespace."""
    path = f"{namespace}(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*"
    return {"pattern": f"^\\s*(?:env:\\s*[A-Za-z_][A-Za-z0-9_]*|vault:{path})\\s*$"}


# What the grammar of a field adds to its kind: (table, field) to keywords of the value, the item or the map's values.
_EXTRA: dict[tuple[str, str], Schema] = {
    ("agent", "name"): {
        "pattern": "^\\s*[a-z][a-z0-9_-]{0,105}\\s*$",
        "not": {"enum": list(RESERVED_AGENT_NAMES)},
        "examples": ["code-reviewer"],
    },
    ("agent", "tools"): {"anyOf": [{"pattern": _TOOL}, {"pattern": _TOOL_WILDCARD}], "maxLength": 65},
    ("agent", "deny_tools"): {"anyOf": [{"pattern": _TOOL}, {"pattern": _TOOL_WILDCARD}], "maxLength": 65},
    ("agent", "toolsets"): {"pattern": _TOOL, "maxLength": 64},
    ("agent", "category_path"): {"pattern": "^[^/\\\\]*[^\\s/\\\\][^/\\\\]*$", "not": {"enum": [".", ".."]}},
    ("mcp_servers", "name"): {"pattern": "^[^/\\u0000]*[^\\s/\\u0000][^/\\u0000]*$"},
    ("mcp_servers", "secret_env"): _reference("mcp"),
    ("server", "secret_env"): _reference("mcp"),
    ("hooks", "name"): _NOT_BLANK,
    ("hooks", "event"): {"enum": sorted((*SYNC_EVENTS, *ASYNC_EVENTS))},
    ("hooks", "secret_env"): _reference("hooks"),
    ("executor", "secret_env"): _reference("hooks"),
    ("hooks", "priority"): {"minimum": -(2**31), "maximum": 2**31 - 1},
    ("capability", "id"): _NOT_BLANK,
    ("capability", "summary"): _NOT_BLANK,
    ("capability", "outcome"): _NOT_BLANK,
    ("capability", "requirements"): _NOT_BLANK,
    ("window", "start"): _CLOCK,
    ("window", "end"): _CLOCK,
    ("preferences", "min_interval"): {"pattern": _DURATION, "examples": ["30m"]},
    ("heartbeat", "version"): {"const": 1},
    ("skill", "name"): _NOT_BLANK,
}


def table_schema(table: Table) -> Schema:
    """Return the schema of a table: its fields, closed, with the required ones."""
    result: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {field.name: _field_schema(table.name, field) for field in table.fields.values()},
    }
    if table.required:
        result["required"] = list(table.required)
    return result


def _field_schema(owner: str, field: Field) -> Schema:
    extra = _EXTRA.get((owner, field.name), {})
    described: Schema = {"description": field.doc}
    if field.kind is Kind.TEXT:
        return {"type": "string", **described, **({"enum": list(field.choices)} if field.choices else {}), **extra}
    if field.kind is Kind.TEXTS:
        return {"type": "array", **described, "items": {"type": "string", **extra}}
    if field.kind is Kind.TEXT_MAP:
        names = {"propertyNames": _ENV_NAMES} if field.name in ("env", "secret_env") else {}
        return {"type": "object", **described, **names, "additionalProperties": {"type": "string", **extra}}
    if field.kind is Kind.FLAG:
        return {"type": "boolean", **described}
    if field.kind is Kind.WHOLE:
        return {"type": "integer", **described, **extra}
    if field.kind is Kind.DURATION:
        return {"type": "string", **described, "pattern": _DURATION, "examples": ["90s", "1m30s"]}
    assert field.table is not None
    inner = table_schema(field.table)
    if field.kind is Kind.TABLE:
        return {**described, **inner}
    if field.kind is Kind.TABLES:
        return {"type": "array", **described, "items": inner}
    return {"type": "object", **described, "additionalProperties": inner}


def _agent() -> Schema:
    return table_schema(fields.AGENT)


def _capability() -> Schema:
    return table_schema(fields.CAPABILITY)


def _capabilities() -> Schema:
    record = table_schema(fields.CAPABILITY)
    wrapped: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "capabilities": {"type": "array", "items": record, "maxItems": MAX_CAPABILITIES},
        },
    }
    return wrapped


def _mcp() -> Schema:
    # Other programs' keys beside the servers are ignored with a warning (decisions D10), so they are no error here.
    return {**table_schema(fields.MCP_JSON), "additionalProperties": True}


def _with_single_strings(schema: Schema) -> Schema:
    """Let a single string stand for a list of one, as the readers of companion files do."""
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {name: _single(inner) for name, inner in properties.items()}
    return schema


def _single(schema: Schema) -> Schema:
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict) and items.get("type") == "string":
        described = {key: value for key, value in schema.items() if key == "description"}
        return {**described, "anyOf": [{"type": "string"}, {"type": "array", "items": items}]}
    return _with_single_strings(schema)


def _soul() -> Schema:
    schema = _with_single_strings(table_schema(companion_fields.SOUL))
    properties = schema["properties"]
    assert isinstance(properties, dict)
    properties["version"] = {**properties["version"], "type": ["string", "number"]}
    return schema


def _heartbeat() -> Schema:
    return _with_single_strings(table_schema(companion_fields.HEARTBEAT))


def _skill() -> Schema:
    schema = table_schema(companion_fields.SKILL)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    ours: Schema = {
        "type": "object",
        "description": "what compozy reads",
        "properties": {
            "when": table_schema(companion_fields.SKILL_WHEN),
            "mcp_servers": {"type": "array", "items": table_schema(fields.MCP_SERVER)},
            "hooks": {"type": "array", "items": table_schema(fields.HOOK)},
        },
    }
    properties["metadata"] = {"type": "object", "description": "free data", "properties": {"compozy": ours}}
    # Unknown keys are ignored with a warning (contract §8), so they are no error here.
    return {**schema, "additionalProperties": True}


SCHEMAS: dict[str, tuple[str, Callable[[], Schema]]] = {
    "agent": ("the header of AGENT.md", _agent),
    "capability": ("one file of a capabilities/ folder", _capability),
    "capabilities": ("capabilities.toml or capabilities.json", _capabilities),
    "mcp": ("mcp.json", _mcp),
    "soul": ("the header of SOUL.md", _soul),
    "heartbeat": ("the header of HEARTBEAT.md", _heartbeat),
    "skill": ("the header of SKILL.md", _skill),
}


def with_heading(name: str, title: str, schema: Schema) -> Schema:
    """Return a schema with its dialect, identity and title in front."""
    return {"$schema": DIALECT, "$id": f"urn:compozy:schema:{name}", "title": f"compozy: {title}", **schema}


def schema_of(name: str, known: Iterable[str] = ()) -> Schema:
    """Return the JSON Schema of one format; `known` are further names a caller has.

    Raises:
        InvalidRequest: there is no such schema; the message names those that exist.
    """
    if name not in SCHEMAS:
        names = [*dict.fromkeys([*SCHEMAS, *known])]
        close = nearest(name, names)
        hint = f"did you mean {close!r}?" if close else "choose one of " + ", ".join(names)
        raise InvalidRequest(f"there is no schema {name!r}; {hint}", code="schema_unknown")
    title, build = SCHEMAS[name]
    return with_heading(name, title, build())
