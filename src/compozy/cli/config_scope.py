"""What the `config` and `provider` commands share: which file is meant, and telling a running daemon of a change.

Reading and writing settings needs no daemon; one that runs is asked to take over what can change while it runs.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

# First, before anything of `config`: it keeps msgspec from loading what it does not need.
import compozy.model.record  # noqa: F401
from compozy.cli.connection import JsonObject, connected
from compozy.cli.invocation import Invocation
from compozy.cli.output import note
from compozy.cli.workspace_context import authored_root, existing_folder, is_path, named

RESTART = "compozy daemon stop && compozy daemon start"


def workspace_root(invocation: Invocation, reference: str | None) -> Path | None:
    """Return the root of the workspace `--workspace` names, None without it. A path needs no daemon.

    Raises:
        LocalError: there is no such folder or workspace.
    """
    if reference is None:
        return None
    if is_path(reference):
        folder = existing_folder(reference)
        return authored_root(folder) or folder
    with connected(invocation) as client:
        return Path(named(client, reference, client.workspaces.list(), "flag").root_dir)


def apply_to_daemon(invocation: Invocation, keys: Sequence[str], *, in_workspace: bool = False) -> JsonObject:
    """Let a running daemon take over changed keys, and return what happens next: `applied` and `next_action`."""
    from compozy.client import DaemonUnreachable  # noqa: PLC0415 - start-up cost

    try:
        with connected(invocation) as client:
            answer = client.settings.reload()
    except DaemonUnreachable:
        return {"applied": False, "next_action": "none"}
    if answer.waiting is not None:
        pairs = [(f"{one}.", f"{key}.") for one in answer.waiting for key in keys]
        waits = any(one.startswith(key) or key.startswith(one) for one, key in pairs)
    else:
        # A daemon of an older version does not say which.
        waits = answer.next_action == "restart-daemon"
    # What a workspace says counts for its next session, without the daemon's doing.
    if waits and not in_workspace:
        return {"applied": False, "next_action": "restart-daemon"}
    return {"applied": True, "next_action": "none"}


def tell_whether_to_restart(invocation: Invocation) -> None:
    """Say to a person when a running daemon still uses other settings than the files hold."""
    from compozy.client import DaemonUnreachable  # noqa: PLC0415 - start-up cost

    with suppress(DaemonUnreachable), connected(invocation) as client:
        tell_what_is_next(invocation, {"next_action": client.settings.reload().next_action})


def tell_what_is_next(invocation: Invocation, outcome: JsonObject) -> None:
    """Say to a person whether the change is in force already."""
    if outcome.get("next_action") == "restart-daemon":
        note(invocation, f"the running daemon takes it over when it is restarted: {RESTART}")
    elif outcome.get("applied"):
        note(invocation, "the running daemon uses it from now on")
