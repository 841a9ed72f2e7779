"""Giving money back."""

from decimal import Decimal

from shop.payments.gateway import Gateway


def refund_order(gateway: Gateway, charge_ids: list[str], amount: Decimal) -> None:
    """Refund every charge of an order but the first; the first one paid for it."""
    for charge_id in charge_ids[1:]:
        gateway.refund(charge_id, amount)
