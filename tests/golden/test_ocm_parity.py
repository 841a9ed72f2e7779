"""The parity counts in docs/deviations.md are those of the recorded cases and of the listed deviations (issue 8)."""

import json
import re
from pathlib import Path

from tests.golden.test_ocm_text_cases import OTHER_LOAD, OTHER_VALIDATE, OTHER_VERDICT

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/deviations.md").read_text("utf-8").partition("# Where compozy judges capability manifests")[2]


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (ROOT / "tests/data/ocm" / name).read_text().splitlines()]


def counts() -> dict[str, tuple[int, int, int]]:
    """Cases, those that were decided to differ from the reference, and further ones that the page lists."""
    verdicts = rows("ocm_cases.jsonl")
    corpora = {
        "manifests": [row for row in verdicts if "doc" in row],
        "YAML and JSON texts": [row for row in verdicts if "doc" not in row],
        "conversions": rows("ocm_convert_cases.jsonl"),
        "file trees": rows("ocm_loader_cases.jsonl"),
        "hard constraints": rows("ocm_policy_cases.jsonl"),
    }
    others = {"YAML and JSON texts": OTHER_VERDICT, "file trees": OTHER_LOAD | OTHER_VALIDATE}
    return {
        name: (len(found), sum(map(differs, found)), len(others.get(name, ()))) for name, found in corpora.items()
    }


def differs(row: dict[str, object]) -> bool:
    """Whether what is wanted is another answer than the recorded one."""
    pairs = (
        ("want_valid", "expect_valid"),
        ("want_roundtrip_equal", "roundtrip_equal"),
        ("want_admitted", "admitted"),
    )
    if row.get("want_error"):
        return True
    return any(row[want] is not None and row[want] != row[had] for want, had in pairs if want in row and had in row)


def test_the_parity_counts_on_the_page_are_those_of_the_cases() -> None:
    table = re.findall(r"^\| ([A-Za-z ]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    shown = {name: (int(total), int(decided), int(listed)) for name, total, _, decided, listed in table}
    assert shown == counts()
    assert all(int(total) == int(same) + int(decided) + int(listed) for _, total, same, decided, listed in table)
