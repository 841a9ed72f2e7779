"""Results within bounds: what is larger than it may be is kept as an artifact, with a preview (contract §6.3).

The size of a result is that of its JSON. Knows no sessions; the caller redacts before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from compozy.model.tool import ToolArtifact, ToolContent, ToolResult
from compozy.tools.source import ToolOutput

# Whoever reads the preview decides whether to read the artifact.
PREVIEW_CHARACTERS = 2_000
Keep = Callable[[bytes, str, str], ToolArtifact]
"""Stores bytes with a MIME type and a name; raises ArtifactProblem."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How large a result may be; 0 means that everything is kept as an artifact."""

    max_bytes: int


def bound_result(output: ToolOutput, bounds: Bounds, keep: Keep, *, tool_id: str, duration_ms: int) -> ToolResult:
    """Return the result as it is handed out.

    Raises:
        ArtifactProblem: it is too large and cannot be kept.
    """
    metadata = {**output.metadata, **({"is_error": True} if output.is_error else {})}
    whole = ToolResult(
        bytes=0,
        duration_ms=duration_ms,
        truncated=False,
        content=output.content,
        structured=output.structured,
        artifacts=output.artifacts,
        metadata=metadata,
    )
    size = len(msgspec.json.encode({"content": whole.content, "structured": whole.structured}))
    if size <= bounds.max_bytes:
        return msgspec.structs.replace(whole, bytes=size)
    data, mime_type = _document(output)
    artifact = keep(data, mime_type, f"{tool_id}{'.txt' if mime_type == 'text/plain' else '.json'}")
    preview = data[: PREVIEW_CHARACTERS * 4].decode("utf-8", "ignore")[:PREVIEW_CHARACTERS]
    note = (
        f"The result has {len(data)} bytes, more than the {bounds.max_bytes} a result may have. All of it is kept as "
        f"{artifact.uri}: read it in pages with compozy__tool_artifact_read. It begins:\n{preview}"
    )
    return ToolResult(
        bytes=size,
        duration_ms=duration_ms,
        truncated=True,
        content=(ToolContent(type="text", text=note),),
        preview=preview,
        artifacts=(*output.artifacts, artifact),
        metadata=metadata,
    )


def _document(output: ToolOutput) -> tuple[bytes, str]:
    """Return the result as one document: its text alone where it is nothing else, else JSON."""
    if output.structured is None and all(block.type == "text" for block in output.content):
        return "\n".join(block.text for block in output.content).encode(), "text/plain"
    if output.structured is not None:
        return msgspec.json.encode(output.structured), "application/json"
    return msgspec.json.encode(output.content), "application/json"
