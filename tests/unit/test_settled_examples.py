"""Made-up input follows from the tests alone, so that nothing else can turn them red; `make fuzz` makes up others."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit import fuzzing
from tests.kit.mutations import mutations

ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = """
import json
from tests.kit import fuzzing
fuzzing.settle_hypothesis()
{before}
from tests.unit.test_settled_examples import made_up
print(json.dumps(made_up()))
"""
pytestmark = pytest.mark.skipif(fuzzing.IS_SEARCHING, reason="says what holds without COMPOZY_FUZZ_SEED")


def made_up() -> list[object]:
    """Return what Hypothesis and our own fuzzers make up in this process."""
    drawn: list[object] = []

    @settings(max_examples=300)
    @given(st.text(max_size=12), st.integers(), st.sets(st.text(max_size=3)))
    def draw(text: str, number: int, names: set[str]) -> None:
        drawn.append([text, number, sorted(names)])

    draw()
    own = mutations(["name: x\ntools: [a]\n"], fuzzing.times(50), fuzzing.seed(3))
    return [drawn, [data.decode("latin-1") for data in own], fuzzing.draws("who").random()]


def in_another_process(before: str = "", **variables: str) -> list[object]:
    argv = [sys.executable, "-c", _PROGRAM.format(before=before)]
    done = subprocess.run(
        argv, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, check=True, timeout=240
    )
    told = json.loads(done.stdout)
    assert isinstance(told, list)
    return told


def test_the_same_is_made_up_whatever_else_is_loaded_and_however_names_are_hashed() -> None:
    here = json.loads(json.dumps(made_up()))
    assert here == in_another_process(PYTHONHASHSEED="1")
    assert here == in_another_process(before="import compozy.cli.command_table", PYTHONHASHSEED="2")


def test_a_seed_makes_up_other_input_and_a_factor_more() -> None:
    here = made_up()
    other = in_another_process(COMPOZY_FUZZ_SEED="5", COMPOZY_FUZZ_FACTOR="3")
    assert len(here[1]) == 50 and len(other[1]) == 150  # type: ignore[arg-type]
    assert all(one != another for one, another in zip(here, other, strict=True))


def test_a_test_that_says_how_many_examples_it_wants_gets_as_many_times_more(tmp_path: Path) -> None:
    """The whole way of `make fuzz`: over pytest, with this conftest."""
    (tmp_path / "test_counted.py").write_text(
        "from hypothesis import given, settings, strategies as st\n"
        "from pathlib import Path\n"
        "count = 0\n"
        "@settings(max_examples=7)\n"
        "@given(st.integers())\n"
        "def test_counted(number):\n"
        "    global count\n"
        "    count += 1\n"
        f"    Path({str(tmp_path / 'count')!r}).write_text(str(count))\n"
    )
    for variables, expected in (({}, 7), ({"COMPOZY_FUZZ_SEED": "5", "COMPOZY_FUZZ_FACTOR": "4"}, 28)):
        argv = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-m", "fuzz"]
        argv += ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={tmp_path}", str(tmp_path / "test_counted.py")]
        done = subprocess.run(argv, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, timeout=240)
        assert done.returncode == 0, done.stdout
        assert int((tmp_path / "count").read_text()) == expected
