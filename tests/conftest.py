"""What all tests share: nothing of how or where they were started shows in what they do.

Made-up input is the same in every run, unless `make fuzz` searches for bugs. Signals that were ignored where we were
started, as a shell does for `make test &`, would be ignored by every program we start: Ctrl-C could not be tested.
"""

import signal

import pytest

from tests.kit.fuzzing import search_longer, settle_hypothesis

settle_hypothesis()
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        search_longer(item)
