"""Open Capability Manifests (OCM v1): what one capability can do, in a form that any router can read.

This package validates, loads and converts manifests, decides hard constraints, chooses, and calls endpoints. It knows
nothing of the daemon. What programs need most is named here and loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compozy.ocm.endpoints.binding import bind_endpoint
    from compozy.ocm.loading import load, load_targets
    from compozy.ocm.manifest import read_manifest
    from compozy.ocm.selection.engine import Selector
    from compozy.ocm.validate import find_problems

__all__ = ["Selector", "bind_endpoint", "find_problems", "load", "load_targets", "read_manifest"]

_HOMES = {
    "Selector": "selection.engine",
    "bind_endpoint": "endpoints.binding",
    "find_problems": "validate",
    "load": "loading",
    "load_targets": "loading",
    "read_manifest": "manifest",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"compozy.ocm.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'compozy.ocm' has no attribute {name!r}")
