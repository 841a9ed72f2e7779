"""What a reader kept is taken over only where nothing changed, and never holds what may be secret."""

from pathlib import Path

import pytest

from compozy.catalog import kept_reports
from compozy.catalog.discovery import Discovery, discover
from compozy.catalog.reading import AgentReader
from tests.kit.agent_files import write_agent


def look(folder: Path, reader: AgentReader) -> Discovery:
    return discover(workspace=None, home_agents=folder, reader=reader)


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    folder = tmp_path / "agents"
    for number in range(5):
        write_agent(folder, f"agent-{number}", extra="category_path: [team]\n")
    (folder / "agent-1" / "capabilities.toml").write_text(
        '[[capabilities]]\nid = "review"\nsummary = "Reviews"\noutcome = "A list"\n'
    )
    write_agent(folder, "secret", extra="mcp_servers:\n  - name: s\n    command: x\n    env: {PLAIN: hidden-word}\n")
    return folder


@pytest.fixture
def file(agents: Path, tmp_path: Path) -> Path:
    """What a reader of these agents kept."""
    reader = AgentReader()
    look(agents, reader)
    kept_reports.save(reader, tmp_path / "cache" / "definitions")
    return tmp_path / "cache" / "definitions"


def restored(file: Path) -> AgentReader:
    reader = AgentReader()
    kept_reports.restore(reader, file)
    return reader


def test_unchanged_folders_are_not_parsed_again_and_give_the_same(agents: Path, file: Path) -> None:
    reader = restored(file)
    assert look(agents, reader) == look(agents, AgentReader())
    assert reader.parsed == 1, "only the one that may hold a secret"
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"hidden-word" not in file.read_bytes()


def test_a_changed_folder_is_parsed(agents: Path, file: Path) -> None:
    write_agent(agents, "agent-2", prompt="Another.\n")
    (agents / "agent-1" / "capabilities.toml").unlink()
    reader = restored(file)
    assert look(agents, reader) == look(agents, AgentReader())
    assert reader.parsed == 3


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "other program", "missing", "folder"])
def test_a_file_that_is_not_whole_or_not_ours_is_ignored(
    agents: Path, file: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = file.read_bytes()
    match harm:
        case "cut":
            file.write_bytes(data[:-10])
        case "flipped":
            file.write_bytes(data[:-10] + bytes([data[-10] ^ 1]) + data[-9:])
        case "empty":
            file.write_bytes(b"")
        case "other program":
            monkeypatch.setattr(kept_reports, "__version__", "0.0.0")
        case "missing":
            file.unlink()
        case "folder":
            file.unlink()
            file.mkdir()
    reader = restored(file)
    assert look(agents, reader) == look(agents, AgentReader())
    assert reader.parsed == 6
