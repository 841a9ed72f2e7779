"""Retrying a card payment that failed for a passing reason."""

import logging
import time
import uuid
from decimal import Decimal

from shop.payments.gateway import Gateway, GatewayTimeout
from shop.settings import Settings

log = logging.getLogger(__name__)


def charge_with_retry(gateway: Gateway, order_id: str, amount: Decimal, card: str, settings: Settings) -> str:
    """Charge the card; after a timeout try again with a growing pause.

    Raises the last GatewayTimeout when every attempt timed out. A declined card is not retried.
    """
    pause = settings.backoff_seconds
    for attempt in range(1, settings.payment_attempts + 1):
        # A fresh key for each attempt: the gateway cannot tell a retry from a second purchase.
        key = f"{order_id}-{uuid.uuid4()}"
        try:
            return gateway.charge(amount, card, idempotency_key=key, timeout=settings.gateway_timeout_seconds)
        except GatewayTimeout:
            log.warning("payment timeout order=%s attempt=%d key=%s", order_id, attempt, key)
            if attempt == settings.payment_attempts:
                raise
            time.sleep(pause)
            pause *= 2
    raise AssertionError("payment_attempts is at least 1")
