"""A target as the index reads it: which of its fields count, how much, and how they are called in a reason (issue 8).

It knows nothing of scores.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from compozy.lexical.words import split_name, tokens
from compozy.ocm.target import Target

# How far into the schema of a parameter is looked, and how many of its allowed values count: a list of all countries
# says less of a tool than its first few.
_DEEPEST, _MOST_VALUES = 3, 20


class Field(NamedTuple):
    """One text of a document, where it stands ("its description") and how often its words count."""

    place: str
    text: str
    repeat: int = 1


class Document(NamedTuple):
    """What is matched against a task."""

    id: str
    fields: tuple[Field, ...]


def read_target(target: Target) -> Document:
    """Return the fields of a target that a task is matched against; its instructions are not among them."""
    fields = [name_field(target.name), Field("its description", target.description)]
    # The publisher in front says who offers it, not what it does.
    last = split_name(target.id.rpartition("/")[2])
    if tokens(last) != tokens(split_name(target.name)):
        fields.append(Field("its id", last))
    fields.extend(Field("one of its examples", example) for example in target.examples)
    listed = (("its tags", target.tags), ("its actions", target.actions), ("its domains", target.domains))
    fields.extend(Field(place, split_name(" ".join(texts))) for place, texts in listed if texts)
    fields.extend(Field("its parameters", text) for text in _parameters(target.metadata))
    return Document(target.id, tuple(fields))


def name_field(name: str) -> Field:
    """Return the field of a name, which counts more than its few words would."""
    return Field("its name", split_name(name), NAME_REPEAT)


NAME_REPEAT = 2


def document_words(document: Document) -> list[str]:
    """Return the words of a document, those of a weighted field repeated."""
    found: list[str] = []
    for field in document.fields:
        found.extend(tokens(field.text) * field.repeat)
    return found


def _parameters(metadata: Mapping[str, object]) -> Iterator[str]:
    """Yield names and meanings of the parameters, from `parameters` or the `inputSchema` of an MCP tool.

    `parameters` is a mapping of names, a list of names or of `{name, description}`, or a JSON Schema of an object.
    """
    given = metadata.get("parameters") or _input_schema(metadata)
    if isinstance(given, Mapping):
        inner = given.get("properties") if given.get("type") == "object" else None
        yield from _properties(inner if isinstance(inner, Mapping) else given, _DEEPEST)
    elif isinstance(given, list):
        if names := [split_name(str(one)) for one in given if not isinstance(one, Mapping)]:
            yield " ".join(names)
        for one in given:
            if isinstance(one, Mapping):
                yield from _properties({str(one.get("name", "")): one}, _DEEPEST)


def _input_schema(metadata: Mapping[str, object]) -> object:
    """Return the properties of an MCP tool's schema, also where `compozy ocm import` puts it."""
    imported = metadata.get("mcp")
    for holder in (metadata, imported if isinstance(imported, Mapping) else {}):
        schema = holder.get("inputSchema")
        if isinstance(schema, Mapping):
            return schema.get("properties")
    return None


def _properties(given: Mapping[object, object], levels: int) -> Iterator[str]:
    """Yield a line for each property with its allowed values, and those of objects and lists in it."""
    for name, meaning in given.items():
        schema = meaning if isinstance(meaning, Mapping) else {"description": meaning}
        told, allowed = schema.get("description"), schema.get("enum")
        values = [one for one in allowed if isinstance(one, str)] if isinstance(allowed, list) else []
        texts = [split_name(str(name)), told if isinstance(told, str) else "", *values[:_MOST_VALUES]]
        yield " ".join(text for text in texts if text)
        items = schema.get("items")
        for inner in (schema, items if isinstance(items, Mapping) else {}):
            properties = inner.get("properties")
            if isinstance(properties, Mapping) and levels > 1:
                yield from _properties(properties, levels - 1)
