"""What the product promises, one module per area; `tests/requirements.py` joins them and a test checks them."""

from typing import NamedTuple


class Promise(NamedTuple):
    """One promised behaviour: exactly one of `test` (a pytest node id without parameters) and `deferred` is set."""

    id: str
    source: str
    text: str
    test: str = ""
    deferred: str = ""
