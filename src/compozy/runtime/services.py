"""The services of one running daemon, handed to every route. Built by `daemon/lifecycle.py`, in this order:
store, providers, catalog, sessions. A service never reaches into another one's state."""

from dataclasses import dataclass

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Sessions
from compozy.runtime.status import DaemonStatus
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import Store


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything a route may call."""

    home: Home
    config: Config
    store: Store
    workspaces: Workspaces
    fleet: Fleet
    sessions: Sessions
    status: DaemonStatus
