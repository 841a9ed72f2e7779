"""How far the tests with made-up input search: always the same input in `make test`, other and more in `make fuzz`.

`COMPOZY_FUZZ_SEED` names another search and `COMPOZY_FUZZ_FACTOR` says how many times as long it is. Without them
whatever is drawn follows from the code alone, so that a change cannot turn a test red that it has nothing to do with.
"""

import os
import random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

IS_SEARCHING = "COMPOZY_FUZZ_SEED" in os.environ
FACTOR = int(os.environ.get("COMPOZY_FUZZ_FACTOR", "1"))


def times(count: int) -> int:
    """Return how many made-up cases to run where `count` are usual."""
    return count * FACTOR


def seed(usual: int | str) -> str | int:
    """Return the seed of a search whose usual one is `usual`."""
    return f"{os.environ['COMPOZY_FUZZ_SEED']} {usual}" if IS_SEARCHING else usual


def draws(usual: int | str) -> random.Random:
    """Return the source of one test's chance: equal arguments draw the same."""
    return random.Random(seed(usual))


def settle_hypothesis() -> None:
    """Make Hypothesis draw what follows from the test alone, or anything while searching; no judging by the clock."""
    common = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("settled", derandomize=True, database=None, **common)
    settings.register_profile("searching", derandomize=False, **common)
    settings.load_profile("searching" if IS_SEARCHING else "settled")
    if not IS_SEARCHING:
        # Otherwise examples hold constants of the modules that happen to be loaded: of other tests, of other changes.
        assert callable(providers._get_local_constants)
        providers._get_local_constants = Constants


def search_longer(item: pytest.Item) -> None:
    """Mark a Hypothesis test as `fuzz` and multiply its examples, also where it says how many it wants."""
    test = getattr(item, "obj", None)
    chosen = getattr(test, "_hypothesis_internal_use_settings", None)
    if not isinstance(chosen, settings):
        return
    item.add_marker("fuzz")
    if IS_SEARCHING:
        more = settings(chosen, max_examples=times(chosen.max_examples), derandomize=False, print_blob=True)
        getattr(test, "__func__", test)._hypothesis_internal_use_settings = more
