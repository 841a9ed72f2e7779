"""Creating, changing, copying, deleting and restoring agents: one implementation for every surface (contract §3.3).

Decides which file is meant and whether the change is allowed (formats §13; decisions D3, D4, D12); the files are
written by `catalog.authoring`. Every change keeps the whole folder's previous state first. Answers are read back
from the disk, so that their digest is that of the next read, and carry no secret.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar
from weakref import WeakValueDictionary

from msgspec.structs import replace

from compozy.catalog.authoring.history import place_of
from compozy.catalog.authoring.writes import (
    create_definition,
    delete_agent,
    duplicate_definition,
    restore_agent,
    taken,
)
from compozy.catalog.discovery import WORKSPACE_AGENTS, DiscoveredAgent, Discovery
from compozy.catalog.writing import StaleDefinition, update_definition
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.documents.agent_header import read_header
from compozy.documents.agents import LoadedAgent
from compozy.documents.canonical import NoDigest, render
from compozy.documents.names import is_reserved, name_problem
from compozy.documents.source import SourceText
from compozy.documents.text import trim
from compozy.model.agent import Agent, Origin
from compozy.model.authoring import Deleted, Edit, Kept
from compozy.model.definition import AgentDefinition
from compozy.model.errors import InternalError, InvalidRequest, NotFound, Unprocessable
from compozy.model.workspace import Workspace
from compozy.runtime.agent_memory import AgentMemory
from compozy.runtime.agent_view import agent_payload, with_whole_command
from compozy.runtime.configs import Configs
from compozy.runtime.edit_conflict import sentence, three_way
from compozy.runtime.fleet import Fleet
from compozy.runtime.resolution import resolve_runtime
from compozy.runtime.workspaces import require_root

Scope = Literal["global", "workspace"]
T = TypeVar("T")


class Authoring:
    """Writes definitions. Which agents are visible is asked of the fleet on every call."""

    def __init__(self, home: Home, config: Config, fleet: Fleet, configs: Configs) -> None:
        self._home = home
        self._config = config
        self._configs = configs
        self._fleet = fleet
        self._memory = AgentMemory(home, config)
        # One write per place at a time: of the daemon's few threads only one waits for another program's lock there.
        self._turns: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def remember(self, agent: Agent) -> None:
        """Note what a client was shown, so that a later conflict can say what changed since."""
        self._memory.note_payload(agent)

    async def create(self, wanted: AgentDefinition, scope: Scope, workspace: Workspace | None) -> Agent:
        """Write a new agent.

        Raises:
            Unprocessable: the name is reserved.
            InvalidRequest: the definition is not valid, or its runtime cannot be resolved.
            Conflict: the name is taken in that place.
        """
        _check_name(wanted.name)
        wanted = with_whole_command(wanted, None)
        _check_definition(wanted)
        await self._check_runtime(wanted, scope, workspace)
        root, origin = self._root(scope, workspace)
        found = await self._fleet.look(workspace, wanted.name)
        self._refuse_taken(found, wanted.name, root)
        loaded = await self._on_disk(root, lambda: create_definition(root, wanted))
        return await self._payload(loaded, origin, root, workspace)

    async def update(
        self, name: str, wanted: AgentDefinition, expected_digest: str, workspace: Workspace | None
    ) -> tuple[Agent, Edit]:
        """Replace the payload fields of the agent in force, if it still has the digest the caller saw.

        Raises:
            Unprocessable: the name is reserved.
            NotFound: there is no such agent.
            Conflict: it changed meanwhile; `details` tells what.
            InvalidRequest: the result would not be valid.
        """
        _refuse_reserved(name)
        if trim(wanted.name) != name:
            raise InvalidRequest(
                f"agent.name is {wanted.name!r} and the path says {name!r}; duplicate the agent to get another name"
            )
        if not expected_digest.strip():
            raise InvalidRequest("expected_digest is required; read the agent and send the digest you saw")
        winner = self._winner(await self._fleet.look(workspace, name), name, workspace)
        present = winner.loaded.definition
        wanted = with_whole_command(wanted, present)
        _check_definition(replace(wanted, mcp_servers=(), hooks=()))
        if (present.provider, present.command) != (trim(wanted.provider), trim(wanted.command)):
            await self._check_runtime(wanted, winner.origin, workspace)
        path = winner.loaded.path

        def write() -> tuple[LoadedAgent, Edit]:
            done = update_definition(
                path,
                wanted,
                expected_digest=expected_digest.strip(),
                keep=lambda folder, loaded: self._memory.keep(folder, loaded, winner.origin, "update"),
            )
            return done.loaded, Edit(changed=done.changed, in_place=done.in_place, note=done.note)

        try:
            loaded, edit = await self._on_disk(path, write)
        except StaleDefinition as conflict:
            base = await asyncio.to_thread(self._memory.definition, name, expected_digest.strip())
            facts = three_way(base, wanted, conflict.current.definition)
            conflict.details.update(facts)
            conflict.message = (
                f"agent {name!r} has changed since you read it: {sentence(facts)}; read it again, then edit"
            )
            conflict.hint = f"compozy agent info {name}"
            raise
        self._memory.note(winner.loaded.definition_digest, present)
        return await self._payload(loaded, winner.origin, winner.root, workspace), edit

    async def duplicate(
        self,
        name: str,
        new_name: str,
        *,
        scope: Scope | None,
        workspace: Workspace | None,
        overrides: Callable[[AgentDefinition], AgentDefinition],
    ) -> Agent:
        """Copy the whole folder of the agent in force under a new name.

        Raises:
            Unprocessable: the new name is reserved.
            NotFound: there is no such agent.
            Conflict: the target exists.
            InvalidRequest: the copy would not be valid, or the folder holds a link or a special file.
        """
        _check_name(new_name)
        found = await self._fleet.look(workspace, name)
        winner = self._winner(found, name, workspace)
        present = winner.loaded.definition
        wanted = with_whole_command(replace(overrides(present), name=trim(new_name)), present)
        _check_definition(replace(wanted, mcp_servers=(), hooks=()))
        await self._check_runtime(wanted, scope or winner.origin, workspace)
        root, origin = self._root(scope or winner.origin, workspace)
        self._refuse_taken(found, wanted.name, root)
        loaded = await self._on_disk(root, lambda: duplicate_definition(winner.loaded.path, root, wanted))
        return await self._payload(loaded, origin, root, workspace)

    async def delete(self, name: str, workspace: Workspace | None) -> Deleted:
        """Delete the whole folder of the agent in force; sessions stay.

        Raises:
            Unprocessable: the name is reserved.
            NotFound: there is no such agent.
            InvalidRequest: it lies where it cannot be deleted safely.
        """
        _refuse_reserved(name)
        winner = self._winner(await self._fleet.look(workspace, name), name, workspace)
        path, root = winner.loaded.path, winner.root
        kept: list[Kept] = []

        def keep(folder: int) -> None:
            kept.append(self._memory.keep(folder, winner.loaded, winner.origin, "delete"))

        await self._on_disk(root, lambda: delete_agent(path, root, keep=keep))
        self._fleet.views.forget()
        now = (await self._fleet.look(workspace, name)).agent(name)
        return Deleted(
            name=name,
            origin=winner.origin,
            unshadowed_origin=now.origin if now else None,
            not_kept=kept[0].left_out,
        )

    async def history(self, name: str, workspace: Workspace | None) -> tuple[Kept, ...]:
        """Return the kept states of an agent in the places visible from here, newest first."""
        places = await self._places(name, workspace)
        return tuple(
            kept for kept in await asyncio.to_thread(self._memory.history.states, name) if place_of(kept) in places
        )

    async def restore(
        self, name: str, wanted: str, workspace: Workspace | None, *, expected_digest: str = ""
    ) -> tuple[Agent, Kept]:
        """Give an agent's folder the content of a kept state; its present state is kept first.

        With `expected_digest` only if the folder still holds the definition that the caller saw.

        Raises:
            NotFound: no such state.
            InvalidRequest: the hash is ambiguous, or the state does not load.
            Conflict: another folder of that place has the name meanwhile, or the definition is another by now.
        """
        _refuse_reserved(name)
        places = await self._places(name, workspace)
        kept = await asyncio.to_thread(self._memory.history.find, name, wanted, places)
        path = Path(kept.path)
        root = path.parent.parent
        found = await self._fleet.look(workspace, name)
        others = [agent for agent in found.agents if agent.root == root and agent.name == name]
        if others and others[0].loaded.path != path:
            raise taken(name, others[0].loaded.path)
        origin: Origin = "global" if kept.origin == "global" else "workspace"

        def write() -> LoadedAgent | None:
            entries = self._memory.history.entries(kept)
            return restore_agent(
                path,
                root,
                entries,
                keep=lambda folder: self._memory.keep_again(folder, kept, found),
                expected_digest=expected_digest.strip(),
            )

        loaded = await self._on_disk(root, write)
        if loaded is None:
            raise InvalidRequest(
                f"agent {name!r} is restored and does not load; see why: `compozy agent check`", code="agent_invalid"
            )
        return await self._payload(loaded, origin, root, workspace), kept

    async def _on_disk(self, place: Path, write: Callable[[], T]) -> T:
        """Run a write in a thread; what the system refuses becomes one sentence with the path."""

        def guarded() -> T:
            with _system_errors():
                return write()

        turn = self._turns.setdefault(place, asyncio.Lock())
        async with turn:
            return await asyncio.to_thread(guarded)

    async def _places(self, name: str, workspace: Workspace | None) -> frozenset[str]:
        found = await self._fleet.look(workspace, name)
        return frozenset(source.path for source in found.sources)

    async def _check_runtime(self, wanted: AgentDefinition, scope: Scope, workspace: Workspace | None) -> None:
        """Refuse a definition whose provider or command could not start where it will lie."""
        root = workspace.root_dir if workspace and scope == "workspace" else ""
        resolve_runtime(wanted, await self._configs.of(root))

    def _root(self, scope: Scope, workspace: Workspace | None) -> tuple[Path, Origin]:
        if scope == "global":
            return self._home.agents, "global"
        if workspace is None:
            raise InvalidRequest("scope 'workspace' needs a workspace: give its id, name or path")
        require_root(workspace)
        return Path(workspace.root_dir) / WORKSPACE_AGENTS, "workspace"

    def _winner(self, found: Discovery, name: str, workspace: Workspace | None) -> DiscoveredAgent:
        winner = found.agent(name)
        if winner is not None:
            return winner
        for item in found.diagnostics:
            if item.name == name and item.diagnostic.severity == "error":
                raise InvalidRequest(
                    f"agent {name!r} does not load: {item.message} ({item.path}); run `compozy agent check --fix`",
                    code="agent_invalid",
                )
        where = f"in workspace {workspace.name!r}" if workspace else "globally (--workspace names a workspace)"
        raise NotFound(f"agent {name!r} is not defined {where}: see `compozy agent list`", code="agent_not_found")

    def _refuse_taken(self, found: Discovery, name: str, root: Path) -> None:
        """A second folder of one root with that name would decide by its own name which one counts (D7)."""
        for agent in (*found.agents, *found.shadowed):
            if agent.name == name and agent.root == root:
                raise taken(name, agent.loaded.path)

    async def _payload(self, loaded: LoadedAgent, origin: Origin, root: Path, workspace: Workspace | None) -> Agent:
        """Read the agent back as the next reader will; a definition that is not in force here is shown as written."""
        self._memory.note(loaded.definition_digest, loaded.definition)
        self._fleet.views.forget()
        try:
            agent = await self._fleet.get(loaded.name, workspace)
        except NotFound:
            agent = None
        if agent is not None and (agent.path, agent.definition_digest) == (
            str(loaded.path),
            loaded.definition_digest,
        ):
            return agent
        found = DiscoveredAgent(loaded=loaded, name=loaded.name, origin=origin, root=root)
        return agent_payload(found, self._config, workspace.id if workspace else "")


@contextmanager
def _system_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        path = error.filename if isinstance(error.filename, str) else "the agent's folder"
        reason = (error.strerror or str(error)).lower()
        raise InternalError(
            f"could not write {path!r}: {reason}; nothing was changed", code="write_failed"
        ) from error


def _refuse_reserved(name: str) -> None:
    if is_reserved(name):
        raise Unprocessable(
            f"agent name {name!r} is reserved; choose another name", code="agent_name_reserved", diagnostic=True
        )


def _check_name(name: str) -> None:
    _refuse_reserved(name)
    problem = name_problem(name)
    if problem is not None:
        raise InvalidRequest(problem.message, code=problem.code)


def _check_definition(definition: AgentDefinition) -> None:
    """Refuse what would not load, with the loader's own first message."""
    try:
        text = render(definition)
    except NoDigest as error:
        raise InvalidRequest(error.message, code=error.code) from error
    errors = read_header(SourceText(text), "AGENT.md").errors
    if errors:
        raise InvalidRequest(f"{errors[0].message}; correct it and send it again", code=errors[0].code)
