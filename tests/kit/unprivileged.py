"""Acting as an ordinary user for a moment: root reads everything, so permission tests need somebody else."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Drop to an ordinary user when we are root; otherwise nothing changes."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A temporary folder that every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="compozy-test-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(folder)
