"""What the `config` and `provider` commands share: which file is meant, and telling a running daemon of a change.

Reading and writing settings needs no daemon; one that runs is asked to take over what can change while it runs.
"""

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


def apply_to_daemon(invocation: Invocation, lifecycle: str) -> JsonObject:
    """Let a running daemon take over a change, and return what happens next: `applied` and `next_action`."""
    from compozy.client import DaemonUnreachable  # noqa: PLC0415 - start-up cost

    try:
        with connected(invocation) as client:
            answer = client.settings.reload()
    except DaemonUnreachable:
        return {"applied": False, "next_action": "none"}
    if lifecycle == "live":
        return {"applied": answer.applied, "next_action": "none"}
    return {"applied": False, "next_action": "restart-daemon"}


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
