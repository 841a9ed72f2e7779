"""docs/cli.md is what the program says about itself."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_cli_reference_is_the_one_the_program_generates() -> None:
    path = ROOT / "scripts" / "generate_cli_reference.py"
    spec = importlib.util.spec_from_file_location("generate_cli_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expected = module.render()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == expected, f"run {path.relative_to(ROOT)}"
