"""Putting the tools of one daemon together: sources, registry, calls, hosted surface. Other sources come in here."""

from dataclasses import dataclass

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.runtime.agent_kernel import AgentKernel
from compozy.runtime.authoring import Authoring
from compozy.runtime.configs import Configs
from compozy.runtime.coordination import Coordination
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.people import SessionPeople
from compozy.runtime.sessions.views import SessionViews
from compozy.runtime.tools.asking import Desk
from compozy.runtime.tools.calls import Calls
from compozy.runtime.tools.hosted import HostedTools
from compozy.runtime.tools.identities import Identities
from compozy.runtime.tools.native.access import SessionReach
from compozy.runtime.tools.native.agents import AgentTools
from compozy.runtime.tools.native.children import ChildTools
from compozy.runtime.tools.native.coordination import CoordinationTools
from compozy.runtime.tools.native.finding import FindingTools
from compozy.runtime.tools.native.kit import NativeSource
from compozy.runtime.tools.native.places import Places
from compozy.runtime.tools.native.sessions import SessionTools
from compozy.runtime.tools.native.skills import SkillTools
from compozy.runtime.tools.native.steering import SteeringTools
from compozy.runtime.tools.native.workspaces import WorkspaceTools
from compozy.runtime.tools.service import Tools
from compozy.runtime.trust import Trust
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import Store
from compozy.tools.artifacts import ArtifactStore
from compozy.tools.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Behind:
    """The services behind the built-in tools."""

    home: Home
    config: Config
    store: Store
    redactor: Redactor
    workspaces: Workspaces
    fleet: Fleet
    configs: Configs
    trust: Trust
    authoring: Authoring
    sessions: Sessions
    people: SessionPeople
    views: SessionViews
    coordination: Coordination
    kernel: AgentKernel


def open_tools(behind: Behind, registry: Registry, hosted: HostedTools) -> tuple[Tools, Identities]:
    """Fill the registry with the built-in tools and attach the hosted surface, which sessions have had all along."""
    desk = Desk()
    desk.sessions = behind.sessions
    artifacts = ArtifactStore(behind.home.root / "tool-artifacts")
    calls = Calls(
        behind.store,
        registry,
        artifacts,
        behind.redactor,
        approval_seconds=float(behind.config.tools.policy.approval_timeout_seconds),
        ask=desk.ask,
    )
    tools = Tools(registry, artifacts, calls)
    identities = Identities(
        behind.home, behind.workspaces, behind.fleet, behind.sessions, behind.configs, behind.trust
    )
    places = Places(behind.workspaces, desk.ask_place)
    reach = SessionReach(behind.sessions)
    finding = FindingTools(identities.of_scope)
    finding.service = tools
    groups = (
        finding,
        SkillTools(behind.home, behind.configs, behind.fleet, places),
        AgentTools(behind.fleet, behind.authoring, places),
        WorkspaceTools(behind.home, behind.workspaces, behind.fleet, behind.sessions, places),
        SessionTools(behind.sessions, reach),
        SteeringTools(behind.sessions, behind.people, behind.views, reach),
        ChildTools(behind.sessions, places),
        CoordinationTools(behind.coordination, behind.kernel),
    )
    found = [tool for group in groups for tool in group.tools()]
    registry.add(NativeSource(found, identities.actor_of))
    hosted.attach(tools, identities)
    return tools, identities
