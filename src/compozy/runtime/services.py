"""The services of one running daemon, handed to every route; opened and closed here in a stated order.

Opened: store, workspaces, fleet, sessions. Closed the other way round. A service never reaches into another's state.
"""

from dataclasses import dataclass
from pathlib import Path

from compozy import __version__
from compozy.acp.client import launch
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.runtime.agent_catalog import AgentCatalog
from compozy.runtime.agent_kernel import AgentKernel
from compozy.runtime.agent_resolution import AgentResolver
from compozy.runtime.attention import Attention
from compozy.runtime.authoring import Authoring
from compozy.runtime.configs import Configs
from compozy.runtime.coordination import Coordination
from compozy.runtime.extensions import Extensions
from compozy.runtime.fleet import Fleet
from compozy.runtime.mcp.logins import McpLogins
from compozy.runtime.mcp.opening import open_servers
from compozy.runtime.mcp.source import McpSource
from compozy.runtime.mcp_view import McpViews
from compozy.runtime.permissions import Permissions
from compozy.runtime.providers import Providers
from compozy.runtime.retention import Retention
from compozy.runtime.sessions import Deps, Sessions
from compozy.runtime.sessions.people import SessionPeople
from compozy.runtime.sessions.recovery import end_recorded_processes
from compozy.runtime.sessions.startup.slots import StartupSlots
from compozy.runtime.sessions.views import SessionViews
from compozy.runtime.settings import Settings
from compozy.runtime.status import DaemonStatus
from compozy.runtime.tools.hosted import HostedTools, hosted_tools_block
from compozy.runtime.tools.identities import Identities
from compozy.runtime.tools.opening import Behind, open_tools
from compozy.runtime.tools.outside import OutsideTools
from compozy.runtime.tools.service import Tools
from compozy.runtime.trust import Trust
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import Store
from compozy.store.sqlite import SqliteStore
from compozy.tools.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything a route may call."""

    home: Home
    config: Config
    store: Store
    workspaces: Workspaces
    fleet: Fleet
    agent_catalog: AgentCatalog
    extensions: Extensions
    authoring: Authoring
    sessions: Sessions
    views: SessionViews
    people: SessionPeople
    attention: Attention
    coordination: Coordination
    kernel: AgentKernel
    tools: Tools
    callers: Identities
    hosted: HostedTools
    outside: OutsideTools
    permissions: Permissions
    trust: Trust
    configs: Configs
    resolver: AgentResolver
    status: DaemonStatus
    redactor: Redactor
    settings: Settings
    providers: Providers
    mcp_views: McpViews
    mcp_servers: McpSource
    mcp_logins: McpLogins
    retention: Retention


async def open_services(home: Home, config: Config, status: DaemonStatus, redactor: Redactor) -> Services:
    """Open the store, build every service, and set right what an earlier daemon left open.

    `redactor` is the one the log and the answers use too.

    Raises:
        StoreUnavailable: the store cannot be opened, or its file belongs to another program.
    """
    is_fresh = not home.database.exists()
    store = SqliteStore(home.database)
    await store.open()
    workspaces = Workspaces(store, user_home=_user_home(), check=lambda root: load_config(home, root))
    if is_fresh:
        await workspaces.register_user_home()
    extensions = Extensions(home)
    trust = Trust(home)
    configs = Configs(home, config, trust)
    fleet = Fleet(home, config, extensions.brought, configs)
    secrets = Secrets(home, redactor)
    registry = Registry()
    hosted = HostedTools(home, registry)
    deps = Deps(
        store=store,
        home=home,
        config=config,
        launch=launch,
        end_processes=end_recorded_processes,
        redactor=redactor,
        trust=trust,
        configs=configs,
        secrets=secrets,
        version=__version__,
        surface=hosted,
        slots=StartupSlots(tools=hosted_tools_block(configs)),
    )
    sessions = Sessions(deps, workspaces, fleet)
    authoring = Authoring(home, config, fleet, configs)
    people, views = SessionPeople(deps, sessions), SessionViews(store, sessions)
    coordination = Coordination(store, sessions, workspaces, fleet, redactor)
    kernel = AgentKernel(sessions, people, workspaces, fleet, configs, coordination)
    behind = Behind(
        home=home,
        config=config,
        store=store,
        redactor=redactor,
        workspaces=workspaces,
        fleet=fleet,
        configs=configs,
        trust=trust,
        authoring=authoring,
        sessions=sessions,
        people=people,
        views=views,
        coordination=coordination,
        kernel=kernel,
    )
    tools, callers = open_tools(behind, registry, hosted)
    servers, logins = await open_servers(behind, deps, status)
    registry.add(servers)
    hosted.covers_servers, hosted.session_ended = True, servers.session_ended
    await sessions.start()
    retention = Retention(home.root, config, store, sessions)
    retention.start()
    resolver = AgentResolver(home, fleet, configs, trust)
    status.count_executions = sessions.counts_running
    status.describe_retention = retention.health
    return Services(
        home=home,
        config=config,
        store=store,
        workspaces=workspaces,
        fleet=fleet,
        agent_catalog=AgentCatalog(fleet, store),
        extensions=extensions,
        authoring=authoring,
        sessions=sessions,
        views=views,
        people=people,
        attention=Attention(store, sessions, people),
        coordination=coordination,
        kernel=kernel,
        tools=tools,
        callers=callers,
        hosted=hosted,
        outside=OutsideTools(tools, callers),
        trust=trust,
        configs=configs,
        resolver=resolver,
        permissions=Permissions(fleet, sessions, configs, resolver),
        status=status,
        redactor=redactor,
        settings=Settings(home, config, status),
        providers=Providers(home, config, secrets, redactor),
        mcp_views=McpViews(home, trust, secrets, redactor),
        mcp_servers=servers,
        mcp_logins=logins,
        retention=retention,
    )


def _user_home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        # No HOME and no entry in the password database: then there is no such workspace.
        return None


async def stop_work(services: Services, *, seconds: float) -> None:
    """Stop every session with reason `shutdown`, so that its streams can say so; return within `seconds`."""
    await services.retention.close()
    await services.outside.close()
    await services.sessions.close(seconds=seconds)


async def close_services(services: Services) -> None:
    """Close what `open_services` opened, after the last request was answered."""
    await services.hosted.close()
    await services.mcp_logins.close()
    await services.mcp_servers.close()
    await services.fleet.close()
    await services.store.close()
