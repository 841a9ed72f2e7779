"""The typed client: one method for each operation of the API, by resource (`compozy.Client`).

    with compozy.Client() as client:
        session = client.sessions.create(workspace_path="/repo", agent="reviewer")
        for frame in client.prompt(session, "review the last change"):
            ...

The command line is written on it. Answers are the records the daemon encodes; fields that a newer daemon adds are
ignored. A group of calls is loaded when it is first used, because the start-up time of the command line counts.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from compozy.client.connect import connect
from compozy.client.daemon_client import DaemonClient
from compozy.config.home import Home

if TYPE_CHECKING:
    from compozy.client.calls.agent_kernel import KernelCalls
    from compozy.client.calls.agents import AgentCalls
    from compozy.client.calls.attention import AttentionCalls
    from compozy.client.calls.daemon import DaemonCalls
    from compozy.client.calls.extensions import ExtensionCalls
    from compozy.client.calls.mcp import McpCalls
    from compozy.client.calls.ocm import OcmCalls
    from compozy.client.calls.providers import ProviderCalls
    from compozy.client.calls.roles import RoleCalls
    from compozy.client.calls.sessions import SessionCalls
    from compozy.client.calls.settings import SettingsCalls
    from compozy.client.calls.tools import ToolCalls
    from compozy.client.calls.trust import TrustCalls
    from compozy.client.calls.workspaces import WorkspaceCalls
    from compozy.model.session import Session


class Client:
    """One daemon, typed. Not for several threads at once: give each its own.

    Args:
        home: the home whose daemon to use; `COMPOZY_HOME`, else `~/.compozy`, when omitted.
        transport: an open connection to use instead.

    Raises:
        DaemonUnreachable: no daemon runs; start one with `compozy daemon start`.
    """

    def __init__(self, home: Path | None = None, *, transport: DaemonClient | None = None) -> None:
        self.transport: DaemonClient = transport or connect(
            Home(home) if home is not None else Home.from_environment()
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; sessions go on in the daemon."""
        self.transport.close()

    def kernel(self, session_id: str, agent_name: str) -> "KernelCalls":
        """Return the calls of a session's agent about itself."""
        from compozy.client.calls.agent_kernel import KernelCalls  # noqa: PLC0415 - start-up cost

        return KernelCalls(self.transport, session_id, agent_name)

    def prompt(self, session: "Session", message: str, *, idempotency_key: str = "") -> Iterator[dict[str, object]]:
        """Send a prompt and yield the frames of its turn until it ends; the turn goes on when you stop reading.

        The same `idempotency_key` with the same message never starts a second turn; then nothing is yielded.
        """
        from compozy.model import ids  # noqa: PLC0415 - start-up cost

        message_id = ids.new_event_id()
        body = {"message": message, "message_id": message_id, "idempotency_key": idempotency_key or message_id}
        with self.sessions.prompt(session, body) as stream:
            for frame in stream:
                if frame is not None:
                    yield frame

    @cached_property
    def agents(self) -> "AgentCalls":
        from compozy.client.calls.agents import AgentCalls  # noqa: PLC0415 - start-up cost

        return AgentCalls(self.transport)

    @cached_property
    def attention(self) -> "AttentionCalls":
        from compozy.client.calls.attention import AttentionCalls  # noqa: PLC0415 - start-up cost

        return AttentionCalls(self.transport)

    @cached_property
    def daemon(self) -> "DaemonCalls":
        from compozy.client.calls.daemon import DaemonCalls  # noqa: PLC0415 - start-up cost

        return DaemonCalls(self.transport)

    @cached_property
    def extensions(self) -> "ExtensionCalls":
        from compozy.client.calls.extensions import ExtensionCalls  # noqa: PLC0415 - start-up cost

        return ExtensionCalls(self.transport)

    @cached_property
    def mcp(self) -> "McpCalls":
        from compozy.client.calls.mcp import McpCalls  # noqa: PLC0415 - start-up cost

        return McpCalls(self.transport)

    @cached_property
    def ocm(self) -> "OcmCalls":
        from compozy.client.calls.ocm import OcmCalls  # noqa: PLC0415 - start-up cost

        return OcmCalls(self.transport)

    @cached_property
    def providers(self) -> "ProviderCalls":
        from compozy.client.calls.providers import ProviderCalls  # noqa: PLC0415 - start-up cost

        return ProviderCalls(self.transport)

    @cached_property
    def roles(self) -> "RoleCalls":
        from compozy.client.calls.roles import RoleCalls  # noqa: PLC0415 - start-up cost

        return RoleCalls(self.transport)

    @cached_property
    def sessions(self) -> "SessionCalls":
        from compozy.client.calls.sessions import SessionCalls  # noqa: PLC0415 - start-up cost

        return SessionCalls(self.transport)

    @cached_property
    def settings(self) -> "SettingsCalls":
        from compozy.client.calls.settings import SettingsCalls  # noqa: PLC0415 - start-up cost

        return SettingsCalls(self.transport)

    @cached_property
    def tools(self) -> "ToolCalls":
        from compozy.client.calls.tools import ToolCalls  # noqa: PLC0415 - start-up cost

        return ToolCalls(self.transport)

    @cached_property
    def trust(self) -> "TrustCalls":
        from compozy.client.calls.trust import TrustCalls  # noqa: PLC0415 - start-up cost

        return TrustCalls(self.transport)

    @cached_property
    def workspaces(self) -> "WorkspaceCalls":
        from compozy.client.calls.workspaces import WorkspaceCalls  # noqa: PLC0415 - start-up cost

        return WorkspaceCalls(self.transport)
