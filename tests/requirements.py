"""The promised behaviours, joined from `tests/promises/*.py`: each has an id, a source and a test or deferral.

Every module there exports ``PROMISES: tuple[Promise, ...]``. `tests/unit/test_requirements.py` keeps the list true.
"""

import importlib
import pkgutil

from tests import promises
from tests.promises import Promise


def all_promises() -> tuple[Promise, ...]:
    """Return every promise of every area, in the order of the area's module names."""
    found: list[Promise] = []
    for module in sorted(pkgutil.iter_modules(promises.__path__), key=lambda m: m.name):
        found.extend(importlib.import_module(f"tests.promises.{module.name}").PROMISES)
    return tuple(found)
