"""Providers of the running daemon: who can be used, asking them, and the catalog of their models (contract §3.6)."""

from compozy.runtime.providers.service import Providers

__all__ = ["Providers"]
