"""Open Capability Manifests (OCM v1): what one capability can do, in a form that any router can read.

This package validates, loads and converts manifests, decides hard constraints, chooses, and calls endpoints. It knows
nothing of the daemon. `compozy.ocm.bind_endpoint` is loaded on first use.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compozy.ocm.endpoints.binding import bind_endpoint

__all__ = ["bind_endpoint"]


def __getattr__(name: str) -> object:
    if name == "bind_endpoint":
        from compozy.ocm.endpoints.binding import bind_endpoint  # noqa: PLC0415 - start-up cost

        return bind_endpoint
    raise AttributeError(f"module 'compozy.ocm' has no attribute {name!r}")
