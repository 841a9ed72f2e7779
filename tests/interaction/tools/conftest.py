"""Fixtures for tests of tools over a real daemon: see `tests/kit/worlds.py`."""

from tests.kit.worlds import own_world, shared_daemon, world

__all__ = ["own_world", "shared_daemon", "world"]
