"""network_peers, network_send, network_inbox: sessions of one workspace write to each other (contract §6.2; D27).

And session_notify: a session calls for its person.
"""

from typing import Annotated, Literal

from msgspec import Meta

from compozy.model.errors import InvalidRequest
from compozy.model.session import Session
from compozy.runtime.agent_kernel import BODY_LENGTH, TITLE_LENGTH, AgentKernel
from compozy.runtime.coordination import MOST_PEERS, TEXT_BYTES, Coordination
from compozy.runtime.tools.native.kit import COORDINATION, SESSIONS, Actor, Arguments, NativeTool, native, refuse

# A capability's record has texts and lists of texts only.
_Body = dict[str, str | dict[str, str | list[str]]]


class NetworkPeers(Arguments, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=MOST_PEERS, description="How many at most.")] = 50


class NetworkSend(Arguments, frozen=True, kw_only=True):
    to: Annotated[str, Meta(min_length=1, max_length=300, description="A peer_id or session_id of network_peers.")]
    kind: Literal["text", "capability"] = "text"
    text: Annotated[str, Meta(max_length=TEXT_BYTES, description="What to say, for kind text.")] = ""
    capability: Annotated[
        str, Meta(description='For kind capability: one of your agent\'s own, "ID", "ID@VERSION" or "ID@sha256:…".')
    ] = ""
    body: Annotated[
        _Body,
        Meta(description="For kind capability: {agent, capability, digest} as it was exported or received."),
    ] = {}


class NetworkInbox(Arguments, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=100, description="How many at most.")] = 20
    mark: Annotated[bool, Meta(description="Whether what is shown counts as told; else the next turn tells it.")] = (
        True
    )


class SessionNotify(Arguments, frozen=True, kw_only=True):
    title: Annotated[str, Meta(min_length=1, max_length=TITLE_LENGTH, description="What it is about, in a line.")]
    body: Annotated[str, Meta(max_length=BODY_LENGTH, description="More about it.")] = ""


class CoordinationTools:
    """The tools about messages."""

    def __init__(self, coordination: Coordination, kernel: AgentKernel) -> None:
        self._coordination = coordination
        self._kernel = kernel

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        group = (COORDINATION,)
        return (
            native(
                "network_peers",
                NetworkPeers,
                self._peers,
                "List the sessions of this workspace that you can write to, with what their agents can do in brief.",
                title="List peers",
                toolsets=group,
                hints=("who else", "other agents", "colleagues", "capabilities"),
            ),
            native(
                "network_send",
                NetworkSend,
                self._send,
                "Send a peer a text or a capability. It is stored and told when the peer's next turn begins.",
                title="Send a message",
                toolsets=group,
                risk="mutating",
                hints=("message", "tell another agent", "hand over", "share a capability"),
            ),
            native(
                "network_inbox",
                NetworkInbox,
                self._inbox,
                "Read the newest messages that peers sent you.",
                title="Read messages",
                toolsets=group,
                hints=("messages", "mail", "answers"),
            ),
            native(
                "session_notify",
                SessionNotify,
                self._notify,
                "Tell your person something where all sessions are watched. Nobody answers; ten a minute at most.",
                title="Tell the person",
                toolsets=(SESSIONS,),
                hints=("notify", "alert", "tell the user"),
            ),
        )

    async def _peers(self, actor: Actor, given: NetworkPeers) -> object:
        return {"peers": await self._coordination.peers(_session(actor), limit=given.limit)}

    async def _send(self, actor: Actor, given: NetworkSend) -> object:
        sender = _session(actor)
        if given.kind == "text":
            if given.capability or given.body:
                raise InvalidRequest("a text has no capability and no body: send kind capability")
            return await self._coordination.send_text(sender, given.to, given.text)
        if given.text or bool(given.capability) == bool(given.body):
            raise InvalidRequest("a message of kind capability has either capability or body, and no text")
        body: dict[str, object] = dict(given.body)
        body = body or await self._coordination.own_capability(sender, given.capability)
        return await self._coordination.send_capability(sender, given.to, body)

    async def _inbox(self, actor: Actor, given: NetworkInbox) -> object:
        return await self._coordination.inbox(_session(actor).id, limit=given.limit, mark=given.mark)

    async def _notify(self, actor: Actor, given: SessionNotify) -> object:
        return await self._kernel.notify(_session(actor), given.title, given.body)


def _session(actor: Actor) -> Session:
    if actor.session is None:
        raise refuse("only a session has peers and an inbox: name one with --session, or prompt it")
    return actor.session
