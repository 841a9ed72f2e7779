"""Command strings: split by the shell's quoting rules, never run by a shell, and looked up on PATH (contract §2.3).

``FOO=1 cmd`` is no assignment here: the first word is always the program.
"""

import functools
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path


@functools.lru_cache(maxsize=256)
def split_command(command: str) -> tuple[str, ...]:
    """Split one command string into words.

    Raises:
        ValueError: quotes are not closed, or there is no word at all.
    """
    try:
        words = tuple(shlex.split(command, comments=False, posix=True))
    except ValueError as error:
        raise ValueError(f"command {command!r} cannot be split: {error}; close its quotes") from error
    if not words or not words[0]:
        raise ValueError(f"command {command!r} names no program; write the program first")
    if "\0" in command:
        raise ValueError("a command cannot contain a NUL character; remove it")
    return words


def find_executable(program: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the absolute path of a program, None when it is not there or cannot be executed."""
    env = os.environ if environ is None else environ
    if "/" in program:
        path = Path(program).expanduser()
        return os.path.abspath(path) if path.is_file() and os.access(path, os.X_OK) else None
    return shutil.which(program, path=env.get("PATH", os.defpath))
