"""Mutated manifests give a result or our own problems, placed inside the text (issue 8 tests).

20,000 documents, a few seconds of work; `make fuzz` reads others and more.
"""

import json
from pathlib import Path

import pytest

from compozy.documents.source import InvalidUtf8, SourceText
from compozy.ocm.entries import Loaded
from compozy.ocm.formatting import format_json, format_yaml
from compozy.ocm.lint import advise
from compozy.ocm.loading import read_document, target_of
from compozy.ocm.target import to_manifest
from compozy.ocm.writing import manifest_digest, to_json, to_yaml
from compozy.ocm.yaml_text import YamlText
from tests.kit import fuzzing
from tests.kit.mutations import mutations

SEED = fuzzing.seed(20261130)
COUNT = fuzzing.times(10_000)
DATA = Path(__file__).resolve().parents[1] / "data" / "ocm"
ROWS = [json.loads(line) for line in (DATA / "ocm_cases.jsonl").read_text().splitlines()]
LOADED = [json.loads(line) for line in (DATA / "ocm_loader_cases.jsonl").read_text().splitlines()]
YAML = [row["yaml"] for row in ROWS if len(row.get("yaml", "")) in range(1, 3000)]
YAML += [text for row in LOADED for name, text in row["files"].items() if name.endswith(("yaml", "yml"))]
JSON = [row["json_text"] for row in ROWS if "json_text" in row]
JSON += [json.dumps(row["doc"]) for row in ROWS if "doc" in row and len(str(row["doc"])) < 3000]


def look(text: str, name: str) -> Loaded:
    loaded = read_document(text, name)
    lines = text.split("\n")
    for problem in loaded.all_problems():
        assert problem.message and len(problem.message) < 3000
        if problem.position is not None:
            assert 1 <= problem.position.line <= len(lines)
            assert problem.position.column <= len(lines[problem.position.line - 1]) + 1
    return loaded


def meaning(loaded: Loaded) -> list[str]:
    return [
        json.dumps(entry.document, sort_keys=True, default=str)
        if entry.is_valid and not has_odd_keys(entry.document)
        else str(entry.is_valid)
        for entry in loaded.entries
    ]


def has_odd_keys(value: object) -> bool:
    """Keys of several types have no order."""
    if isinstance(value, dict):
        return any(not isinstance(key, str) or has_odd_keys(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_odd_keys, value))


def use(loaded: Loaded) -> None:
    """Do with the valid entries what commands do with them."""
    for entry in loaded.entries:
        assert isinstance(advise(entry.document), list)
        if not entry.is_valid or entry.is_native:
            continue
        assert isinstance(entry.document, dict)
        assert to_manifest(target_of(entry)) == entry.document
        manifest_digest(entry.document)
        to_json(entry.document)
        text = to_yaml([entry.document])
        again = YamlText(text)
        if not any(
            "\ud800" <= char <= "\udfff" for char in json.dumps(entry.document, ensure_ascii=False, default=str)
        ):
            assert not again.is_broken, text


@pytest.mark.fuzz
@pytest.mark.parametrize(("seeds", "name"), [(YAML, "x.yaml"), (JSON, "x.json")], ids=["yaml", "json"])
def test_a_mutated_manifest_gives_a_result_or_our_problems(seeds: list[str], name: str) -> None:
    for data in mutations(seeds, COUNT, SEED):
        try:
            text = SourceText.decode(data).text
        except InvalidUtf8:
            continue
        use(look(text, name))
        after = (format_yaml if name.endswith("yaml") else format_json)(text)
        # Only the order of fields may differ: what was valid stays so, and means the same.
        assert meaning(read_document(after, name)) == meaning(read_document(text, name))
