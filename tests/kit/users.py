"""Running a program without root's right to read everything, when the tests run as root.

The user stays the same, so that the interpreter stays readable wherever it lies; the kernel's permission bits count
again, because the capabilities that override them are dropped for the program and all it starts.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_PR_CAPBSET_DROP = 24
# CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER of linux/capability.h.
_OVERRIDING = (1, 2, 3)


def drop_override() -> None:
    """Obey permission bits from the next exec on; for `preexec_fn`. Raises OSError where root may not do that."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in _OVERRIDING:
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def run_as_ordinary_user(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run a program to which permission bits apply; skips the test where that cannot be arranged."""
    require_ordinary_user()
    return subprocess.run(
        argv,
        preexec_fn=drop_override,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def require_ordinary_user() -> None:
    """Skip the test where root's rights cannot be dropped."""
    try:
        subprocess.run([sys.executable, "-c", ""], preexec_fn=drop_override, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"root's rights cannot be dropped here: {error}")
