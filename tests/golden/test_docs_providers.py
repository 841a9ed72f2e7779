"""Every provider that our documentation shows is one that the configuration accepts."""

import re
from pathlib import Path

import pytest

from compozy.config.home import Home
from compozy.config.load import load_config

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```toml[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(match[1], id=f"{page.relative_to(ROOT)}:{page.read_text().count(chr(10), 0, match.start()) + 1}")
    for page in PAGES
    for match in BLOCK.finditer(page.read_text())
    if re.search(r"^\[providers\.", match[1], re.MULTILINE)
]


def test_the_documentation_shows_providers() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_provider_of_the_documentation_can_be_configured(text: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir(mode=0o700)
    home.config_file.write_text(text)
    named = re.findall(r"^\[providers\.([\w-]+)\]", text, re.MULTILINE)
    assert named and set(named) <= load_config(home).providers.keys()
