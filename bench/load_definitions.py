"""Load a folder of agents twice in a fresh process and print what it took as one JSON line.

``python -m bench.load_definitions FOLDER``: the folder is a home's agents folder.
"""

import json
import resource
import sys
import time
from pathlib import Path

from compozy.catalog.discovery import discover
from compozy.catalog.reading import AgentReader


def main(folder: Path) -> None:
    """Load cold, load unchanged, report."""
    reader = AgentReader()
    began = time.perf_counter()
    first = discover(workspace=None, additional=(), home_agents=folder, reader=reader)
    cold = time.perf_counter()
    second = discover(workspace=None, additional=(), home_agents=folder, reader=reader)
    ended = time.perf_counter()
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    told = {
        "agents": len(second.agents),
        "same": [agent.loaded.definition_digest for agent in first.agents]
        == [agent.loaded.definition_digest for agent in second.agents],
        "cold": cold - began,
        "unchanged": ended - cold,
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
