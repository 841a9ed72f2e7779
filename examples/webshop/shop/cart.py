"""A customer's cart."""

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass
class Line:
    sku: str
    quantity: int
    unit_price: Decimal

    @property
    def total(self) -> Decimal:
        return self.unit_price * self.quantity


@dataclass
class Cart:
    customer_id: str
    lines: list[Line] = field(default_factory=list)

    def add(self, sku: str, quantity: int, unit_price: Decimal) -> None:
        """Add an article; the same article again raises its quantity."""
        for line in self.lines:
            if line.sku == sku:
                line.quantity += quantity
                return
        self.lines.append(Line(sku, quantity, unit_price))

    def total(self) -> Decimal:
        return sum((line.total for line in self.lines), Decimal(0))
