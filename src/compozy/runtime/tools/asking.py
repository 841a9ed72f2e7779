"""Asking a person about a tool call: the question as the session's permission desk takes it (contract §6.3, §5.5)."""

import msgspec

from compozy.acp.contract import PermissionOption, PermissionRequest
from compozy.model.workspace import Workspace
from compozy.runtime.sessions import Sessions
from compozy.runtime.tools.calls import ToolQuestion
from compozy.runtime.tools.native.kit import Actor

_OPTIONS = tuple(
    PermissionOption(option_id=kind.replace("_", "-"), name=name, kind=kind)
    for kind, name in (
        ("allow_once", "Allow once"),
        ("allow_always", "Always allow this call"),
        ("reject_once", "Reject"),
        ("reject_always", "Always reject this call"),
    )
)
_SHOWN = 300
_encoder = msgspec.json.Encoder(order="sorted")


class Desk:
    """Puts questions to persons. `sessions` is given after both exist."""

    def __init__(self) -> None:
        self.sessions: Sessions | None = None

    async def ask(self, question: ToolQuestion) -> str:
        """Ask about a call; see `calls.Ask` for what is returned."""
        arguments = _encoder.encode(question.arguments)
        shown = arguments.decode()
        title = f"{question.tool.tool_id} {shown[:_SHOWN]}{'…' if len(shown) > _SHOWN else ''}"
        tool = question.tool
        raw: dict[str, object] = {
            "toolCall": {"title": tool.display_title, "kind": tool.risk, "rawInput": question.arguments},
            "tool_id": tool.tool_id,
        }
        return await self._put(question.session_id, title, tool.risk, raw, question.seconds, question.tool_call_id)

    async def ask_place(self, actor: Actor, workspace: Workspace) -> str:
        """Ask whether a session may look into another workspace."""
        title = f"look into workspace {workspace.name} ({workspace.root_dir})"
        raw: dict[str, object] = {"toolCall": {"title": title, "kind": "read"}, "workspace_id": workspace.id}
        return await self._put(actor.scope.session_id, title, "workspace", raw, 120.0, "")

    async def _put(
        self, session_id: str, title: str, kind: str, raw: dict[str, object], seconds: float, call_id: str
    ) -> str:
        assert self.sessions is not None, "given when the services were opened"
        request = PermissionRequest(
            session_id=session_id,
            options=_OPTIONS,
            raw=msgspec.Raw(_encoder.encode(raw)),
            title=title,
            kind=kind,
            tool_call_id=call_id,
        )
        process = (await self.sessions.live(session_id)).process
        return await process.ask_about_tool(request, seconds) if process is not None else ""
