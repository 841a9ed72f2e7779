"""Mails to customers."""

from typing import Protocol


class Transport(Protocol):
    def send(self, recipient: str, subject: str, body: str) -> None: ...


class Mailer:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def order_confirmed(self, customer_id: str, order_id: str) -> None:
        self._transport.send(customer_id, f"Your order {order_id}", "Thank you, your order is on its way.")

    def payment_declined(self, customer_id: str, reason: str) -> None:
        self._transport.send(customer_id, "Your payment was declined", f"Your bank says: {reason}")
