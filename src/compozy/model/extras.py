"""How the packages of an extra come to where this program is installed, as one line to type.

It names the packages themselves: an extra of the program's own name would fetch the program from an index that need
not know it, or into another environment than the one that runs. It installs nothing.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from importlib import metadata

_NAME = "compozy"
_OF_AN_EXTRA = re.compile(r"""^(?P<package>[^;]+?)\s*;.*\bextra\s*==\s*["'](?P<extra>[^"']+)["']""")


def install_line(extra: str, *, prefix: str = "", python: str = "") -> str:
    """Return the command that installs what an extra needs; `prefix` and `python` default to this interpreter's."""
    packages = packages_of(extra)
    if not packages:
        return f"pip install '{_NAME}[{extra}]'"
    quoted = " ".join(map(shlex.quote, packages))
    if "/pipx/venvs/" in f"{prefix or sys.prefix}/":
        return f"pipx inject {_NAME} {quoted}"
    program = shlex.quote(python or sys.executable)
    if "/uv/tools/" in f"{prefix or sys.prefix}/":
        return f"uv pip install --python {program} {quoted}"
    return f"{program} -m pip install {quoted}"


def packages_of(extra: str) -> Sequence[str]:
    """Return the requirements of an extra as its metadata names them, () when there is none."""
    try:
        required = metadata.requires(_NAME) or []
    except metadata.PackageNotFoundError:
        return ()
    found = [_OF_AN_EXTRA.match(one) for one in required]
    return tuple(match["package"] for match in found if match is not None and match["extra"] == extra)
