"""The local-first runtime for agent definitions.

Importing this package is cheap on purpose: the command line's start-up time is part of the product.
The typed client is reached as ``compozy.Client`` and is loaded on first use.
"""

__version__ = "0.1.0"
