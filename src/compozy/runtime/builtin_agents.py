"""The two agents that come with the program: they have no folder, and no list shows them (contract §9).

Their names are reserved, so that nothing on disk can take their place. Knows nothing of who uses them.
"""

import os
from pathlib import Path

from compozy.documents.agents import LoadedAgent
from compozy.model.definition import AgentDefinition

# Where a built-in agent lies: nothing can be read there or beside it.
NO_FILE = Path(os.devnull) / "AGENT.md"
COORDINATOR = AgentDefinition(
    name="coordinator",
    prompt=(
        "You keep the work of one workspace moving. Look at what waits and at who is free, hand each piece to the "
        "agent whose declared capabilities fit it, and say in a sentence why. You do none of the work yourself, you "
        "never claim it by a message, and you stop when nothing waits any more."
    ),
)
DREAMING_CURATOR = AgentDefinition(
    name="dreaming-curator",
    prompt=(
        "You look back over finished work and keep what will matter again: decisions with their reasons, facts about "
        "the project, what failed and how it was mended. Merge what says the same, drop what is no longer true, and "
        "add nothing that the record does not show."
    ),
)


def builtin_agent(name: str) -> LoadedAgent | None:
    """Return a built-in agent as a definition without a file, None when the name is none of theirs."""
    definition = BUILTIN_AGENTS.get(name.strip().lower())
    if definition is None:
        return None
    return LoadedAgent(path=NO_FILE, definition=definition, definition_digest="", capabilities_digest="")


BUILTIN_AGENTS: dict[str, AgentDefinition] = {agent.name: agent for agent in (COORDINATOR, DREAMING_CURATOR)}
