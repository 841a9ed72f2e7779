"""What a refused author is told rests on: shown definitions, else kept states (decisions D4)."""

import os
from pathlib import Path

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.documents.agents import load_agent
from compozy.runtime.agent_memory import AgentMemory
from tests.kit.agent_files import write_agent


def memory(folder: Path) -> AgentMemory:
    home = Home(folder / "home")
    home.create()
    return AgentMemory(home, Config())


def test_a_definition_is_remembered_by_what_was_shown_or_by_what_was_kept(tmp_path: Path) -> None:
    path = write_agent(tmp_path, "clerk", extra="model: m\n")
    loaded = load_agent(path)
    shown, kept = memory(tmp_path / "a"), memory(tmp_path / "b")
    shown.note(loaded.definition_digest, loaded.definition)
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        kept.keep(handle, loaded, "global", "update")
    finally:
        os.close(handle)
    assert shown.definition("clerk", loaded.definition_digest) == loaded.definition
    assert kept.definition("clerk", loaded.definition_digest) == loaded.definition
    assert shown.definition("clerk", "0" * 64) is None is kept.definition("clerk", "0" * 64)
    for state in (tmp_path / "b/home/history").rglob("*.state"):
        state.write_bytes(state.read_bytes()[:-3])
    assert kept.definition("clerk", loaded.definition_digest) is None, "a damaged state is none"
