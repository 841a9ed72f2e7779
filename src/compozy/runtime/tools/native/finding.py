"""tool_list, tool_search, tool_info, tool_artifact_read: how an agent finds its tools (contract §6.2)."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta

from compozy.model.tool import ToolView
from compozy.runtime.tools.callers import Caller
from compozy.runtime.tools.native.kit import BOOTSTRAP, Actor, Arguments, NativeTool, native
from compozy.runtime.tools.service import Tools
from compozy.tools.artifacts import PAGE_BYTES
from compozy.tools.source import ToolScope

CallerOf = Callable[[ToolScope], Awaitable[Caller]]
_Limit = Annotated[int, Meta(ge=1, le=100, description="How many at most.")]
_SHOWN = 200


class ToolList(Arguments, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many at most.")] = 200


class ToolSearch(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=500, description="What the tool should do, in a few words.")]
    limit: _Limit = 10


class ToolInfo(Arguments, frozen=True, kw_only=True):
    tool_id: Annotated[str, Meta(min_length=1, description="The id as tool_search shows it.")]


class ArtifactRead(Arguments, frozen=True, kw_only=True):
    artifact_id: Annotated[str, Meta(min_length=1, description='"art_…", or the whole "compozy-artifact:…".')]
    offset: Annotated[int, Meta(ge=0, description="Where to begin, in bytes.")] = 0
    limit: Annotated[int, Meta(ge=1, le=PAGE_BYTES, description="How many bytes at most.")] = PAGE_BYTES


class FindingTools:
    """The tools about tools. `tools` is given after both exist."""

    def __init__(self, caller_of: CallerOf) -> None:
        self._caller_of = caller_of
        self.service: Tools | None = None

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        group = (BOOTSTRAP,)
        return (
            native(
                "tool_list",
                ToolList,
                self._list,
                "List the tools that can be called in this session.",
                title="List tools",
                toolsets=group,
            ),
            native(
                "tool_search",
                ToolSearch,
                self._search,
                "Search all tools by what they do. Tools that cannot be called come with the reason.",
                title="Search tools",
                toolsets=group,
                hints=("find", "discover", "which tool"),
            ),
            native(
                "tool_info",
                ToolInfo,
                self._info,
                "Show one tool: its input schema, and whether and why it can be called.",
                title="Show a tool",
                toolsets=group,
                hints=("schema", "explain"),
            ),
            native(
                "tool_artifact_read",
                ArtifactRead,
                self._read,
                "Read a kept result in pages. Continue at next_offset until eof is true.",
                title="Read a kept result",
                toolsets=(*group, "compozy__tool_artifacts"),
                hints=("large result", "page", "truncated"),
            ),
        )

    @property
    def _tools(self) -> Tools:
        assert self.service is not None, "given when the service was made"
        return self.service

    async def _list(self, actor: Actor, given: ToolList) -> object:
        views = await self._tools.callable_views(await self._caller_of(actor.scope))
        return {"tools": [_brief(view) for view in views[: given.limit]], "total": len(views)}

    async def _search(self, actor: Actor, given: ToolSearch) -> object:
        found = await self._tools.search(await self._caller_of(actor.scope), given.query, given.limit)
        return {"tools": [_brief(view) for view in found]}

    async def _info(self, actor: Actor, given: ToolInfo) -> object:
        return {"tool": await self._tools.view(await self._caller_of(actor.scope), given.tool_id.strip())}

    async def _read(self, actor: Actor, given: ArtifactRead) -> object:
        return await self._tools.read_artifact(
            actor.scope.workspace_id, given.artifact_id.strip(), given.offset, given.limit
        )


def _brief(view: ToolView) -> dict[str, object]:
    tool, decision = view.descriptor, view.decision
    row: dict[str, object] = {
        "tool_id": tool.tool_id,
        "title": tool.display_title,
        "description": tool.description[:_SHOWN],
        "risk": tool.risk,
        "callable": decision.callable,
    }
    if decision.reason_codes:
        row["reason_codes"] = list(decision.reason_codes)
    return row
