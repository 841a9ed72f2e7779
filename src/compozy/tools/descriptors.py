"""Making descriptors: digests of schemas, and what follows from a tool's risk (contract §6.1)."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from compozy.model.tool import Risk, ToolBackend, ToolDescriptor, ToolOrigin, Visibility


def schema_digest(schema: Mapping[str, object]) -> str:
    """Return the digest of a schema: equal for equal JSON, whatever the order of members."""
    return "sha256:" + hashlib.sha256(msgspec.json.encode(schema, order="sorted")).hexdigest()


def input_digest(arguments: object) -> str:
    """Return the digest of a call's input, which grants and approval tokens are tied to."""
    return "sha256:" + hashlib.sha256(msgspec.json.encode(arguments, order="sorted")).hexdigest()


def new_descriptor(
    *,
    tool_id: str,
    description: str,
    input_schema: dict[str, object],
    source: ToolOrigin,
    backend: ToolBackend,
    risk: Risk,
    title: str = "",
    visibility: Visibility = "model",
    open_world: bool | None = None,
    requires_interaction: bool = False,
    concurrency_safe: bool | None = None,
    output_schema: dict[str, object] | None = None,
    max_result_bytes: int = 0,
    toolsets: Sequence[str] = (),
    tags: Sequence[str] = (),
    search_hints: Sequence[str] = (),
) -> ToolDescriptor:
    """Return a descriptor; what is not said follows from the risk."""
    return ToolDescriptor(
        tool_id=tool_id,
        display_title=title,
        description=description,
        input_schema=input_schema,
        input_schema_digest=schema_digest(input_schema),
        output_schema=output_schema,
        output_schema_digest=schema_digest(output_schema) if output_schema is not None else "",
        source=source,
        backend=backend,
        visibility=visibility,
        risk=risk,
        read_only=risk == "read",
        destructive=risk == "destructive",
        open_world=risk == "open_world" if open_world is None else open_world,
        requires_interaction=requires_interaction,
        concurrency_safe=risk == "read" if concurrency_safe is None else concurrency_safe,
        max_result_bytes=max_result_bytes,
        toolsets=tuple(toolsets),
        tags=tuple(tags),
        search_hints=tuple(search_hints),
    )
