"""Resolving a named agent in a workspace for people: definition, settings, trust, and the derivation of each value.

Reads files and starts nothing. The two built-in agents resolve without a folder (contract §9).
"""

import asyncio
import contextlib
from pathlib import Path

from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.load import read_layers
from compozy.config.places import BUILT_IN, Places
from compozy.documents.agents import LoadedAgent
from compozy.model.agent import Origin
from compozy.model.resolution import AgentResolution
from compozy.model.workspace import Workspace
from compozy.runtime.builtin_agents import BUILTIN_AGENTS
from compozy.runtime.configs import Configs
from compozy.runtime.derivation import derive
from compozy.runtime.fleet import Fleet
from compozy.runtime.mcp_servers import McpAsk, resolve_mcp_servers
from compozy.runtime.trust import Trust, session_provider


class AgentResolver:
    """Resolves agents of one home."""

    def __init__(self, home: Home, fleet: Fleet, configs: Configs, trust: Trust) -> None:
        self._home = home
        self._fleet = fleet
        self._configs = configs
        self._trust = trust

    async def resolve(self, name: str, workspace: Workspace | None) -> AgentResolution:
        """Return the derivation of an agent.

        Raises:
            InvalidRequest: no such agent, it does not load, or a value cannot be resolved.
            ConfigError: a configuration file has mistakes.
        """
        root = workspace.root_dir if workspace else ""
        config = await self._configs.of(root)
        places = await asyncio.to_thread(self._places, root)
        builtin = BUILTIN_AGENTS.get(name.strip().lower())
        workspace_id = workspace.id if workspace else ""
        if builtin is not None:
            return AgentResolution(
                agent=builtin.name,
                path="",
                definition_digest="",
                values=derive(builtin, BUILT_IN, config, places),
                trusted=True,
                workspace_id=workspace_id,
                builtin=True,
            )
        found = await self._fleet.find(name, workspace)
        loaded, origin = found.loaded, found.origin
        trusted, is_capped = await asyncio.to_thread(self._trusted, loaded, origin, workspace)
        return AgentResolution(
            agent=loaded.definition.name,
            path=str(loaded.path),
            definition_digest=loaded.definition_digest,
            values=derive(loaded.definition, str(loaded.path), config, places, is_capped=is_capped),
            trusted=trusted,
            workspace_id=workspace_id,
        )

    async def is_capped(self, loaded: LoadedAgent, origin: Origin, workspace: Workspace | None) -> bool:
        """Whether the agent's mode is capped at the settings' because nobody trusted it."""
        return (await asyncio.to_thread(self._trusted, loaded, origin, workspace))[1]

    def _places(self, root: str) -> Places:
        path = Path(root) if root else None
        return Places(read_layers(self._home, path, is_trusted=self._trust.trusts_file()))

    def _trusted(self, loaded: LoadedAgent, origin: Origin, workspace: Workspace | None) -> tuple[bool, bool]:
        """Return whether a session could start, and whether its permissions are capped."""
        config = self._configs.home_config
        if workspace is None or config.trust.mode == "off":
            return True, False
        provider = session_provider(loaded.definition, config)
        servers = None
        with contextlib.suppress(ConfigError):
            ask = McpAsk(workspace=workspace, agent=loaded, origin=origin)
            servers = resolve_mcp_servers(self._home, self._trust, config, ask)
        items = self._trust.items([(loaded, origin)], workspace, config, provider=provider, servers=servers)
        missing = [item for item in items if not item.trusted]
        capped = any(item.kind == "permissions" and item.path == str(loaded.path) for item in missing)
        return not any(item.required for item in missing), capped
