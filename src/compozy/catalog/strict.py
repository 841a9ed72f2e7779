"""The strict loader: every definition must be right, or the whole call fails (formats §12, right column).

For tools that publish a folder of agents; the product itself uses `discovery`.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from compozy.catalog.discovery import WORKSPACE_AGENTS, DiscoveredAgent
from compozy.documents.agents import AGENT_FILE, check_agent_folder, name_mismatch
from compozy.documents.files import FileProblem, component_problem, open_child_folder, open_folder
from compozy.documents.names import is_reserved
from compozy.documents.problems import DefinitionError, diagnostic
from compozy.documents.sidecars import file_diagnostic
from compozy.documents.text import shown
from compozy.model.agent import Origin


def discover_strictly(
    *, workspace: Path | None, additional: Sequence[Path] = (), home_agents: Path | None
) -> tuple[DiscoveredAgent, ...]:
    """Load all agents of all roots; the first definition of a name wins.

    Raises:
        DefinitionError: for the first thing that is wrong anywhere.
    """
    agents: dict[str, DiscoveredAgent] = {}
    roots: list[tuple[Path, Origin]] = [
        (root / WORKSPACE_AGENTS, "workspace") for root in (workspace, *additional) if root is not None
    ]
    if home_agents is not None:
        roots.append((home_agents, "global"))
    for root, origin in roots:
        for agent in _load_root(Path(os.path.abspath(root)), origin):
            agents.setdefault(agent.name, agent)
    return tuple(agents.values())


def _load_root(root: Path, origin: Origin) -> list[DiscoveredAgent]:
    try:
        handle = open_folder(root, "agents directory")
    except FileProblem as problem:
        if problem.code == "not-found":
            return []
        raise DefinitionError((file_diagnostic(problem),)) from None
    try:
        names = sorted(os.listdir(handle), key=os.fsencode)  # noqa: PTH208 - an open handle, not a path
        found = [_load_entry(handle, root, name, origin) for name in names]
    finally:
        os.close(handle)
    return [agent for agent in found if agent is not None]


def _load_entry(root_handle: int, root: Path, name: str, origin: Origin) -> DiscoveredAgent | None:
    mode = os.stat(name, dir_fd=root_handle, follow_symlinks=False).st_mode
    path = root / name
    if not (stat.S_ISDIR(mode) or stat.S_ISLNK(mode)) or is_reserved(name):
        return None
    reason = component_problem(name)
    if reason:
        message = f"agent folder {shown(name)} {reason}; rename the folder"
        raise DefinitionError((diagnostic("path-component-invalid", message, str(path)),))
    try:
        handle = open_child_folder(root_handle, name, "open agent directory", str(path))
    except FileProblem as problem:
        raise DefinitionError((file_diagnostic(problem),)) from None
    try:
        report = check_agent_folder(handle, path / AGENT_FILE)
    finally:
        os.close(handle)
    if report.loaded is None:
        if report.diagnostics[0].code == "not-found":
            return None
        raise DefinitionError(report.diagnostics)
    if report.loaded.name != name:
        raise DefinitionError((name_mismatch(report.loaded, name),))
    return DiscoveredAgent(loaded=report.loaded, name=name, origin=origin, root=root)
