"""An extension's folder: `extension.toml` and the agents it brings, checked whole before it is used (decisions D13).

Stricter than discovery, because what is refused here was made by somebody else: no links anywhere in the tree, no
path that leaves the extension, no loose files, no definition that does not load, no name twice, no reserved name.
Which extensions are known and enabled is kept elsewhere.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from compozy.documents.agents import AGENT_FILE, check_agent_folder
from compozy.documents.files import FileProblem, component_problem, open_child_folder, open_folder, read_file
from compozy.documents.heartbeat import read_heartbeat
from compozy.documents.names import is_reserved
from compozy.documents.problems import first_error
from compozy.documents.soul import read_soul
from compozy.documents.toml_reader import TomlProblem, read_toml
from compozy.model.errors import InvalidRequest, Unprocessable
from compozy.model.extension import ExtensionAgent
from compozy.model.record import Record

MANIFEST = "extension.toml"
_KEYS = ("name", "version", "agents")
_LONGEST = 106
# An extension is a handful of files; a tree of this size is a mistake or an attack.
_MOST_FILES = 20_000


class ExtensionFolder(Record, frozen=True, kw_only=True):
    """What an extension's folder says; `folders` are absolute paths of folders with agents."""

    name: str
    version: str
    root: str
    folders: tuple[str, ...]
    agents: tuple[ExtensionAgent, ...]


def read_extension(root: Path) -> ExtensionFolder:
    """Read and check an extension's folder.

    Raises:
        InvalidRequest: code `extension_invalid`; the message names the file and what to change.
        Unprocessable: code `agent_name_reserved`.
    """
    try:
        handle = open_folder(root, "extension")
    except FileProblem as problem:
        raise _refused(problem.message) from None
    try:
        table = _manifest(handle, root)
        name, version = _text(table, "name", root), _text(table, "version", root)
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum() or len(name) > _LONGEST:
            raise _refused(f"{root / MANIFEST}: name {name!r} must be letters, digits, '-' and '_'")
        folders = tuple(_folder(item, root) for item in _paths(table, root))
        agents: dict[str, ExtensionAgent] = {}
        for folder in folders:
            _refuse_links(folder)
            for agent in _agents(folder):
                if agent.name in agents:
                    raise _refused(
                        f"agent {agent.name!r} is defined twice, in {agents[agent.name].path} and {agent.path}; "
                        "rename one of them"
                    )
                agents[agent.name] = agent
    finally:
        os.close(handle)
    return ExtensionFolder(
        name=name,
        version=version,
        root=str(root),
        folders=tuple(str(folder) for folder in folders),
        agents=tuple(agents.values()),
    )


def _manifest(handle: int, root: Path) -> dict[str, object]:
    path = root / MANIFEST
    try:
        data, _ = read_file(handle, MANIFEST, "read extension", str(path))
        table = read_toml(data.decode("utf-8"))
    except FileProblem as problem:
        raise _refused(problem.message) from None
    except UnicodeDecodeError:
        raise _refused(f"{path} is not UTF-8; save it as UTF-8") from None
    except TomlProblem as problem:
        raise _refused(f"{path} is not valid TOML: {problem.message}; correct it") from None
    unknown = sorted(set(table).difference(_KEYS))
    if unknown:
        raise _refused(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(_KEYS)}")
    return table


def _text(table: dict[str, object], key: str, root: Path) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _refused(f'{root / MANIFEST}: {key} is required; write {key} = "…"')
    return value.strip()


def _paths(table: dict[str, object], root: Path) -> list[str]:
    value = table.get("agents")
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise _refused(f'{root / MANIFEST}: agents is required; write agents = ["agents"], a list of folders')
    return [str(item) for item in value]


def _folder(text: str, root: Path) -> Path:
    parts = text.strip().removesuffix("/").removeprefix("./").split("/")
    for part in parts:
        reason = component_problem(part)
        if reason:
            raise _refused(f"{root / MANIFEST}: folder {text!r} is no path inside the extension: a part {reason}")
    folder = root.joinpath(*parts)
    try:
        os.close(open_folder(folder, "extension folder"))
    except FileProblem as problem:
        raise _refused(problem.message) from None
    return folder


def _refuse_links(folder: Path) -> None:
    def fail(error: OSError) -> None:
        raise _refused(f"{error.filename}: could not be read: {(error.strerror or 'refused').lower()}")

    count = 0
    for path, folders, files in os.walk(folder, onerror=fail):
        for name in (*folders, *files):
            count += 1
            if os.path.islink(os.path.join(path, name)):  # noqa: PTH114, PTH118 - names of any bytes
                raise _refused(f"{path}/{name} is a symlink, and links are not followed; put the real file there")
        if count > _MOST_FILES:
            raise _refused(f"{folder} holds more than {_MOST_FILES} files; it is no folder of agents")


def _agents(folder: Path) -> Iterator[ExtensionAgent]:
    handle = open_folder(folder, "extension folder")
    try:
        for name in sorted(os.listdir(handle), key=os.fsencode):  # noqa: PTH208 - an open handle, not a path
            mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield _agent(handle, folder / name)
            elif name.endswith(".md"):
                raise _refused(f"{folder / name} is a loose file; put it into a folder of its own as {AGENT_FILE}")
    finally:
        os.close(handle)


def _agent(parent: int, path: Path) -> ExtensionAgent:
    try:
        handle = open_child_folder(parent, path.name, "open agent directory", str(path))
    except FileProblem as problem:
        raise _refused(problem.message) from None
    try:
        report = check_agent_folder(handle, path / AGENT_FILE)
        companions = [_companion(handle, path, "SOUL.md"), _companion(handle, path, "HEARTBEAT.md")]
    finally:
        os.close(handle)
    if is_reserved(path.name) or (report.loaded is not None and is_reserved(report.loaded.name)):
        name = report.loaded.name if report.loaded is not None else path.name
        raise Unprocessable(
            f"agent name is reserved: {name!r} ({path / AGENT_FILE}); rename the agent", code="agent_name_reserved"
        )
    if report.loaded is None:
        first = first_error(report.diagnostics)
        raise _refused(f"{path / AGENT_FILE}: {first.message if first else 'does not load'}")
    for problem_text in companions:
        if problem_text:
            raise _refused(problem_text)
    loaded = report.loaded
    return ExtensionAgent(name=loaded.name, path=str(loaded.path), definition_digest=loaded.definition_digest)


def _companion(handle: int, path: Path, name: str) -> str:
    """Say what is wrong with a SOUL.md or HEARTBEAT.md, "" when nothing is or there is none."""
    try:
        data, _ = read_file(handle, name, "read agent file", str(path / name))
    except FileProblem as problem:
        return "" if problem.code == "not-found" else problem.message
    _, diagnostics = (
        read_soul(data, str(path / name)) if name == "SOUL.md" else read_heartbeat(data, str(path / name))
    )
    first = first_error(diagnostics)
    return f"{path / name}: {first.message}" if first else ""


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest(message, code="extension_invalid")
