"""Compare-and-swap writes (decisions D3, D4, D12; reports P32, P33)."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from compozy.catalog import writing
from compozy.catalog.writing import folder_lock, update_definition
from compozy.documents.agents import load_agent
from compozy.model.definition import AgentDefinition
from compozy.model.errors import Conflict, InvalidRequest, NotFound, Unavailable, Unprocessable
from tests.kit import fuzzing

TEXT = "---\n# who\nname: tide-clerk\nmodel: 'a'   # which\n---\n\nKeep the tables current.\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "tide-clerk/AGENT.md"
    made.parent.mkdir()
    made.write_text(TEXT)
    made.chmod(0o640)
    return made


def test_an_update_changes_its_line_and_its_digest_is_that_of_the_next_read(path: Path) -> None:
    (path.parent / "mcp.json").write_text('{"mcpServers": {"bell": {"command": "bell"}}}')
    loaded = load_agent(path)
    done = update_definition(path, replace(loaded.definition, model="b"), expected_digest=loaded.definition_digest)
    assert done.changed and done.in_place
    assert path.read_text() == TEXT.replace("'a'", "'b'")
    assert path.stat().st_mode & 0o777 == 0o640
    assert done.loaded.definition_digest == load_agent(path).definition_digest != loaded.definition_digest


def test_saving_without_a_change_keeps_file_and_digest(path: Path) -> None:
    loaded = load_agent(path)
    before = path.stat()
    done = update_definition(path, loaded.definition, expected_digest=loaded.definition_digest)
    assert not done.changed and done.loaded.definition_digest == loaded.definition_digest
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_stale_digest_writes_nothing_and_names_the_current_one(path: Path) -> None:
    loaded = load_agent(path)
    path.write_text(TEXT.replace("'a'", "'z'"))
    with pytest.raises(Conflict) as caught:
        update_definition(path, replace(loaded.definition, model="b"), expected_digest=loaded.definition_digest)
    assert caught.value.details["current_digest"] == load_agent(path).definition_digest
    assert "'z'" in path.read_text()


def test_a_reserved_or_another_name_writes_nothing(path: Path) -> None:
    loaded = load_agent(path)
    for name, error in (("coordinator", Unprocessable), ("other", InvalidRequest)):
        with pytest.raises(error):
            update_definition(path, replace(loaded.definition, name=name), expected_digest=loaded.definition_digest)
    with pytest.raises(InvalidRequest):
        update_definition(
            path, replace(loaded.definition, permissions="everything"), expected_digest=loaded.definition_digest
        )
    assert path.read_text() == TEXT


def test_an_absent_definition_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        update_definition(tmp_path / "no/AGENT.md", AgentDefinition(name="no", prompt="x"), expected_digest="")


def test_waiting_for_another_writer_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LOCK_SECONDS", 0.05)
    handle = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        with pytest.raises(Unavailable, match="another program"), folder_lock(path.parent):
            pass
    finally:
        os.close(handle)
    with folder_lock(path.parent):
        pass


_WRITER = """
import sys
from pathlib import Path
from msgspec.structs import replace
from compozy.catalog.writing import update_definition
from compozy.documents.agents import load_agent
from compozy.model.errors import Conflict

path, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for n in range(count):
    while True:
        loaded = load_agent(path)
        tools = (*loaded.definition.tools, f"w{who}__n{n}")
        try:
            update_definition(path, replace(loaded.definition, tools=tools), expected_digest=loaded.definition_digest)
            break
        except Conflict:
            pass
"""


def start_writer(path: Path, who: int, count: int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", _WRITER, str(path), str(who), str(count)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE)


def test_every_change_of_many_writers_is_kept_and_every_read_in_between_parses(path: Path) -> None:
    writers = [start_writer(path, who, 12) for who in range(4)]
    while any(writer.poll() is None for writer in writers):
        load_agent(path)
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.close()
        assert writer.wait(60) == 0
    expected = {f"w{who}__n{n}" for who in range(4) for n in range(12)}
    assert set(load_agent(path).definition.tools) == expected


@pytest.mark.fuzz
def test_a_killed_writer_leaves_no_mixture_and_no_lock(path: Path) -> None:
    draw = fuzzing.draws(7)
    for who in range(fuzzing.times(4)):
        with start_writer(path, who, 10_000) as writer:
            assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
            for _ in range(draw.randint(1, 60)):
                load_agent(path)
            writer.send_signal(signal.SIGKILL)
        load_agent(path)
        with folder_lock(path.parent):
            pass
