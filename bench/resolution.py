"""Resolving an agent: the whole cascade with the source and file of each value, with many providers configured."""

import statistics
import time

from bench.harness import Bed, Figure, benchmark
from bench.settings import configured_home
from compozy.config.load import load_config, read_layers
from compozy.config.places import Places
from compozy.model.definition import AgentDefinition
from compozy.runtime.derivation import derive

AREA = "Settings"
_RUNS = 201


@benchmark(
    name="resolve.agent",
    area=AREA,
    text="resolve one agent: every value with its source, file and line",
    unit="ms",
    target=1,
    how=f"in process, settings read before, median of {_RUNS}",
)
def resolve(bed: Bed) -> Figure:
    home = configured_home(bed)
    config, places = load_config(home), Places(read_layers(home))
    definition = AgentDefinition(name="reviewer", prompt="You review.")
    times = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        derive(definition, "/agents/reviewer/AGENT.md", config, places)
        times.append(time.perf_counter() - began)
    return Figure(statistics.median(times) * 1000)
