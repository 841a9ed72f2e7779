"""The JSON Schema of config.toml, from the same records that read it, beside those of the other authored files.

Unknown keys are refused as `load.py` refuses them; sections that are read past stay open.
"""

from collections.abc import Iterable, Mapping

from msgspec import inspect

from compozy.config.config import Config
from compozy.config.durations import Duration
from compozy.config.providers import ProviderTable
from compozy.config.sections import OTHER_SECTIONS
from compozy.documents.schemas import SCHEMAS, Schema, with_heading
from compozy.documents.schemas import schema_of as document_schema

_NAME = "config"
_TITLE = "config.toml of a home or a workspace"
# Facts about a loaded configuration, no keys of the file.
_NOT_IN_FILES = ("notes", "sources")
_DURATION: Schema = {
    "type": "string",
    "pattern": "^\\s*(?:0|(?:\\d+(?:\\.\\d+)?(?:ns|us|µs|ms|s|m|h))+)\\s*$",
    "examples": ["30s", "5m", "1h30m"],
}


class _ConfigFile(Config, frozen=True, kw_only=True):
    """The shape of a file: like `Config`, with providers as they are written."""

    providers: dict[str, ProviderTable] = {}  # type: ignore[assignment]


def all_schemas() -> dict[str, str]:
    """Return the names of all schemas with what each describes."""
    return {**{name: title for name, (title, _) in SCHEMAS.items()}, _NAME: _TITLE}


def schema_of(name: str, known: Iterable[str] = ()) -> Schema:
    """Return the JSON Schema of one kind of file; `known` are further names a caller has.

    Raises:
        InvalidRequest: there is no such schema; the message names those that exist.
    """
    return (
        with_heading(_NAME, _TITLE, _config()) if name == _NAME else document_schema(name, (*all_schemas(), *known))
    )


def _config() -> Schema:
    properties = _properties(_ConfigFile)
    for name in _NOT_IN_FILES:
        del properties[name]
    ignored: Schema = {"type": "object", "description": "Belongs to parts this program does not have; read past."}
    properties.update(dict.fromkeys(sorted(OTHER_SECTIONS), ignored))
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _properties(record: type) -> Schema:
    info = inspect.type_info(record)
    assert isinstance(info, inspect.StructType)
    return {field.encode_name: _with_default(field) for field in info.fields}


def _with_default(field: inspect.Field) -> Schema:
    schema = _of(field.type)
    if isinstance(field.default, str | bool | int | float) and not isinstance(field.default, Duration):
        schema["default"] = field.default
    return schema


def _of(kind: inspect.Type) -> Schema:
    """Return the schema of one type of a configuration record."""
    if isinstance(kind, inspect.StructType):
        doc = (kind.cls.__doc__ or "").strip().splitlines()
        described: Schema = {"description": doc[0]} if doc else {}
        required = [field.encode_name for field in kind.fields if field.required]
        closed: Schema = {"type": "object", **described, "additionalProperties": False}
        return {**closed, "properties": _properties(kind.cls), **({"required": required} if required else {})}
    if isinstance(kind, inspect.CustomType):
        return dict(_DURATION) if kind.cls is Duration else {}
    if isinstance(kind, inspect.LiteralType):
        return {"enum": list(kind.values)}
    if isinstance(kind, inspect.VarTupleType):
        return {"type": "array", "items": _of(kind.item_type)}
    if isinstance(kind, inspect.DictType):
        return {"type": "object", "additionalProperties": _of(kind.value_type)}
    if isinstance(kind, inspect.UnionType):
        # TOML has no null: an optional value is there or it is not.
        return _of(next(one for one in kind.types if not isinstance(one, inspect.NoneType)))
    return _of_scalar(kind)


def _of_scalar(kind: inspect.Type) -> Schema:
    if isinstance(kind, inspect.BoolType):
        return {"type": "boolean"}
    if isinstance(kind, inspect.StrType):
        return {"type": "string", **_bounds({"pattern": kind.pattern, "minLength": kind.min_length})}
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        bounds = {"minimum": kind.ge, "maximum": kind.le, "exclusiveMinimum": kind.gt, "exclusiveMaximum": kind.lt}
        return {"type": "integer" if isinstance(kind, inspect.IntType) else "number", **_bounds(bounds)}
    if isinstance(kind, inspect.AnyType):
        return {}
    raise TypeError(f"no schema for {kind!r}; teach `compozy.config.schema` this type")


def _bounds(bounds: Mapping[str, object]) -> Schema:
    return {key: value for key, value in bounds.items() if value is not None}
