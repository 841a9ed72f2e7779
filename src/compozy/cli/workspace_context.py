"""Which workspace a call means (contract §4.2): argument, `--workspace`, COMPOZY_WORKSPACE, the calling session,
the folder one stands in.

A reference is an id, a unique name, or a path; a path means the nearest registered root that encloses it. The
user's own home folder counts only for calls made in it directly: it would swallow every project below it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from compozy.cli.failures import IdentityError
from compozy.config.home import Home
from compozy.model.errors import EXIT_REFUSED, EXIT_UNAVAILABLE, EXIT_USAGE, LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.workspace import Workspace


class WorkspaceContext(NamedTuple):
    """The workspace of a call and how it was found (`resolution_source`)."""

    workspace: "Workspace"
    source: str

    @property
    def id(self) -> str:
        return self.workspace.id


def find(
    client: "Client",
    *,
    positional: str | None = None,
    flag: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> WorkspaceContext | None:
    """Resolve the context without registering anything; None when only the folder could say and it is unknown.

    Raises:
        LocalError: the reference is blank, names nothing, or names a path that does not exist.
    """
    env = os.environ if environ is None else environ
    known = client.workspaces.list()
    for source, reference in (
        ("positional", positional),
        ("flag", flag),
        ("env", env.get("COMPOZY_WORKSPACE") or None),
    ):
        if reference is not None:
            return WorkspaceContext(named(client, reference, known, source), source)
    of_session = _of_calling_session(client, env, known)
    if of_session is not None:
        return WorkspaceContext(of_session, "session_identity")
    here = enclosing(Path.cwd(), known)
    return WorkspaceContext(here, "cwd") if here is not None else None


def find_explicit(client: "Client", *, flag: str | None = None) -> WorkspaceContext | None:
    """Resolve the context from `--workspace` and COMPOZY_WORKSPACE only; None means the global agents (§4.2).

    Raises:
        LocalError: as `find`.
    """
    reference, source = (flag, "flag") if flag is not None else (os.environ.get("COMPOZY_WORKSPACE") or None, "env")
    if reference is None:
        return None
    known = client.workspaces.list()
    return WorkspaceContext(named(client, reference, known, source), source)


def find_or_register(client: "Client", *, flag: str | None = None, path: str | None = None) -> WorkspaceContext:
    """Resolve the context; a path or folder that no root encloses becomes a workspace of its own.

    Raises:
        LocalError: as `find`.
    """
    if path is not None:
        return WorkspaceContext(_register(client, existing_folder(path)), "flag")
    if flag is not None and is_path(flag):
        folder = existing_folder(flag)
        known = client.workspaces.list()
        return WorkspaceContext(enclosing(folder, known) or _register(client, folder), "flag")
    found = find(client, flag=flag)
    here = Path.cwd()
    return found or WorkspaceContext(_register(client, authored_root(here) or here), "cwd")


def named(client: "Client", reference: str, known: Sequence["Workspace"], source: str) -> "Workspace":
    """Return the workspace a reference names.

    Raises:
        LocalError: see `find`.
    """
    if not reference.strip():
        where = {"flag": "--workspace", "env": "COMPOZY_WORKSPACE"}.get(source, "the workspace")
        raise LocalError(
            f"{where} is blank; give an id, a name or a path, or leave it out", exit_code=EXIT_USAGE, code="usage"
        )
    for workspace in known:
        if reference in (workspace.id, workspace.name):
            return workspace
    if is_path(reference):
        folder = existing_folder(reference)
        found = enclosing(folder, known)
        if found is None:
            raise LocalError(
                f"no workspace is registered at {str(folder)!r} or above it; register it first",
                exit_code=EXIT_UNAVAILABLE,
                code="workspace_not_found",
                hint=f"compozy workspace add {shell_word(str(folder))}",
            )
        return found
    from difflib import get_close_matches  # noqa: PLC0415 - start-up cost

    close = get_close_matches(reference, [workspace.name for workspace in known], n=1)
    if close:
        raise LocalError(
            f"no workspace is called {reference!r}; did you mean {close[0]!r}?",
            exit_code=EXIT_UNAVAILABLE,
            code="workspace_not_found",
            hint="compozy workspace list",
        )
    # The daemon also knows each workspace by the id in its workspace.toml, and words the refusal.
    return client.workspaces.get(reference)


def is_path(reference: str) -> bool:
    """Whether a reference is meant as a path rather than an id or a name."""
    return reference in (".", "..", "~") or "/" in reference or reference.startswith("~")


def existing_folder(reference: str, *, what_for: str = "workspace") -> Path:
    """Return the real path of a folder.

    Raises:
        LocalError: there is no such folder.
    """
    path = Path(os.path.abspath(Path(reference).expanduser()))
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise LocalError(
            f"{what_for} path {str(path)!r} {what}; name an existing folder or make it",
            code=f"{what_for}_path_missing",
            hint=None if path.exists() else f"mkdir -p {shell_word(str(path))}",
        )
    return path.resolve()


def enclosing(folder: Path, known: Sequence["Workspace"]) -> "Workspace | None":
    """Return the registered workspace whose root is nearest above the folder, or None."""
    here = folder.resolve()
    user_home = Path.home().resolve()
    roots = {Path(workspace.root_dir).resolve(): workspace for workspace in known}
    for candidate in (here, *here.parents):
        if candidate in roots and (candidate != user_home or here == user_home):
            return roots[candidate]
    return None


def authored_root(folder: Path) -> Path | None:
    """Return the nearest folder from here upwards that keeps agents of its own in `.compozy`, or None.

    The home of this program may have that name too; it makes no workspace of the folder around it.
    """
    here, own_home = folder.resolve(), Home.from_environment().root.resolve()
    for candidate in (here, *here.parents):
        if (candidate / ".compozy").is_dir() and (candidate / ".compozy").resolve() != own_home:
            return candidate
    return None


def unregistered(context: WorkspaceContext | None) -> Path | None:
    """Return the folder around here that has agents of its own although no workspace encloses it, or None."""
    return authored_root(Path.cwd()) if context is None else None


def registering(root: Path) -> str:
    """Return the line that makes a workspace of a folder."""
    return f"compozy workspace add {shell_word(str(root))}"


def not_yet(root: Path) -> str:
    """Return the sentence for a person who asks about agents of a folder that is no workspace."""
    return f"{root} has agents of its own but is no workspace yet; register it with: {registering(root)}"


def shell_word(text: str) -> str:
    """Quote text so that a shell reads it as one word."""
    from shlex import quote as shell_quote  # noqa: PLC0415 - start-up cost

    return shell_quote(text)


def _register(client: "Client", folder: Path) -> "Workspace":
    try:
        return client.workspaces.create(str(folder))
    except LocalError as error:
        # Another call may have registered it between our look and our wish.
        found = enclosing(folder, client.workspaces.list())
        if error.code != "workspace_exists" or found is None:
            raise
        return found


def _of_calling_session(client: "Client", env: Mapping[str, str], known: Sequence["Workspace"]) -> "Workspace | None":
    session_id, agent = env.get("COMPOZY_SESSION_ID", ""), env.get("COMPOZY_AGENT", "")
    if not (session_id and agent):
        return None
    session = client.sessions.get(session_id)
    if session.agent_name != agent:
        raise IdentityError(
            "identity_mismatch",
            f"session {session_id!r} belongs to agent {session.agent_name!r}, not to {agent!r}",
            action="unset COMPOZY_SESSION_ID and COMPOZY_AGENT, or set both to the session that calls",
            exit_code=EXIT_REFUSED,
        )
    return next((w for w in known if w.id == session.workspace_id), None)
