"""Loading modules that import the MCP SDK: in a thread, because it takes a second, and one at a time.

Two threads that enter the SDK through different modules can each wait for what the other loads; Python then hands out
modules that are not complete.
"""

import asyncio
import importlib
import threading
from types import ModuleType

_ONE_AT_A_TIME = threading.Lock()


async def load(name: str) -> ModuleType:
    """Return a module by its name."""
    return await asyncio.to_thread(_load, name)


def _load(name: str) -> ModuleType:
    with _ONE_AT_A_TIME:
        return importlib.import_module(name)
