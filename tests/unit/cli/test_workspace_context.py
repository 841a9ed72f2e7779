"""Which registered workspace a folder belongs to (contract §4.2)."""

from pathlib import Path

import pytest

from compozy.cli.workspace_context import authored_root, enclosing, existing_folder, is_path
from compozy.model.errors import LocalError
from compozy.model.workspace import Workspace


def workspace(root: Path) -> Workspace:
    then = "2026-01-02T03:04:05Z"
    return Workspace(
        id=f"ws_{root.name}", name=root.name, root_dir=str(root), add_dirs=(), created_at=then, updated_at=then
    )


def test_a_folder_belongs_to_the_nearest_root_above_it(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    (inner / "c").mkdir(parents=True)
    known = [workspace(tmp_path / "a"), workspace(inner)]
    assert enclosing(inner / "c", known) == known[1]
    assert enclosing(tmp_path / "a", known) == known[0]
    assert enclosing(tmp_path, known) is None


def test_a_root_with_a_similar_name_is_another_folder(tmp_path: Path) -> None:
    for name in ("web", "website"):
        (tmp_path / name).mkdir()
    assert enclosing(tmp_path / "website", [workspace(tmp_path / "web")]) is None


def test_the_users_home_swallows_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    home = workspace(tmp_path)
    assert enclosing(project, [home]) is None
    assert enclosing(tmp_path, [home]) == home


def test_links_lead_to_the_real_folder(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    known = [workspace(real)]
    assert enclosing(tmp_path / "link", known) == known[0]
    assert existing_folder(str(tmp_path / "link")) == real


def test_a_folder_with_agents_of_its_own_is_the_root_of_what_lies_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / ".compozy"))
    (tmp_path / ".compozy").mkdir()
    project = tmp_path / "project"
    (project / ".compozy").mkdir(parents=True)
    (project / "deep" / "er").mkdir(parents=True)
    assert authored_root(project / "deep" / "er") == project
    # Some folder above the test's may well have agents of its own.
    assert authored_root(tmp_path) != tmp_path, "the program's own home makes no workspace"


@pytest.mark.parametrize("reference", [".", "..", "~", "~/x", "/x", "x/y", "./x"])
def test_these_are_paths(reference: str) -> None:
    assert is_path(reference)


@pytest.mark.parametrize("reference", ["web", "ws_0123456789abcdef", "web.site"])
def test_these_are_names(reference: str) -> None:
    assert not is_path(reference)


def test_a_missing_folder_comes_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="does not exist") as caught:
        existing_folder(str(tmp_path / "new one"))
    assert caught.value.hint == f"mkdir -p '{tmp_path}/new one'"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LocalError, match="is not a folder") as caught:
        existing_folder(str(tmp_path / "file"))
    assert caught.value.hint is None
