"""The folder Pi reads instead of ``~/.pi/agent``: one per session, so that sessions do not change each other's model.

Implements contract §1.2 (PI_CODING_AGENT_DIR). It pins provider and model in ``settings.json`` and links the login
and the models a person configured; Pi keeps its own record of the session beside them.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from compozy.config.home import Home
from compozy.documents.atomic import write_atomically
from compozy.model.provider import Provider

_SHARED = ("auth.json", "models.json")


def pi_folder(home: Home, session_id: str) -> Path:
    """Return the folder of one session."""
    return home.root / "sessions" / session_id / "pi-agent"


def forget_pi_folder(home: Home, session_id: str) -> None:
    """Remove what was made for a session; what is not there is no failure."""
    shutil.rmtree(pi_folder(home, session_id), ignore_errors=True)
    try:
        pi_folder(home, session_id).parent.rmdir()
    except OSError:
        # Not there, or something else of the session lies in it.
        pass


def prepare_pi_folder(
    provider: Provider, home: Home, session_id: str, model: str, environ: Mapping[str, str]
) -> None:
    """Make the folder ready; `environ` is the agent's, whose HOME says where its login lies.

    Raises:
        OSError: it cannot be written.
    """
    folder = pi_folder(home, session_id)
    for path in (folder.parent.parent, folder.parent, folder):
        path.mkdir(mode=0o700, exist_ok=True)
    settings = {"defaultProvider": provider.runtime_provider, **({"defaultModel": model} if model else {})}
    write_atomically(folder / "settings.json", json.dumps(settings, indent=2).encode())
    own = Path(environ.get("HOME") or Path.home()) / ".pi" / "agent"
    for name in _SHARED:
        link = folder / name
        if (own / name).is_file() and not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(own / name)
