"""Creating, copying, deleting and restoring agent folders (formats §13; decisions D3, D4, D12)."""

import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from compozy.catalog.authoring import folders
from compozy.catalog.authoring.states import FolderState, read_state
from compozy.catalog.authoring.writes import create_definition, delete_agent, duplicate_definition, restore_agent
from compozy.catalog.discovery import discover
from compozy.documents.agents import load_agent
from compozy.model.definition import AgentDefinition
from compozy.model.errors import Conflict, InvalidRequest, NotFound
from tests.kit.agent_files import write_agent

WANTED = AgentDefinition(name="tide-clerk", prompt="Keep the tables current.", tools=("compozy__b", "compozy__a"))
COMMENTED = "---\n# who\nname: tide-clerk\nmodel: 'a'   # which\n---\n\nKeep the tables current.\n"


def nothing(folder: int) -> tuple[str, ...]:
    return ()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (
            stat.S_IMODE(path.lstat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "project/.compozy/agents"


@pytest.fixture
def source(root: Path) -> Path:
    folder = root / "tide-clerk"
    (folder / "skills/read/.hidden").mkdir(parents=True)
    (folder / "AGENT.md").write_text(COMMENTED)
    (folder / "AGENT.md").chmod(0o640)
    (folder / "mcp.json").write_text('{"mcpServers": {"bell": {"command": "bell"}}}')
    (folder / ".note").write_bytes(b"\x00dots too")
    script = folder / "skills/read/.hidden/run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return folder / "AGENT.md"


def test_a_new_agent_is_canonical_private_and_has_the_digest_of_the_next_read(root: Path) -> None:
    loaded = create_definition(root, WANTED)
    path = root / "tide-clerk/AGENT.md"
    assert path.read_text() == (
        '---\nname: tide-clerk\nprovider: ""\ntools:\n- compozy__a\n- compozy__b\n---\n\nKeep the tables current.\n'
    )
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert loaded.definition_digest == load_agent(path).definition_digest
    assert names(root) == ["tide-clerk"] and names(path.parent) == ["AGENT.md"]


def test_a_folder_without_a_definition_may_exist_and_its_sidecars_count(root: Path) -> None:
    folder = root / "tide-clerk"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "mcp.json").write_text('{"mcpServers": {"bell": {"command": "bell"}}}')
    loaded = create_definition(root, WANTED)
    assert [server.name for server in loaded.definition.mcp_servers] == ["bell"]
    assert loaded.definition_digest == load_agent(folder / "AGENT.md").definition_digest
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_creating_over_an_agent_is_refused_and_touches_nothing(root: Path, source: Path) -> None:
    before = tree(root)
    with pytest.raises(Conflict, match="exists already"):
        create_definition(root, WANTED)
    assert tree(root) == before


def test_a_broken_sidecar_rolls_the_creation_back(root: Path) -> None:
    folder = root / "tide-clerk"
    folder.mkdir(parents=True)
    (folder / "mcp.json").write_text("{")
    with pytest.raises(InvalidRequest):
        create_definition(root, WANTED)
    assert names(folder) == ["mcp.json"]


@pytest.mark.parametrize("place", ["agents", "folder", "file", ".compozy"])
def test_nothing_is_created_through_a_link(tmp_path: Path, root: Path, place: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    path = {
        "agents": root,
        "folder": root / "tide-clerk",
        "file": root / "tide-clerk/AGENT.md",
        ".compozy": root.parent,
    }[place]
    path.parent.mkdir(parents=True)
    path.symlink_to(target / "AGENT.md" if place == "file" else target)
    with pytest.raises((InvalidRequest, Conflict)):
        create_definition(root, WANTED)
    assert names(target) == []


def test_a_copy_has_every_file_with_its_mode_and_keeps_comments(root: Path, source: Path) -> None:
    loaded = load_agent(source)
    copied = duplicate_definition(source, root, replace(loaded.definition, name="copy", model="b"))
    expected = COMMENTED.replace("tide-clerk", "copy").replace("'a'", "'b'").encode()
    there = {name: (0o700 if not data else mode, data) for name, (mode, data) in tree(root / "tide-clerk").items()}
    assert tree(root / "copy") == there | {"AGENT.md": (0o640, expected)}
    assert copied.definition.mcp_servers == loaded.definition.mcp_servers
    assert copied.definition_digest == load_agent(root / "copy/AGENT.md").definition_digest


@pytest.mark.parametrize("kind", ["link", "pipe", "deep link"])
def test_a_link_or_special_file_in_the_source_fails_and_leaves_no_target(
    root: Path, source: Path, tmp_path: Path, kind: str
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    if kind == "pipe":
        os.mkfifo(source.parent / "pipe")
    else:
        (source.parent / ("skills/read/x" if kind == "deep link" else "x")).symlink_to(outside)
    with pytest.raises(InvalidRequest, match="is not copied"):
        duplicate_definition(source, root, replace(WANTED, name="copy"))
    assert names(root) == ["tide-clerk"] and outside.read_text() == "mine"


def test_a_copy_onto_anything_is_refused(root: Path, source: Path) -> None:
    (root / "empty").mkdir()
    (root / "file").write_text("x")
    (root / "link").symlink_to("nowhere")
    before = tree(root)
    for name in ("empty", "file", "link", "tide-clerk"):
        with pytest.raises(Conflict):
            duplicate_definition(source, root, replace(WANTED, name=name))
    assert tree(root) == before


def test_deleting_unlinks_links_and_never_follows_them(root: Path, source: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").write_text("mine")
    (source.parent / "linked").symlink_to(outside)
    delete_agent(source, root, keep=nothing)
    assert names(root) == [] and (outside / "keep").read_text() == "mine"
    with pytest.raises(NotFound):
        delete_agent(source, root, keep=nothing)


def test_only_the_exact_path_is_deleted(root: Path, source: Path, tmp_path: Path) -> None:
    deeper = write_agent(root / "tide-clerk", "inner")
    linked_root = tmp_path / "linked"
    linked_root.symlink_to(root)
    (root / "folder-link").symlink_to(source.parent)
    (root / "file-link").mkdir()
    (root / "file-link/AGENT.md").symlink_to(source)
    before = tree(root)
    for path, below in (
        (deeper, root),
        (linked_root / "tide-clerk/AGENT.md", linked_root),
        (root / "folder-link/AGENT.md", root),
        (root / "file-link/AGENT.md", root),
        (root / "AGENT.md", root),
    ):
        with pytest.raises((InvalidRequest, NotFound)):
            delete_agent(path, below, keep=nothing)
    assert tree(root) == before


def test_nothing_is_deleted_when_its_state_cannot_be_kept(root: Path, source: Path) -> None:
    def full(folder: int) -> None:
        raise OSError(28, "No space left on device")

    before = tree(root)
    with pytest.raises(OSError):
        delete_agent(source, root, keep=full)
    assert tree(root) == before


def kept(folder: Path) -> FolderState:
    with folders.opened(folder) as handle:
        return read_state(handle, limit=1 << 20)


@pytest.mark.parametrize("exchanging", [True, False], ids=["exchange", "two renames"])
def test_a_restored_folder_is_what_it_was_to_the_last_mode(
    root: Path, source: Path, monkeypatch: pytest.MonkeyPatch, exchanging: bool
) -> None:
    if not exchanging:
        monkeypatch.setattr(folders, "_exchange", lambda *_: False)
    (source.parent / "link").symlink_to("AGENT.md")
    before, state = tree(root), kept(source.parent)
    source.write_text(COMMENTED.replace("'a'", "'z'"))
    (source.parent / "mcp.json").unlink()
    (source.parent / "new").write_text("x")
    changed: list[FolderState] = []

    def keep(folder: int) -> tuple[str, ...]:
        changed.append(read_state(folder, limit=1 << 20))
        return ()

    restore_agent(source, root, state.entries, keep=keep)
    assert tree(root) == before and kept(source.parent).content_hash == state.content_hash
    assert changed[0].file("new") == b"x"
    delete_agent(source, root, keep=nothing)
    restore_agent(source, root, state.entries, keep=nothing)
    assert tree(root) == before


def test_what_was_too_large_to_be_kept_survives_a_restore(root: Path, source: Path) -> None:
    state = kept(source.parent)
    (source.parent / "data/deep").mkdir(parents=True)
    (source.parent / "data/deep/big.bin").write_bytes(b"much")
    restore_agent(source, root, state.entries, keep=lambda _: ("data/deep/big.bin",))
    assert (source.parent / "data/deep/big.bin").read_bytes() == b"much"
    assert kept(source.parent).file("AGENT.md") == state.file("AGENT.md")


def test_what_a_killed_writer_left_is_no_agent_and_is_swept_by_the_next_one(root: Path, source: Path) -> None:
    left = root / ".compozy-tmp-00ff/new"
    left.mkdir(parents=True)
    (left / "AGENT.md").write_text(COMMENTED.replace("tide-clerk", "ghost"))
    assert [agent.name for agent in discover(workspace=root.parent.parent, home_agents=None).agents] == ["tide-clerk"]
    duplicate_definition(source, root, replace(WANTED, name="copy"))
    assert names(root) == ["copy", "tide-clerk"]
