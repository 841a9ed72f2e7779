"""Every example file in our own documentation is what `compozy agent check` accepts (reports P13).

A fenced block counts as an example when its info string names the file (```` ```yaml AGENT.md ````), or when it looks
like one: a header between fences, a capability catalog, an mcp.json. The word `broken` in the info string says that
the example is meant to fail.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from compozy.catalog.checking.files import text_check
from compozy.model.diagnostic import Severity

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("README.md")])
FENCE = re.compile(
    r"^(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=mark) *$", re.M | re.S
)
KNOWN = re.compile(r"(?:AGENT|SOUL|HEARTBEAT|SKILL)\.md|mcp\.json|capabilities(?:/[\w.-]+)?\.(?:toml|json)")


class Example(NamedTuple):
    page: Path
    line: int
    name: str
    text: str
    is_broken: bool

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}:{self.name}"


def guess(body: str) -> str:
    if body.startswith("---\n") and re.search(r"^---$", body[4:], re.M):
        return "SKILL.md" if re.search(r"^(description|metadata):", body, re.M) else "AGENT.md"
    if re.search(r'"mcp_?[sS]ervers"\s*:', body) and body.lstrip().startswith("{"):
        return "mcp.json"
    if "[[capabilities]]" in body:
        return "capabilities.toml"
    return ""


def examples_of(page: Path) -> list[Example]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(
            line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in match["body"].splitlines(True)
        )
        named = KNOWN.search(match["info"])
        name = named.group() if named else ("" if ".json" in match["info"] else guess(body))
        if name:
            line = text.count("\n", 0, match.start()) + 1
            found.append(Example(page, line, name, body, "broken" in match["info"].split()))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_json_and_toml_of_the_documentation_parse(page: Path) -> None:
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        language, *words = match["info"].split() or [""]
        if "broken" in words or "…" in match["body"] or "..." in match["body"]:
            continue
        if language == "json":
            json.loads(match["body"])
        elif language == "toml":
            tomllib.loads(match["body"])


def python_blocks() -> list[tuple[str, str]]:
    page = ROOT / "docs/checking.md"
    blocks = [match["body"] for match in FENCE.finditer(page.read_text()) if match["info"].strip() == "python"]
    return [(f"{page.name}:{index}", body) for index, body in enumerate(blocks)]


@pytest.mark.parametrize(("name", "source"), python_blocks())
def test_the_python_of_the_checking_page_runs(name: str, source: str, tmp_path: Path) -> None:
    agent = tmp_path / ".compozy/agents/tide-clerk/AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nname: tide-clerk\nprovider: claude\nmodel: x\n---\nHi\n")
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), name


EXAMPLES = [example for page in PAGES for example in examples_of(page)]


def test_the_documentation_has_examples_of_every_kind_of_file() -> None:
    names = {example.name for example in EXAMPLES}
    assert {"AGENT.md", "SOUL.md", "HEARTBEAT.md", "SKILL.md"} <= names


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_of_the_documentation_is_what_the_checker_accepts(example: Example) -> None:
    found = text_check(Path("/docs") / example.name)(example.text)
    errors = [
        f"{one.position and one.position.line}: {one.message}" for one in found if one.severity is Severity.ERROR
    ]
    assert bool(errors) == example.is_broken, errors
