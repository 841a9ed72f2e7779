"""`compozy agent check`, `skill check`, `agent inspect` and `schema` as processes (issue 3 items 4-6, D30)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = "---\nname: tide-clerk\nprovider: claude\n---\n\nKeep the tables current.\n"
FIXABLE = "---\n# who\nname: tide-clerk\nmodle: x   # why\ntools: a__b\n---\n\nKeep the tables current.\n"
DUPLICATE = "---\nname: quay\nmodel: a\nmodel: b\n---\nHi\n"
WARNED = "---\nname: bell\nmcp_servers:\n  - {name: x, command: y, env: {API_TOKEN: abc}}\n---\nHi\n"


def run(
    *words: str, cwd: Path, home: Path | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "COMPOZY_HOME": str(home or cwd / "home"), "PYTHONWARNINGS": "error", "NO_COLOR": ""}
    return subprocess.run(
        [sys.executable, "-m", "compozy", *words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        input=stdin,
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    write(root, "tide-clerk", GOOD)
    return root


def write(root: Path, folder: str, text: str) -> Path:
    path = root / ".compozy/agents" / folder / "AGENT.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_clean_workspace_is_0_and_one_summary_line(workspace: Path) -> None:
    done = run("agent", "check", cwd=workspace)
    assert (done.returncode, done.stdout, done.stderr) == (0, "checked 1 file: no problems\n", "")


def test_problems_are_1_with_the_line_the_caret_and_the_repair(workspace: Path) -> None:
    write(workspace, "tide-clerk", FIXABLE)
    done = run("agent", "check", cwd=workspace)
    assert done.returncode == 1
    assert (
        '.compozy/agents/tide-clerk/AGENT.md:4:1: error: unknown field "modle": did you mean "model"?' in done.stdout
    )
    assert "    4 | modle: x   # why\n      | ^^^^^\n" in done.stdout
    assert done.stdout.endswith(
        "checked 1 file: 2 errors, 0 warnings (2 can be repaired: run again with --fix, or --diff to look first)\n"
    )
    assert "\x1b" not in done.stdout


def test_fix_writes_the_repairs_once_and_the_second_run_has_nothing_to_do(workspace: Path) -> None:
    path = write(workspace, "tide-clerk", FIXABLE)
    done = run("agent", "check", "--fix", cwd=workspace)
    assert done.returncode == 0
    assert "repaired .compozy/agents/tide-clerk/AGENT.md: rename it to model" in done.stdout
    assert path.read_text() == FIXABLE.replace("modle", "model").replace("tools: a__b", "tools: [a__b]")
    before = path.stat().st_mtime_ns
    assert run("agent", "check", "--fix", cwd=workspace).stdout == "checked 1 file: no problems\n"
    assert path.stat().st_mtime_ns == before


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patch")
def test_diff_changes_nothing_and_its_patch_applies(workspace: Path) -> None:
    path = write(workspace, "tide-clerk", FIXABLE)
    done = run("agent", "check", "--diff", cwd=workspace)
    assert done.returncode == 1 and path.read_text() == FIXABLE
    assert "checked 1 file" in done.stderr
    subprocess.run(["git", "apply", "-p1", "-"], cwd=workspace, input=done.stdout, text=True, check=True, timeout=60)
    assert run("agent", "check", cwd=workspace).returncode == 0


def test_what_has_no_repair_stays_and_keeps_the_exit_code(workspace: Path) -> None:
    path = write(workspace, "quay", DUPLICATE)
    done = run("agent", "check", "--fix", cwd=workspace)
    assert done.returncode == 1 and path.read_text() == DUPLICATE
    assert "already defined (lines 3 and 4)" in done.stdout


def test_warnings_pass_unless_strict(workspace: Path) -> None:
    write(workspace, "bell", WARNED)
    done = run("agent", "check", cwd=workspace)
    assert done.returncode == 0 and "env-secret-like" in done.stdout
    assert run("agent", "check", "--strict", cwd=workspace).returncode == 1


@pytest.mark.parametrize(
    "words",
    [("nosuch",), ("--fix", "--diff"), ("--nonsense",), ("-o", "xml"), ("plain.txt",)],
    ids=lambda w: " ".join(w),
)
def test_a_line_that_cannot_be_understood_is_2(words: tuple[str, ...], workspace: Path) -> None:
    (workspace / "plain.txt").write_text("x")
    done = run("agent", "check", *words, cwd=workspace)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ")


def test_without_a_path_workspace_and_home_are_checked_from_any_folder_below(workspace: Path, tmp_path: Path) -> None:
    home = tmp_path / ".compozy"
    (home / "agents/g").mkdir(parents=True)
    (home / "agents/g/AGENT.md").write_text("---\nname: g\n---\n")
    below = workspace / "deep/er"
    below.mkdir(parents=True)
    done = run("agent", "check", cwd=below, home=home)
    assert "agent prompt is required" in done.stdout
    assert "checked 2 files: 1 error" in done.stdout


def test_every_machine_format_says_the_same(workspace: Path) -> None:
    write(workspace, "tide-clerk", FIXABLE)
    as_json = json.loads(run("agent", "check", "--json", cwd=workspace).stdout)
    assert as_json["summary"] == {"files": 1, "errors": 2, "warnings": 0, "repairable": 2, "repaired": 0}
    places = [(one["path"], one["line"], one["column"]) for one in as_json["diagnostics"]]
    assert places[0] == (str(workspace / ".compozy/agents/tide-clerk/AGENT.md"), 4, 1)
    lines = [json.loads(line) for line in run("agent", "check", "-o", "jsonl", cwd=workspace).stdout.splitlines()]
    assert [line["type"] for line in lines] == ["diagnostic", "diagnostic", "summary"]
    sarif = json.loads(run("agent", "check", "-o", "sarif", cwd=workspace).stdout)
    regions = [one["locations"][0]["physicalLocation"]["region"] for one in sarif["runs"][0]["results"]]
    assert [(one["startLine"], one["startColumn"]) for one in regions] == [
        (line, column) for _, line, column in places
    ]
    github = run("agent", "check", "-o", "github", cwd=workspace).stdout.splitlines()
    assert github[0].startswith("::error file=.compozy/agents/tide-clerk/AGENT.md,line=4,col=1,endColumn=6,")
    assert run("agent", "check", "-o", "toon", cwd=workspace).stdout.startswith("diagnostics[2]")


def test_file_names_nobody_can_type_break_no_output(workspace: Path) -> None:
    for name in (b"b\xffd", b"new\nline", b"tab\there"):
        folder = os.fsencode(workspace / ".compozy/agents") + b"/" + name
        os.makedirs(folder)  # noqa: PTH103 - a name that is no text
        Path(os.fsdecode(folder + b"/AGENT.md")).write_text("---\nname: x\n---\n")
    for chosen in ("human", "json", "jsonl", "sarif", "github", "toon"):
        done = run("agent", "check", "-o", chosen, cwd=workspace)
        assert done.returncode == 1 and done.stderr == "", chosen
        if chosen == "sarif":
            assert "b%FFd" in done.stdout and "new%0Aline" in done.stdout
        if chosen == "human":
            assert "new·line/AGENT.md:" in done.stdout
    assert run("agent", "check", "--diff", cwd=workspace).returncode == 1


def test_skill_check_looks_at_skills_only(workspace: Path) -> None:
    write(workspace, "tide-clerk", FIXABLE)
    skill = workspace / ".compozy/skills/s/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: s\ndescripton: x\n---\nHi\n")
    done = run("skill", "check", "--fix", cwd=workspace)
    assert done.returncode == 0 and "checked 1 file" in done.stdout
    assert skill.read_text() == "---\nname: s\ndescription: x\n---\nHi\n"
    assert run("skill", "check", ".compozy/agents/tide-clerk", cwd=workspace).returncode == 2


def test_the_checker_needs_none_of_the_heavy_parts(workspace: Path) -> None:
    script = (
        "import sys; from compozy.cli.app import main; "
        "code = main(['agent', 'check', '.compozy/agents/tide-clerk/AGENT.md']); "
        "heavy = [m for m in ('rich', 'asyncio', 'starlette', 'uvicorn', 'tomlkit', 'compozy.daemon', "
        "'compozy.client', 'compozy.runtime', 'difflib', 'zoneinfo', 'typing_extensions') if m in sys.modules]; "
        "sys.exit(f'{heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=workspace, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_inspect_shows_values_servers_digests_and_where_each_was_written(workspace: Path) -> None:
    folder = workspace / ".compozy/agents/tide-clerk"
    (folder / "AGENT.md").write_text(
        "---\nname: tide-clerk\nmodel: ' m '\nmcp_servers:\n- {name: a, command: x}\n"
        "- {name: b, command: y, env: {API_TOKEN: abc}}\n---\n\nHi\n"
    )
    (folder / "mcp.json").write_text('{"mcpServers": {"a": {"command": "z"}, "c": {"url": "https://h.example"}}}')
    (folder / "capabilities.toml").write_text('[[capabilities]]\nid = "t"\nsummary = "S."\noutcome = "O."\n')
    done = run("agent", "inspect", str(folder), "--json", cwd=workspace)
    assert done.returncode == 0
    value = json.loads(done.stdout)["value"]
    assert value["model"] == "m" and value["prompt"] == "Hi"
    sources = {one["name"]: Path(one["source"]).name for one in value["mcp_servers"]}
    assert sources == {"a": "mcp.json", "b": "AGENT.md", "c": "mcp.json"}
    assert value["mcp_servers"][0]["command"] == "z" and "replaces" in value["mcp_servers"][0]
    assert value["mcp_servers"][1]["env"] == {"API_TOKEN": "[REDACTED]"}
    assert value["capabilities"][0]["digest"].startswith("sha256:") and len(value["definition_digest"]) == 64
    assert value["origins"]["model"] == f"{folder / 'AGENT.md'}:3"
    assert value["origins"]["prompt"] == f"{folder / 'AGENT.md'}:9"
    assert value["origins"]["capabilities"] == str(folder / "capabilities.toml")
    human = run("agent", "inspect", str(folder), cwd=workspace).stdout
    assert "model: m   (.compozy/agents/tide-clerk/AGENT.md:3)" in human and "abc" not in human


@pytest.mark.parametrize("name", ["mcp.json", "capabilities.toml", "capabilities"])
def test_inspect_takes_sidecars_as_well(name: str, workspace: Path) -> None:
    folder = workspace / ".compozy/agents/tide-clerk"
    if name == "capabilities":
        (folder / name).mkdir()
        (folder / name / "t.toml").write_text('id = "t"\nsummary = "S."\noutcome = "O."\n')
    elif name == "mcp.json":
        (folder / name).write_text('{"mcpServers": {"a": {"command": "z"}}}')
    else:
        (folder / name).write_text('[[capabilities]]\nid = "t"\nsummary = "S."\noutcome = "O."\n')
    done = run("agent", "inspect", str(folder / name), "--json", cwd=workspace)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)["value"]
    rows = value["mcp_servers"] if name == "mcp.json" else value["capabilities"]
    assert len(rows) == 1


def test_inspect_of_what_does_not_load_shows_the_findings_and_is_1(workspace: Path) -> None:
    path = write(workspace, "quay", DUPLICATE)
    done = run("agent", "inspect", str(path), cwd=workspace)
    assert done.returncode == 1 and "already defined" in done.stdout
    assert json.loads(run("agent", "inspect", str(path), "--json", cwd=workspace).stdout)["value"] is None
    assert run("agent", "inspect", "nosuch", cwd=workspace).returncode == 2


def test_schema_prints_one_or_lists_the_names(workspace: Path) -> None:
    assert json.loads(run("schema", "agent", cwd=workspace).stdout)["$id"] == "urn:compozy:schema:agent"
    names = [line.split()[0] for line in run("schema", cwd=workspace).stdout.splitlines()]
    assert {"agent", "capabilities", "capability", "mcp", "config"} <= set(names)
    assert [one["name"] for one in json.loads(run("schema", "--json", cwd=workspace).stdout)] == names
    wrong = run("schema", "agnet", cwd=workspace)
    assert wrong.returncode == 2 and "did you mean 'agent'" in wrong.stderr
    assert all(name in run("schema", "xxxxxxxx", cwd=workspace).stderr for name in ("config", "ocm"))
    assert "did you mean 'ocm'" in run("schema", "ocn", cwd=workspace).stderr


def test_the_example_workflow_runs_a_command_that_exists(workspace: Path) -> None:
    import yaml

    example = yaml.safe_load((Path(__file__).parents[3] / "examples/github-check.yml").read_text())
    steps = [step["run"] for step in example["jobs"]["check"]["steps"] if "run" in step]
    program, *words = steps[-1].split()
    assert program == "compozy" and run(*words, cwd=workspace).returncode == 0
    write(workspace, "quay", DUPLICATE)
    broken = run(*words, cwd=workspace)
    assert broken.returncode == 1 and broken.stdout.startswith("::error file=.compozy/agents/quay/AGENT.md,line=4")


def test_the_pre_commit_hooks_name_commands_that_exist(workspace: Path) -> None:
    import yaml

    hooks = yaml.safe_load((Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text())
    assert {hook["id"] for hook in hooks} == {"compozy-check", "compozy-fix"}
    for hook in hooks:
        program, *words = hook["entry"].split()
        assert program == "compozy"
        assert run(*words, ".compozy/agents/tide-clerk/AGENT.md", cwd=workspace).returncode == 0
