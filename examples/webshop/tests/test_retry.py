"""The retry of card payments."""

from decimal import Decimal

from shop.payments.gateway import GatewayTimeout
from shop.payments.retry import charge_with_retry
from shop.settings import Settings


class SlowOnce:
    """A gateway that charges, but answers the first call too late."""

    def __init__(self) -> None:
        self.charges: list[str] = []

    def charge(self, amount: Decimal, card: str, *, idempotency_key: str, timeout: float) -> str:
        self.charges.append(idempotency_key)
        if len(self.charges) == 1:
            raise GatewayTimeout
        return f"ch_{len(self.charges)}"


def test_a_timeout_is_retried() -> None:
    gateway = SlowOnce()
    assert charge_with_retry(gateway, "o-1", Decimal("5.00"), "card", Settings(backoff_seconds=0)) == "ch_2"
