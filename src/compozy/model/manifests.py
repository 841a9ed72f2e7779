"""The fleet as Open Capability Manifests: the answer of the catalog route (issue 8 item 5)."""

from compozy.model.record import Record


class Skipped(Record, frozen=True, kw_only=True):
    """A capability that has no manifest."""

    agent: str
    capability: str
    reason: str


class OcmCatalog(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The manifests of a place."""

    manifests: tuple[dict[str, object], ...]
    skipped: tuple[Skipped, ...]
