"""What all tests share: made-up input is the same in every run, unless `make fuzz` searches for bugs."""

import pytest

from tests.kit.fuzzing import search_longer, settle_hypothesis

settle_hypothesis()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        search_longer(item)
