"""Forks writers of one agents folder and kills each at a random moment; after each kill checks what is left.

Usage: python -m tests.kit.authoring_victim FOLDER KILLS SEED. A process of its own, because forking needs one without
threads. Writers edit, copy, delete and restore; what may be seen afterwards is a complete old or new state.
"""

import itertools
import os
import random
import signal
import sys
import time
from pathlib import Path

from msgspec.structs import replace

from compozy.catalog.authoring.folders import opened
from compozy.catalog.authoring.history import AgentHistory
from compozy.catalog.authoring.states import read_state
from compozy.catalog.authoring.writes import delete_agent, duplicate_definition, restore_agent
from compozy.catalog.discovery import discover
from compozy.catalog.writing import folder_lock, update_definition
from compozy.documents.agents import load_agent
from compozy.model import times
from compozy.model.authoring import Kept

NAME, COPY = "tide-clerk", "copy"
ENOUGH = 20


class Folder:
    """The agents folder under test, with its history beside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "agents"
        self.path = self.root / NAME / "AGENT.md"
        self.copy = self.root / COPY / "AGENT.md"
        self.history = AgentHistory(folder / "history/agents", max_age=0, max_bytes=1 << 30)

    def keep(self, folder: int, _: object = None) -> tuple[str, ...]:
        state = read_state(folder, limit=1 << 20)
        kept = Kept(
            hash=state.content_hash,
            name=NAME,
            path=str(self.path),
            origin="workspace",
            operation="update",
            at=times.now(),
            definition_digest="",
            files=state.files,
            size=state.size,
        )
        self.history.keep(kept, state)
        return state.left_out

    def begin(self) -> None:
        self.path.parent.mkdir(parents=True)
        self.path.write_text(f"---\nname: {NAME}\nmodel: m0\n---\n\n" + "0 Keep the tables.\n" * 400)
        (self.path.parent / "capabilities.toml").write_text(
            '[[capabilities]]\nid = "a"\nsummary = "s"\noutcome = "o"\n'
        )

    def write_once(self) -> None:
        """Edit, copy, delete the copy, put the edited state back."""
        loaded = load_agent(self.path)
        number = int(loaded.definition.model[1:]) + 1
        wanted = replace(loaded.definition, model=f"m{number}", prompt=f"{number} Keep the tables.\n" * 400)
        update_definition(self.path, wanted, expected_digest=loaded.definition_digest, keep=self.keep)
        if not self.copy.exists():
            duplicate_definition(self.path, self.root, replace(wanted, name=COPY))
        delete_agent(self.copy, self.root, keep=lambda folder: None)
        with opened(self.path.parent) as handle:
            state = read_state(handle, limit=1 << 20)
        restore_agent(self.path, self.root, state.entries, keep=self.keep)

    def check(self) -> None:
        """Nothing is half written, everything in force loads, no lock is left, kept states can be restored."""
        found = discover(workspace=None, home_agents=self.root)
        assert not found.diagnostics, found.diagnostics
        names = [agent.name for agent in found.agents]
        assert NAME in names and set(names) <= {NAME, COPY}, names
        for agent in found.agents:
            lines = set(agent.loaded.definition.prompt.splitlines())
            assert len(lines) == 1, "one state, no mixture"
            assert agent.loaded.definition.model == f"m{lines.pop().split()[0]}"
            assert len(agent.loaded.definition.capabilities or ()) == 1
        with folder_lock(self.root), folder_lock(self.path.parent):
            pass


def main(folder: Path, kills: int, seed: str) -> None:
    """Fork, kill, check, again."""
    place, draw = Folder(folder), random.Random(seed)
    place.begin()
    began = time.monotonic()
    place.write_once()
    # How far a writer gets in a time depends on the machine: the moment is drawn from two rounds of its work.
    longest = 2 * (time.monotonic() - began)
    for number in itertools.count():
        # Where the machine is so busy that hardly a writer gets anywhere, more of them.
        if number >= kills and (len(place.history.states(NAME)) > ENOUGH or number >= 20 * kills):
            break
        child = _start(place)
        time.sleep(draw.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the writer ended by itself: look at its error above"
        place.check()
    kept = place.history.states(NAME)
    assert len(kept) > ENOUGH, "writers got far enough to mean something"
    for state in kept[:ENOUGH]:
        place.history.entries(state)
    print(f"{len(kept)} states were kept")


def _start(place: Folder) -> int:
    """Fork a writer and wait until it begins."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, b"x")
            while True:
                place.write_once()
        finally:
            os._exit(1)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    return child


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
