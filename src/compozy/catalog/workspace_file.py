"""`.compozy/workspace.toml`: the id a workspace carries itself, wherever it is moved (contract §1.1).

Written once, on the daemon's first touch; a folder that cannot be written has none, which is no error. The registry's
`ws_` ids are another thing.
"""

import logging
import os
import re
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from compozy.documents.atomic import write_atomically
from compozy.documents.files import FileProblem, open_folder, read_file
from compozy.documents.toml_reader import TomlProblem, read_toml

_log = logging.getLogger("compozy.workspaces")
_FOLDER, _FILE = ".compozy", "workspace.toml"
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID = re.compile(f"[0-7][{_ALPHABET}]{{25}}")


def is_ulid(text: str) -> bool:
    """Whether a reference has the shape of such an id."""
    return _ULID.fullmatch(text) is not None


def new_ulid() -> str:
    """Return a new id: 48 bits of milliseconds, 80 random ones, in Crockford's base 32."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def touch(root: Path, now: str) -> None:
    """Give a workspace its id if it has none and may be written."""
    folder = root / _FOLDER
    try:
        folder.mkdir(mode=0o755, exist_ok=True)
        if os.path.lexists(folder / _FILE):
            return
        text = f'workspace_id = "{new_ulid()}"\ncreated_at = "{now}"\nrealpath_at_creation = {_quoted(str(root))}\n'
        write_atomically(folder / _FILE, text.encode("utf-8", "surrogateescape"), mode=0o644, exclusive=True)
    except FileExistsError:
        return
    except OSError as error:
        _log.info("no %s in %s: %s", _FILE, folder, error)


def find_root(ulid: str, roots: Sequence[str]) -> str | None:
    """Return the root that carries an id; of several, copies of each other, the one the file was written for."""
    found = [(root, table) for root in roots if (table := _read(Path(root))).get("workspace_id") == ulid]
    original = next((root for root, table in found if table.get("realpath_at_creation") == root), None)
    return original or (found[0][0] if found else None)


def _read(root: Path) -> dict[str, object]:
    try:
        handle = open_folder(root / _FOLDER, "workspace folder")
    except FileProblem:
        return {}
    try:
        data, _ = read_file(handle, _FILE, "read workspace file", _FILE)
        return read_toml(data.decode("utf-8"))
    except (FileProblem, TomlProblem, UnicodeDecodeError):
        return {}
    finally:
        os.close(handle)


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else {"\\": "\\\\", '"': '\\"'}.get(c, c) for c in text
    )
    return f'"{escaped}"'
