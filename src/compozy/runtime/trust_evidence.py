"""What a workspace brings: commands, servers, hooks, skills, settings, and the programs these name (decisions D15).

Pure reading; nothing it finds is run, and nothing is decided here. Digests are of what was loaded, so that what was
looked at is what a session would use. Files that a program loads by itself are not followed.
"""

import hashlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from compozy.catalog.skills import skills_below
from compozy.config.commands import split_command
from compozy.config.trust_grants import file_digest
from compozy.config.workspace_rules import WorkspaceNeed
from compozy.documents.agents import LoadedAgent
from compozy.documents.mcp_json import check_mcp_json
from compozy.model.definition import PERMISSION_MODES, AgentDefinition, HookDeclaration, McpServer
from compozy.model.trust import TrustItem, TrustKind

# `agents/NAME/AGENT.md` lies in a folder that extension.toml names; deeper is another tree.
_DEEPEST = 12
# A command names a program and perhaps a script and a settings file.
_MAX_PROGRAMS = 256
_LONGEST_SHELL_TEXT = 64 << 10
# Folders that one command line goes into, and the words that are looked for in each of them.
_MOST_FOLDERS = 8
_MOST_WORDS = 4096


def agent_items(loaded: LoadedAgent, home_mode: str) -> Iterator[TrustItem]:
    """Yield what a definition of the workspace brings."""
    definition, path = loaded.definition, str(loaded.path)
    digest = definition_digest(definition)
    if definition.command:
        yield _item("agent_command", definition.name, definition.command, path, digest)
    for server in definition.mcp_servers:
        yield _server_item("mcp_server", server, path, digest)
    for hook in definition.hooks:
        yield _hook_item("hook", hook, path, digest)
    mode = definition.permissions
    if mode in PERMISSION_MODES and PERMISSION_MODES.index(mode) > PERMISSION_MODES.index(home_mode):
        text = f"permissions {mode}, the home grants {home_mode}"
        yield _item("permissions", definition.name, text, path, digest, required=False)


def definition_digest(definition: AgentDefinition) -> str:
    """Return a digest over everything of a definition that shapes a session; capabilities only describe it."""
    return hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(definition, capabilities=None))).hexdigest()


def mcp_file_items(path: Path) -> tuple[list[TrustItem], list[McpServer]]:
    """Return what a workspace's mcp.json brings, and its servers; a file that does not load brings nothing."""
    outcome = check_mcp_json(path)
    servers = list(outcome.servers or ())
    return [_server_item("mcp_server", server, str(path), outcome.digest) for server in servers], servers


def config_items(needs: Iterable[WorkspaceNeed], path: str, digest: str, provider: str) -> Iterator[TrustItem]:
    """Yield the settings of a workspace that need trust; `provider` is the one a session would use, "" for any."""
    for need in needs:
        section, _, name = need.key.partition(".")
        kind: TrustKind = {"providers": "provider", "permissions": "permissions"}.get(section, "config")  # type: ignore[assignment]
        required = section in ("hooks", "mcp_servers") or (section == "providers" and provider in ("", name))
        yield _item(kind, need.key, need.value, path, digest, required=required)


def skill_items(folder: Path, disabled: Sequence[str]) -> Iterator[TrustItem]:
    """Yield the servers and hooks of the skills below a folder."""
    for path, data, skill in skills_below(folder):
        if skill.name in disabled:
            continue
        digest = hashlib.sha256(data).hexdigest()
        for server in skill.mcp_servers:
            yield _server_item("skill_mcp_server", server, str(path), digest, within=skill.name)
        for hook in skill.hooks:
            yield _hook_item("skill_hook", hook, str(path), digest, within=skill.name)


def program_items(commands: Iterable[Sequence[str]], roots: Sequence[str]) -> Iterator[TrustItem]:
    """Yield the files below the roots that command lines name: their content is what would run.

    Relative paths start at the first root, where agents run, and in every folder that the same line names: it may go
    there first (``cd tools && ./run``, ``make -C tools``).
    """
    real = [os.path.realpath(root) for root in roots]
    seen: set[str] = set()
    for words in commands:
        for path in _files_named(words, real):
            if path in seen or len(seen) >= _MAX_PROGRAMS:
                continue
            seen.add(path)
            try:
                digest = program_digest(path)
            except OSError:
                digest = ""
            yield _item("program", os.path.relpath(path, real[0]), shlex.join(words), path, digest)


