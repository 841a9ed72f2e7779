"""Everything issue 8 lists under "bad input", given to every command that reads files: clear, bounded, inside.

Each call is a process with a limit on memory and time; nothing may be written outside the folder that was named.
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

# Far above what an honest run needs, far below what a bomb would take.
MEMORY = 700 << 20
PATIENCE = 180
DEEP = 5_000
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(12)
)
HEAD = 'ocm: "1"\nkind: tool\ndescription: d\n'
INPUTS: dict[str, bytes] = {
    "text root": b"just words\n",
    "number root": b"5\n",
    "empty": b"",
    "null": b"null\n",
    "null fields": (HEAD + "id: a\ncost: null\nexamples: null\nname: null\n").encode(),
    "nan": (HEAD + "id: a\nquality_prior: .nan\ncost: {usd_per_call: .inf}\n").encode(),
    "huge number": (HEAD + f"id: a\nquality_prior: 1{'0' * 400}\n").encode(),
    "deep nesting": (HEAD + f"id: a\nmetadata: {{x: {'[' * DEEP}{']' * DEEP}}}\n").encode(),
    "alias bomb": (HEAD + "id: a\nmetadata:\n" + "".join(f"  {line}\n" for line in BOMB.splitlines())).encode(),
    "invalid utf-8": HEAD.encode() + b"id: a\nname: \xff\xfe\n",
    "escaping id": (HEAD + "id: a/../../../escaped\n").encode(),
    "absolute id": (HEAD + "id: /etc/escaped\n").encode(),
    "twice": (HEAD + "id: a\nid: b\n").encode(),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "validate": ("validate", "FILE"),
    "lint": ("lint", "FILE"),
    "convert": ("convert", "FILE", "--out", "out.yaml"),
    "index": ("index", "FILE"),
    "publish": ("publish", "public", "FILE"),
    "diff": ("diff", "FILE", "good.yaml"),
    "select": ("select", "a task", "FILE"),
    "call": ("call", "a task", "FILE", "--id", "a"),
    "eval": ("eval", "FILE"),
    "learn": ("learn", "outcomes.jsonl", "--catalog", "FILE", "--write"),
    "examples": ("examples", "tasks.jsonl", "FILE", "--write"),
    "import": ("import", "FILE", "--to", "agents", "--out", "agents"),
}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(folder: Path, *words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "compozy", "ocm", *words],
        cwd=folder,
        env={**os.environ, "COMPOZY_HOME": str(folder / "home")},
        input=stdin,
        capture_output=True,
        timeout=PATIENCE,
        preexec_fn=_limit,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    (inside / "good.yaml").write_text(HEAD + "id: good\n")
    (inside / "outcomes.jsonl").write_text("")
    (inside / "tasks.jsonl").write_text('{"task": "a task", "id": "good"}\n')
    return inside


def refused(done: "subprocess.CompletedProcess[bytes]", most: int = 20_000) -> str:
    told = (done.stdout + done.stderr).decode()
    assert done.returncode == 2, told[-600:]
    assert "Traceback" not in told and "fault of compozy" not in told and len(told) < most
    return told


@pytest.mark.parametrize("name", INPUTS)
def test_bad_content_is_a_clear_problem_of_every_command(folder: Path, name: str) -> None:
    (folder / "bad.yaml").write_bytes(INPUTS[name])
    before = sorted(folder.rglob("*"))
    # One process reads it by each way there is: as a file, a folder and standard input.
    told = refused(run(folder, "validate", "bad.yaml"))
    assert "INVALID" in told or "error" in told
    refused(run(folder, "validate", "-", stdin=INPUTS[name]))
    commands = [words for key, words in COMMANDS.items() if key != "validate"]
    script = (
        "import sys, json\nfrom compozy.cli.app import main\n"
        "print('CODES', json.dumps([main(['ocm', *words]) for words in json.loads(sys.argv[1])]))"
    )
    given = json.dumps([[word.replace("FILE", "bad.yaml") for word in words] for words in commands])
    done = subprocess.run(
        [sys.executable, "-c", script, given],
        cwd=folder,
        env={**os.environ, "COMPOZY_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=_limit,
    )
    codes = json.loads(done.stdout.rpartition("CODES ")[2])
    assert codes == [2] * len(commands), (codes, done.stderr[-600:])
    assert "fault of compozy" not in done.stderr
    # Nothing was written, neither here nor outside.
    assert sorted(folder.rglob("*")) == before
    assert not (folder.parent / "escaped").exists() and not (folder.parent.parent / "escaped").exists()


@pytest.mark.parametrize("name", ["deep nesting", "nan", "huge number", "text root"])
def test_the_same_in_json(folder: Path, name: str) -> None:
    bad = {
        "deep nesting": b'{"ocm": "1", "metadata": ' + b"[" * DEEP + b"]" * DEEP + b"}",
        "nan": b'{"ocm": "1", "id": "a", "kind": "tool", "description": "d", "quality_prior": NaN}',
        "huge number": b'{"ocm": "1", "id": "a", "kind": "tool", "description": "d", "quality_prior": 1'
        + b"0" * 400
        + b"}",
        "text root": b'"words"',
    }[name]
    (folder / "bad.json").write_bytes(bad)
    refused(run(folder, "validate", "bad.json"))
    for kind in ("agent-card", "mcp-tools", "persona"):
        told = run(folder, "import", "bad.json", "--from", kind, "--out", "made")
        assert told.returncode == 2 and b"Traceback" not in told.stderr
    assert not (folder / "made").exists()


def test_links_in_a_circle_unreadable_files_and_pipes_are_named(folder: Path) -> None:
    (folder / "tree").mkdir()
    (folder / "tree" / "round").symlink_to(folder / "tree")
    (folder / "tree" / "capability.yaml").symlink_to(folder / "tree" / "capability.yaml")
    assert "capability.yaml" in refused(run(folder, "validate", "tree"))
    os.mkfifo(folder / "tree" / "capability.pipe.yaml")
    assert "not a regular file" in refused(run(folder, "validate", "tree"))
    assert "check the path" in refused(run(folder, "validate", "nowhere.yaml"))


def test_a_file_too_large_is_refused_without_reading_it_whole(folder: Path) -> None:
    with (folder / "large.yaml").open("wb") as file:
        file.truncate(20 << 30)
    assert "larger than 4 MiB" in refused(run(folder, "validate", "large.yaml"))
    assert "larger than 4 MiB" in refused(run(folder, "validate", "-", stdin=b"x" * (5 << 20)))


def test_nothing_is_written_through_links_or_for_ids_that_lead_out(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    public = folder / "public"
    public.mkdir()
    (public / "manifests").symlink_to(outside)
    assert "link" in refused(run(folder, "publish", "public", "good.yaml"))
    (folder / "made").mkdir()
    (folder / "made" / "local").symlink_to(outside)
    (folder / "tools.json").write_text(json.dumps({"tools": [{"name": "../../x", "inputSchema": {}}]}))
    assert "link" in refused(run(folder, "import", "tools.json", "--publisher", "local", "--out", "made"))
    done = run(folder, "import", "tools.json", "--publisher", "local", "--out", "fresh")
    assert done.returncode == 0
    assert [path.relative_to(folder) for path in (folder / "fresh").rglob("*.yaml")] and not list(outside.iterdir())
