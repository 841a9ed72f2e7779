"""Stock and reservations."""

from datetime import datetime, timedelta


class OutOfStock(Exception):
    """Fewer articles are left than were asked for."""


class Inventory:
    def __init__(self, stock: dict[str, int], hold: timedelta) -> None:
        self._stock = stock
        self._hold = hold
        self._reserved: dict[str, list[tuple[datetime, int]]] = {}

    def reserve(self, sku: str, quantity: int, now: datetime) -> None:
        """Hold articles for an order that is not paid yet; the hold expires by itself."""
        self._expire(sku, now)
        held = sum(count for _, count in self._reserved.get(sku, []))
        if self._stock.get(sku, 0) - held < quantity:
            raise OutOfStock(sku)
        self._reserved.setdefault(sku, []).append((now + self._hold, quantity))

    def _expire(self, sku: str, now: datetime) -> None:
        self._reserved[sku] = [(until, count) for until, count in self._reserved.get(sku, []) if until > now]