def _files_named(words: Sequence[str], roots: Sequence[str]) -> Iterator[str]:
    """Yield every file below the roots that a command line names."""
    names = [word.rpartition("=")[2] for word in _words_within(words)]
    folders = [roots[0]]
    for name in names[:_MOST_WORDS]:
        for folder in tuple(folders):
            inner = _inside(roots, folder, name, Path.is_dir)
            if inner and inner not in folders and len(folders) <= _MOST_FOLDERS:
                folders.append(inner)
    for number, name in enumerate(names):
        for folder in folders if number < _MOST_WORDS else folders[:1]:
            path = _inside(roots, folder, name, Path.is_file)
            if path:
                yield path


def program_digest(path: str) -> str:
    """Return the digest of a program's content, and of where it leads when it is a link out of the workspace.

    Raises:
        OSError: it cannot be read.
    """
    real = os.path.realpath(path)
    if real != path:
        return hashlib.sha256(b"link to " + os.fsencode(real)).hexdigest()
    return file_digest(Path(path))


def extension_root(path: Path) -> str:
    """Return the folder of the extension that brings an agent file, "" when none does."""
    for folder in list(path.parents)[:_DEEPEST]:
        if (folder / "extension.toml").is_file():
            return str(folder)
    return ""


def command_lines(definition: AgentDefinition, extra: Iterable[str] = ()) -> Iterator[Sequence[str]]:
    """Yield every command line of a definition, split into words, and of further command texts."""
    for text in (definition.command, *extra):
        try:
            yield split_command(text) if text else ()
        except ValueError:
            yield (text,)
    yield from started_lines((*definition.mcp_servers, *definition.hooks))


def started_lines(parts: Iterable[McpServer | HookDeclaration]) -> Iterator[Sequence[str]]:
    """Yield the command line of every server and hook that is started."""
    for part in parts:
        if part.command:
            yield (part.command, *part.args)


def _item(
    kind: TrustKind,
    name: str,
    runs: str,
    path: str,
    digest: str,
    *,
    required: bool = True,
    references: tuple[str, ...] = (),
) -> TrustItem:
    return TrustItem(
        kind=kind,
        name=name,
        runs=runs,
        path=path,
        digest=digest,
        required=required,
        trusted=False,
        references=references,
    )


def _server_item(kind: TrustKind, server: McpServer, path: str, digest: str, within: str = "") -> TrustItem:
    runs = _line(server.env, server.command, server.args) if server.command else f"connects to {server.url}"
    references = dict(server.secret_env) | dict(server.secret_headers)
    if server.auth is not None and server.auth.client_secret_ref:
        references["client_secret"] = server.auth.client_secret_ref
    return _item(kind, _named(within, server.name), runs, path, digest, references=_in_words(references))


def _hook_item(kind: TrustKind, hook: HookDeclaration, path: str, digest: str, within: str = "") -> TrustItem:
    runs = f"on {hook.event}: {_line(hook.env, hook.command, hook.args)}"
    return _item(kind, _named(within, hook.name), runs, path, digest, references=_in_words(hook.secret_env))


def _named(within: str, name: str) -> str:
    return f"{within}/{name}" if within else name


def _line(env: Mapping[str, str], command: str, args: Sequence[str]) -> str:
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env.items()), shlex.join([command, *args])])


def _in_words(references: Mapping[str, str]) -> tuple[str, ...]:
    """Say which secrets would be handed over; spelled so that redaction leaves the names readable."""
    words = []
    for name, reference in references.items():
        kind, _, target = reference.partition(":")
        words.append(f"{name} from {'variable' if kind == 'env' else 'vault entry'} {target}")
    return tuple(words)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a command text, also of one whose quotes are not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def _words_within(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line, and those of the shell text that one of them may be (``bash -c "…"``)."""
    for word in words:
        yield word
        if len(word) <= _LONGEST_SHELL_TEXT and any(mark in word for mark in " \t\n;&|()<>"):
            lexer = shlex.shlex(word, posix=True, punctuation_chars=True)
            lexer.commenters = ""
            lexer.whitespace_split = True
            try:
                yield from lexer
            except ValueError:
                yield from word.split()


def _inside(roots: Sequence[str], folder: str, word: str, is_wanted: Callable[[Path], bool]) -> str:
    """Return the real path of a word that, seen from a folder, names something below a root; "" for everything else.

    A link of the workspace that leads out of it is returned as it is: its target may be exchanged.
    """
    if not word or "\0" in word or len(word) > 4096:
        return ""
    named = str(Path(folder) / word)
    real = os.path.realpath(named)
    if not is_wanted(Path(real)):
        return ""
    plain = os.path.normpath(named)
    # Behind a link `..` is not the folder above the link: then the name stays as it is written.
    named = plain if os.path.realpath(plain) == real else named
    return next(
        (path for path in (real, named) if any(path.startswith(f"{root.rstrip('/')}/") for root in roots)), ""
    )
