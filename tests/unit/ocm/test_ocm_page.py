"""docs/ocm.md is what the program does: examples, codes, fields, and the warning it shows (issue 8 done when)."""

import re
from pathlib import Path

import pytest

from compozy import ocm
from compozy.ocm.grammar import FIELDS, KINDS, PROTOCOLS
from compozy.ocm.lint import advise
from compozy.ocm.loading import read_document
from compozy.ocm.problems import CODES

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "ocm.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```yaml (?P<info>[^\n]+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("info", "text"), EXAMPLES, ids=[str(n) for n in range(len(EXAMPLES))])
def test_an_example_is_what_the_page_says(info: str, text: str) -> None:
    loaded = read_document(text, "capability.yaml")
    assert loaded.entries and not loaded.fails()
    assert bool(loaded.all_problems()) == info.startswith("broken")


def test_the_long_example_gets_no_advice() -> None:
    (document,) = [entry.document for entry in read_document(EXAMPLES[1][1], "x.yaml").entries]
    assert advise(document) == []


def test_the_warning_on_the_page_is_the_one_that_is_shown() -> None:
    (broken,) = [text for info, text in EXAMPLES if info.startswith("broken")]
    (problem,) = read_document(broken, "x.yaml").all_problems()
    assert problem.position is not None
    place = f"{problem.position.line}:{problem.position.column}"
    assert f"{place}: warning: {problem.field}: {problem.message} [{problem.code}]" in PAGE


def test_every_code_has_an_anchor_and_its_sentence() -> None:
    listed = re.findall(r'^\* <a id="code-([a-z0-9-]+)"></a>`([a-z0-9.-]+)`: (.*)\.$', PAGE, re.MULTILINE)
    assert {code: text for _, code, text in listed} == CODES
    assert all(anchor == code.replace(".", "") for anchor, code, _ in listed)


def test_every_field_kind_and_protocol_is_on_the_page() -> None:
    assert not [word for word in (*FIELDS, *KINDS, *PROTOCOLS) if f"`{word}`" not in PAGE]


def test_the_programs_on_the_page_run() -> None:
    programs = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(programs) == 2
    for program in programs:
        exec(compile(program, "docs/ocm.md", "exec"), {})


def test_the_package_offers_exactly_what_it_names() -> None:
    for name in ocm.__all__:
        assert getattr(ocm, name).__name__ == name
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = ocm.nothing


def test_every_command_on_the_page_is_one() -> None:
    from compozy.cli.command_table import COMMANDS

    known = {entry.path for entry in COMMANDS}
    shown = set(re.findall(r"^compozy (ocm [a-z]+)", PAGE, re.MULTILINE)) | set(
        re.findall(r"`compozy (ocm [a-z]+)", PAGE)
    )
    assert shown and shown <= known
    assert {one for one in known if one.startswith("ocm ")} <= shown
