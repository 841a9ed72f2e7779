"""The house rules a machine can keep: module size, names, opening docstrings, one list of dependencies."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "src").rglob("*.py"))
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_fits_on_a_few_screens_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 500, "split it by concept"
    assert path.stem not in FORBIDDEN_NAMES
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "open the module with a docstring"


def test_the_lock_input_lists_exactly_the_dependencies_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    listed = [
        line for line in (ROOT / "requirements.in").read_text().splitlines() if line and not line.startswith("#")
    ]
    assert listed == declared


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_file_names_no_registry_and_hashes_every_package(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text and "--index" not in text
    pins = [line for line in text.splitlines() if "==" in line and not line.lstrip().startswith("#")]
    assert pins and all(line.endswith("\\") for line in pins), "every pin is followed by its hashes"
