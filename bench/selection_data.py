"""The selection data: ToolE (MIT) and BFCL (Apache-2.0), which are never part of the project, and our own.

COMPOZY_SELECTION_DATA names the folder of the first two; without it, `../shared/data` beside the project. Absent
files skip by name. Ours is `data/small_catalogs.jsonl`; the README beside it says what it is.
"""

import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.harness import ROOT, Missing
from compozy.ocm.selection.representative import choose_examples
from compozy.ocm.target import Target

SMALL = Path(__file__).parent / "data/small_catalogs.jsonl"
EXAMPLES = 8
_SEED = 11
Row = Mapping[str, object]


def folder() -> Path:
    """Return where the data lies."""
    named = os.environ.get("COMPOZY_SELECTION_DATA")
    if named:
        return Path(named)
    places = (ROOT.parent / "shared" / "data", ROOT.parents[1] / "shared" / "data")
    return next((place for place in places if place.is_dir()), places[0])


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a JSON-lines file.

    Raises:
        Missing: it is not there.
    """
    path = folder() / name
    if not path.is_file():
        raise Missing(f"{name} is not in {folder()}; set COMPOZY_SELECTION_DATA")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tools(examples: Mapping[str, Sequence[str]] | None = None) -> list[Target]:
    """Return ToolE's tools as targets, with examples where given.

    Raises:
        Missing: the data is not there.
    """
    path = folder() / "toole/tools.json"
    if not path.is_file():
        raise Missing(f"toole/tools.json is not in {folder()}; set COMPOZY_SELECTION_DATA")
    described: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    chosen = examples or {}
    return [
        Target(id=name, kind="tool", name=name, description=text, examples=tuple(chosen.get(name, ())))
        for name, text in described.items()
    ]


class Catalogue(NamedTuple):
    """A small catalogue of our own: its tools, and tasks with the tool that is right, or None."""

    tools: list[Target]
    tasks: list[tuple[str, str | None]]


def small_catalogues() -> Iterator[Catalogue]:
    """Yield our own catalogues."""
    for line in SMALL.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Catalogue(
            candidates({"candidates": row["tools"]}), [(one["task"], one["tool"]) for one in row["tasks"]]
        )


def training_tasks() -> dict[str, list[str]]:
    """Return the training tasks of each tool."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows("toole/train.jsonl"):
        found[row["tool"]].append(row["query"])
    return found


def examples(*, representative: bool) -> dict[str, list[str]]:
    """Return eight training tasks of each tool: the most representative ones, or some at random."""
    chance = random.Random(_SEED)
    tasks = training_tasks()
    if representative:
        return {name: choose_examples(found, EXAMPLES) for name, found in tasks.items()}
    return {name: chance.sample(found, min(EXAMPLES, len(found))) for name, found in tasks.items()}


def candidates(row: Row) -> list[Target]:
    """Return the candidates of a row as targets."""
    given = row["candidates"]
    assert isinstance(given, list)
    return [
        Target(
            id=one["name"],
            kind="tool",
            name=one["name"],
            description=one.get("description") or one["name"],
            metadata={"parameters": one.get("parameters", {})},
        )
        for one in given
    ]
