"""Settings of the service, read once at start."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    gateway_url: str = "https://gateway.invalid/v2"
    gateway_timeout_seconds: float = 4.0
    # Raised from 3 on the evening of the sale.
    payment_attempts: int = 5
    backoff_seconds: float = 0.5
    reservation_minutes: int = 15
    mail_sender: str = "orders@shop.invalid"


def load() -> Settings:
    """Return the settings, with SHOP_* variables on top of the defaults."""
    attempts = int(os.environ.get("SHOP_PAYMENT_ATTEMPTS", Settings.payment_attempts))
    return Settings(payment_attempts=attempts)
