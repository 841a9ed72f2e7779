"""What every session needs from outside: store, configuration, a way to launch agents, redaction.

One record, made once by the daemon and handed down, so that tests can put a scripted agent or an empty redactor in.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from compozy.acp.contract import AgentConnection, AgentRequests, LaunchSpec
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.runtime.configs import Configs
from compozy.runtime.sessions.startup import StartupSlots
from compozy.runtime.sessions.surface import NoSurface, ToolSurface
from compozy.runtime.trust import Trust
from compozy.store.interface import ProcessRecord, Store

Launch = Callable[[LaunchSpec, AgentRequests], Awaitable[AgentConnection]]
EndProcesses = Callable[[Sequence[ProcessRecord]], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How long each step of a session may take, in seconds."""

    # npx-like launchers download their agent on first use.
    initialize: float = 180.0
    new_session: float = 120.0
    # A replay of a long history takes its time.
    load_session: float = 180.0
    answer: float = 300.0
    # A turn that is asked to end before a stop (contract §5.4 step 9).
    stop_turn: float = 5.0
    shutdown: float = 8.0


@dataclass(frozen=True, kw_only=True)
class Deps:
    """The surroundings of all sessions."""

    store: Store
    home: Home
    config: Config
    launch: Launch
    end_processes: EndProcesses
    redactor: Redactor
    secrets: Secrets
    trust: Trust
    configs: Configs
    version: str
    bounds: Bounds = Bounds()
    surface: ToolSurface = field(default_factory=NoSurface)
    slots: StartupSlots = field(default_factory=StartupSlots)
