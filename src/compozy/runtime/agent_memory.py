"""What is remembered of definitions: what clients were shown, and what folders held before each change (D4).

The first lives as long as the daemon and tells a refused author what changed meanwhile; the second is the history on
disk. Decides nothing about changes.
"""

from collections import OrderedDict
from typing import Literal

from msgspec.structs import replace

from compozy.catalog.authoring.history import AgentHistory
from compozy.catalog.authoring.states import FolderState, read_state
from compozy.catalog.discovery import Discovery
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.documents.agent_header import read_header
from compozy.documents.agents import LoadedAgent
from compozy.documents.source import SourceText
from compozy.model import times
from compozy.model.agent import Agent, Origin
from compozy.model.authoring import Kept
from compozy.model.definition import AgentDefinition
from compozy.model.errors import NotFound

# Definitions clients were shown, to tell them later what changed since; more than anybody edits at once.
_REMEMBERED = 4096
# One state is held in memory while it is packed; definitions are kilobytes, and larger folders hold data.
_STATE_BYTES = 32 << 20


class AgentMemory:
    """The memory of one home."""

    def __init__(self, home: Home, config: Config) -> None:
        section = config.history
        self.history = AgentHistory(
            home.root / "history" / "agents", max_age=section.max_age, max_bytes=section.max_bytes
        )
        self._shown: OrderedDict[str, AgentDefinition] = OrderedDict()

    def note_payload(self, agent: Agent) -> None:
        """Note what a client was shown."""
        if not agent.definition_digest or agent.definition_digest in self._shown:
            return
        self.note(agent.definition_digest, _definition_of(agent))

    def note(self, digest: str, definition: AgentDefinition) -> None:
        """Note a definition by its digest."""
        self._shown[digest] = definition
        while len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)

    def definition(self, name: str, digest: str) -> AgentDefinition | None:
        """Return what a digest stood for: what this daemon showed, else what the history kept; None when unknown."""
        shown = self._shown.get(digest)
        if shown is not None:
            return shown
        kept = self.history.with_digest(name, digest)
        if kept is None:
            return None
        try:
            text = FolderState(entries=self.history.entries(kept)).file("AGENT.md")
        except NotFound:
            # The kept state is damaged or just gone: then nobody remembers.
            return None
        return read_header(SourceText(text.decode("utf-8")), "AGENT.md").definition if text is not None else None

    def keep_again(self, folder: int, kept: Kept, found: Discovery) -> tuple[str, ...]:
        """Keep the present state of a folder that a kept state is about to replace; return what was left out."""
        present = next((a for a in (*found.agents, *found.shadowed) if str(a.loaded.path) == kept.path), None)
        digest = present.loaded.definition_digest if present else ""
        return self._store(folder, replace(kept, operation="restore", definition_digest=digest)).left_out

    def keep(self, folder: int, loaded: LoadedAgent, origin: Origin, operation: Literal["update", "delete"]) -> Kept:
        """Keep the state of an open agent folder before a change.

        Raises:
            OSError: it cannot be kept; then the change must not happen.
        """
        kept = Kept(
            hash="",
            name=loaded.name,
            path=str(loaded.path),
            origin=origin,
            operation=operation,
            at="",
            definition_digest=loaded.definition_digest,
            files=0,
            size=0,
        )
        return self._store(folder, kept)

    def _store(self, folder: int, kept: Kept) -> Kept:
        state = read_state(folder, limit=min(_STATE_BYTES, self.history.max_bytes))
        full = replace(
            kept,
            hash=state.content_hash,
            at=times.now(),
            files=state.files,
            size=state.size,
            left_out=state.left_out,
        )
        self.history.keep(full, state)
        return full


def _definition_of(agent: Agent) -> AgentDefinition:
    return AgentDefinition(
        name=agent.name,
        prompt=agent.prompt,
        provider=agent.provider,
        command=agent.command,
        model=agent.model,
        reasoning_effort=agent.reasoning_effort,
        tools=agent.tools,
        toolsets=agent.toolsets,
        deny_tools=agent.deny_tools,
        permissions=agent.permissions,
        skills_disabled=agent.skills.disabled if agent.skills else (),
        category_path=agent.category_path,
    )
