"""The card gateway, as far as we use it."""

from decimal import Decimal
from typing import Protocol


class GatewayTimeout(Exception):
    """No answer in time. The gateway may or may not have charged the card."""


class CardDeclined(Exception):
    """The bank said no; trying again changes nothing."""


class Gateway(Protocol):
    def charge(self, amount: Decimal, card: str, *, idempotency_key: str, timeout: float) -> str:
        """Charge a card and return the charge id.

        The gateway answers a repeated idempotency key with the first charge instead of charging again.
        """
        ...

    def refund(self, charge_id: str, amount: Decimal) -> None: ...
