"""Ages as people write them."""

import pytest

from compozy.runtime.retention import read_age


@pytest.mark.parametrize(("text", "seconds"), [("30d", 2_592_000), ("12h", 43_200), (" 90s ", 90), ("0s", 0)])
def test_days_and_durations_are_read(text: str, seconds: float) -> None:
    assert read_age(text) == seconds


@pytest.mark.parametrize("text", ["", "d", "3 weeks", "-1d", "-5m", "1.5d"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_age(text)
