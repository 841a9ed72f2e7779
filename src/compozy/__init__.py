"""The local-first runtime for agent definitions.

Importing this package is cheap on purpose: the command line's start-up time is part of the product.
The typed client is reached as ``compozy.Client`` and is loaded on first use.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compozy.client.typed import Client

__version__ = "0.1.0"
__all__ = ["Client", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Client":
        from compozy.client.typed import Client  # noqa: PLC0415 - start-up cost

        return Client
    raise AttributeError(f"module 'compozy' has no attribute {name!r}")
