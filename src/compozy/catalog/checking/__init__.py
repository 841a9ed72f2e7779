"""Checking and repairing authored files wherever they lie, without a daemon (issue 3 items 4 and 5).

`targets` finds the files below a path, `files` checks one of them, `run` does both for many and repairs on request.
"""

# First of all imports: `record` knows how to load msgspec cheaply, and a check is a short-lived process.
from compozy.model import record as _record  # noqa: F401
