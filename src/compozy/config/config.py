"""The effective configuration of the daemon: defaults overlaid by home/config.toml (contract §2.1, §2.2)."""

from compozy.model.record import Record


class Config(Record, frozen=True, kw_only=True):
    """Every section the product has."""
