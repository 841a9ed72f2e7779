"""Durable sessions: create, bind on first prompt, prompt, permissions, cancel, stop, recover (contract §5)."""

from compozy.runtime.sessions.deps import Bounds, Deps
from compozy.runtime.sessions.service import Sessions

__all__ = ["Bounds", "Deps", "Sessions"]
