"""docs/configuration.md is what the program reads, and every key has a meaning."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from compozy.config.home import Home
from compozy.config.key_meanings import MEANINGS, PROVIDER_MEANINGS
from compozy.config.load import load_config
from compozy.config.providers import ProviderTable

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generator", ROOT / "scripts" / "generate_configuration.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_key_has_a_meaning_and_every_meaning_a_key(generator: ModuleType) -> None:
    assert set(generator.config_keys()) == set(MEANINGS)
    assert {name for name, _ in generator.keys_of(ProviderTable)} == set(PROVIDER_MEANINGS)


def test_the_page_is_what_the_program_reads(generator: ModuleType) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert text == generator.render(), "run scripts/generate_configuration.py"


def test_the_examples_of_the_page_load(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    examples = text.split("```toml\n")[1:]
    assert examples
    for number, example in enumerate(examples):
        home = Home(tmp_path / str(number))
        home.root.mkdir()
        home.config_file.write_text(example.partition("```")[0])
        assert load_config(home).providers
