"""Settings: reading them with many providers, and the command that prints one."""

import os
import statistics
import time
from pathlib import Path

from bench.harness import Bed, Figure, benchmark
from bench.process import COMPOZY, median_ms
from compozy.config.home import Home
from compozy.config.load import load_config

AREA = "Settings"
_RUNS = 21
_PROVIDERS = 30


def configured_home(bed: Bed) -> Home:
    """Make a home with many providers of its own."""
    home = Home(bed.make_folder("settings"))
    tables = [
        f'[providers.own-{number}]\ncommand = "agent-{number} --acp"\ndisplay_name = "Agent {number}"\n'
        f'models = {{ default = "m-{number}", curated = [{{ id = "m-{number}", context_window = 200000 }}] }}\n'
        f'[[providers.own-{number}.credential_slots]]\nname = "api_key"\ntarget_env = "OWN_{number}_API_KEY"\n'
        for number in range(_PROVIDERS)
    ]
    home.config_file.write_text('[http]\nport = 2124\n[defaults]\nprovider = "own-1"\n' + "\n".join(tables))
    return home


@benchmark(
    name="config.load",
    area=AREA,
    text=f"read and check a config.toml with {_PROVIDERS} own providers",
    unit="ms",
    target=5,
    how="in process, median of 51",
)
def load(bed: Bed) -> Figure:
    home = configured_home(bed)
    load_config(home)
    times = []
    for _ in range(51):
        began = time.perf_counter()
        load_config(home)
        times.append(time.perf_counter() - began)
    return Figure(statistics.median(times) * 1000)


@benchmark(
    name="config.get",
    area=AREA,
    text="`compozy config get http.port`",
    unit="ms",
    target=110,
    how=f"process, median of {_RUNS}",
)
def get(bed: Bed) -> Figure:
    home = configured_home(bed)
    took = median_ms(
        [COMPOZY, "config", "get", "http.port"],
        runs=_RUNS,
        env={"PATH": os.environ["PATH"], "HOME": str(Path.home()), "COMPOZY_HOME": str(home.root)},
    )
    return Figure(took.wall, took.note)
