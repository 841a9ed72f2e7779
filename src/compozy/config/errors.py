"""What goes wrong while reading the home and its configuration: with file, line and remedy.

Knows the exit code of the command line (78, contract §4.4) and the status a route answers when a workspace's
configuration is broken (422). Says nothing about who reports it.
"""

from typing import ClassVar

from compozy.model.errors import EXIT_GENERIC, EXIT_INVALID, LocalError


class ConfigError(LocalError):
    """A configuration file cannot be used; the message lists every problem with its place."""

    status: ClassVar[int] = 422
    default_code = "config_invalid"
    category = "config"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, exit_code=EXIT_INVALID, hint=hint)
        self.diagnostic = True


class HomeError(LocalError):
    """The home folder cannot be used as it is."""

    default_code = "home_unusable"
    category = "config"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, exit_code=EXIT_GENERIC, hint=hint)


class VaultError(LocalError):
    """The vault cannot be read or written; the message names the file and what to do."""

    status: ClassVar[int] = 422
    default_code = "vault_unusable"
    category = "vault"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message, exit_code=EXIT_INVALID, code=code)
        self.diagnostic = True


class TrustError(LocalError):
    """The record of what was trusted cannot be read or written; then nothing counts as trusted."""

    status: ClassVar[int] = 422
    default_code = "trust_unusable"
    category = "trust"

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=EXIT_INVALID)
        self.diagnostic = True
