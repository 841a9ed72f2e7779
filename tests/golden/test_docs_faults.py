"""docs/faults.md maps each of the 18 groups of faults to scenarios and tests that exist, and leaves none out."""

import ast
import re
from pathlib import Path

from tests.kit.faults import FAULTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "faults.md").read_text()
GROUPS = range(1, 19)
# Faults of the daemon and of the machine, which no script of an agent can reproduce.
OF_THE_DAEMON = 18
_SECTION = re.compile(r"^## (\d+)\. .*?(?=^## )", re.MULTILINE | re.DOTALL)


def _sections() -> dict[int, str]:
    return {int(found[1]): found[0] for found in _SECTION.finditer(PAGE)}


def _tests_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_group_has_its_section_in_order() -> None:
    assert list(_sections()) == list(GROUPS)


def test_every_group_names_tests_and_every_named_test_exists() -> None:
    for group, text in _sections().items():
        named = re.findall(r"^\* `(tests/\S+)`$", text, re.MULTILINE)
        assert named, f"group {group} names no test"
        for node in named:
            file, _, name = node.partition("::")
            assert name in _tests_of(ROOT / file), f"group {group}: there is no {node}"


def test_the_scenarios_of_each_group_are_those_of_the_kit() -> None:
    for group, text in _sections().items():
        line = next((line for line in text.splitlines() if line.startswith("Scenarios: ")), "")
        named = re.findall(r"`([^`]+)`", line)
        assert named == [fault.name for fault in FAULTS if fault.group == group], f"group {group}"
        assert named or group == OF_THE_DAEMON


def test_the_names_of_scenarios_are_used_once() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names))
