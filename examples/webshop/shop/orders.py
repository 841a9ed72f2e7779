"""From a cart to a paid order."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from shop.cart import Cart
from shop.inventory import Inventory
from shop.notifications import Mailer
from shop.payments.gateway import CardDeclined, Gateway
from shop.payments.retry import charge_with_retry
from shop.settings import Settings


@dataclass
class Order:
    order_id: str
    customer_id: str
    amount: Decimal
    state: str = "new"
    charge_id: str = ""


def place_order(
    cart: Cart,
    card: str,
    *,
    gateway: Gateway,
    inventory: Inventory,
    mailer: Mailer,
    settings: Settings,
    now: datetime,
) -> Order:
    """Reserve the articles, charge the card, confirm by mail.

    A declined card leaves the order in state `declined`; the reservation expires by itself.
    """
    order = Order(order_id=f"o-{now:%Y%m%d%H%M%S}", customer_id=cart.customer_id, amount=cart.total())
    for line in cart.lines:
        inventory.reserve(line.sku, line.quantity, now)
    try:
        order.charge_id = charge_with_retry(gateway, order.order_id, order.amount, card, settings)
    except CardDeclined as declined:
        order.state = "declined"
        mailer.payment_declined(order.customer_id, str(declined))
        return order
    order.state = "paid"
    mailer.order_confirmed(order.customer_id, order.order_id)
    return order
