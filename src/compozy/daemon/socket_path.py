"""Where the Unix socket lies: in the home, or in a short private folder when that path is too long (P65).

The kernel keeps a socket's path in a fixed field. A home deeper than that gets a socket in a folder of this user
alone; daemon.json and `compozy status` name it, and clients find it through daemon.json.
"""

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from compozy.config.errors import HomeError
from compozy.config.home import Home

# sockaddr_un.sun_path without its closing NUL: 108 bytes on Linux, 104 on the BSDs and macOS.
MAX_PATH_BYTES = 107 if sys.platform.startswith("linux") else 103


def choose_socket_path(home: Home, configured: str = "", environ: Mapping[str, str] | None = None) -> Path:
    """Return the path to listen on; its folder exists and is private when this returns.

    Raises:
        HomeError: no usable folder can be made, or one of that name belongs to somebody else.
    """
    wanted = Path(os.path.abspath(Path(configured).expanduser())) if configured else home.socket
    if len(os.fsencode(wanted)) <= MAX_PATH_BYTES:
        if configured:
            _require_folder(wanted)
        return wanted
    name = hashlib.sha256(os.fsencode(wanted)).hexdigest()[:16] + ".sock"
    for folder in _private_folders(os.environ if environ is None else environ):
        if len(os.fsencode(folder / name)) <= MAX_PATH_BYTES:
            _make_private(folder)
            return folder / name
    raise HomeError(
        f"the socket path {str(wanted)!r} is longer than {MAX_PATH_BYTES} bytes and no short folder can be used; "
        "set [daemon] socket to a short path"
    )


def _private_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    user = f"compozy-{os.getuid()}"
    own = (Path(runtime) / "compozy",) if runtime.startswith("/") and Path(runtime).is_dir() else ()
    return (*own, Path(tempfile.gettempdir()) / user, Path("/tmp") / user)  # noqa: S108 - checked by _make_private


def _make_private(folder: Path) -> None:
    """Create the folder 0700, or check that what is there is a folder of this user and nobody else's."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise HomeError(
            f"cannot make {str(folder)!r} for the socket: {error.strerror}; set [daemon] socket to a short path"
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise HomeError(
            f"{str(folder)!r} is not a private folder of this user (needed for the socket); remove it, or set "
            "[daemon] socket to a short path"
        )


def _require_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise HomeError(f"[daemon] socket names a folder that does not exist: {str(path.parent)!r}; create it first")
