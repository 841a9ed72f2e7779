"""docs/formats.md is what the readers do: generated parts, an anchor per code, examples that load."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import compozy.documents
from compozy.documents.agents import check_agent
from compozy.documents.capabilities import check_capabilities
from compozy.documents.codes import CODES
from compozy.documents.mcp_json import check_mcp_json

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/formats.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```(?:markdown|toml|json) (\S+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_generated_parts_are_current() -> None:
    path = ROOT / "scripts/generate_formats_reference.py"
    spec = importlib.util.spec_from_file_location("generate_formats_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.render(PAGE) == PAGE, f"run {path.relative_to(ROOT)}"


def test_every_code_is_listed_once_and_has_its_anchor() -> None:
    codes = [code.code for code in CODES]
    assert len(codes) == len(set(codes))
    assert all(PAGE.count(f'<a id="code-{code}"></a>') == 1 for code in codes)


def test_every_code_in_the_source_is_in_the_list() -> None:
    known = {code.code for code in CODES}
    used = set()
    for folder in ("documents", "catalog"):
        for path in (ROOT / "src/compozy" / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    named = [k.value for k in node.keywords if k.arg == "code"]
                    if node.func.id in ("diagnostic", "FileProblem"):
                        named += node.args[:1]
                    if node.func.id in ("Problem", "diagnostic", "FileProblem"):
                        used |= {n.value for n in named if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    assert used - known == set()
    assert len(used) > 50


@pytest.mark.parametrize(("name", "text"), EXAMPLES, ids=[f"{i}-{name}" for i, (name, _) in enumerate(EXAMPLES)])
def test_an_example_loads_without_a_finding(name: str, text: str, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    if name == "AGENT.md":
        assert check_agent(folder / name).diagnostics == ()
    elif name == "mcp.json":
        assert check_mcp_json(folder / name).diagnostics == ()
    else:
        report = check_capabilities(folder)
        assert report.diagnostics == () and report.capabilities


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 6


def test_the_documented_names_can_be_imported() -> None:
    for name in compozy.documents.__all__:
        assert getattr(compozy.documents, name) is not None
    with pytest.raises(AttributeError):
        _ = compozy.documents.nothing  # type: ignore[attr-defined]


def test_importing_the_package_reads_no_yaml_and_no_toml_library() -> None:
    code = "import sys, compozy.documents; print([m for m in ('yaml', 'rtoml', 'asyncio') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
    code = (
        "import sys, compozy.documents.agents; print([m for m in ('tomlkit', 'asyncio', 'rich') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
