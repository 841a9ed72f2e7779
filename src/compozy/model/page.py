"""One page of a list (contract §3.2)."""

from compozy.model.record import Record


class Page(Record, frozen=True, kw_only=True):
    """`total` counts all rows that match the filter; `next_cursor` is opaque and absent on the last page."""

    limit: int
    total: int
    has_more: bool
    next_cursor: str | None = None
