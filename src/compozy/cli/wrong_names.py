"""What somebody meant who called a command that does not exist: other tools' words, near spellings, other groups.

A name another tool uses for the same thing comes first (`logs`), then a word of the same sense in the
same group (`show` for `info`), then a near spelling, and at the root the same word one level down (`stop` for
`daemon stop`). It knows nothing of click.
"""

import shlex
from collections.abc import Collection

from compozy.cli.command_table import COMMANDS

# What other tools call it, by the group it was looked for in.
_ELSEWHERE = {
    "": {
        "start": "daemon start",
        "stop": "daemon stop",
        "restart": "daemon stop",
        "log": "session events",
        "logs": "session events",
        "ps": "session list",
        "ls": "agent list",
        "list": "agent list",
        "new": "agent create",
        "init": "agent create",
        "login": "provider auth login",
        "ask": "run",
        "chat": "run",
        "exec": "run",
        "prompt": "run",
        "models": "provider models list",
        "check": "agent check",
        "validate": "agent check",
    },
    "agent": {"run": "run", "select": "select", "choose": "select", "export": "ocm export"},
    "session": {
        "start": "session new",
        "log": "session events",
        "logs": "session events",
        "attach": "session resume",
        "open": "session resume",
        "cancel": "session prompt-cancel",
        "run": "run",
    },
    "capability": {"list": "agent capabilities"},
    "daemon": {"status": "status", "restart": "daemon stop", "logs": "status", "run": "daemon start"},
    "provider": {"test": "provider auth status", "login": "provider auth login"},
    "skill": {"list": "workspace info"},
    "ocm": {
        "run": "ocm call",
        "search": "ocm select",
        "find": "ocm select",
        "format": "ocm fmt",
        "init": "ocm export",
    },
}
_SAME_SENSE = (
    ("info", "show", "status", "get", "describe", "inspect", "view"),
    ("list", "ls", "show"),
    ("remove", "delete", "rm", "del", "revoke", "unset"),
    ("create", "new", "add", "init", "set"),
    ("update", "edit", "set", "change", "modify"),
    ("check", "validate", "lint", "verify"),
)
# A command line tool is upgraded and removed by what installed it.
_BY_THE_INSTALLER = {
    "upgrade": "pipx upgrade compozy",
    "update": "pipx upgrade compozy",
    "uninstall": "pipx uninstall compozy",
}


def told(name: str, path: str, members: Collection[str]) -> tuple[str, str]:
    """Return the sentence about command `name`, unknown below group `path` with these members, and a line to try."""
    where = f"compozy {path}".strip()
    said = f"there is no command {name!r} below '{where}'"
    if not path and len(name.split()) > 1:
        return f"{said}; a task is given to run", f"compozy run {shlex.quote(name)}"
    if not path and name in _BY_THE_INSTALLER:
        return f"{said}; what installed compozy also does that", _BY_THE_INSTALLER[name]
    meant = _meant(name, path, members)
    if not meant:
        return f"{said}; choose one that exists", f"{where} --help"
    lines = [f"compozy {line}" for line in meant]
    return f"{said}; did you mean {' or '.join(map(repr, lines))}?", f"{lines[0]} --help"


def _meant(name: str, path: str, members: Collection[str]) -> list[str]:
    from difflib import get_close_matches  # noqa: PLC0415 - start-up cost

    named = _ELSEWHERE.get(path, {}).get(name)
    if named:
        return [named]
    same = [word for group in _SAME_SENSE if name in group for word in group if word in members]
    close = same[:1] or get_close_matches(name, members, n=1)
    if close:
        return [f"{path} {close[0]}".strip()]
    return [] if path else [entry.path for entry in COMMANDS if entry.path.rpartition(" ")[2] == name][:3]
