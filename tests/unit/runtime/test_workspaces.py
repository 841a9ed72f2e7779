"""Workspaces: names, nearest enclosing root, resolve-or-register, what stays over a restart (contract §3.4)."""

import asyncio
import shutil
import stat
import tomllib
from pathlib import Path

import pytest

from compozy.model.errors import Conflict, Gone, InvalidRequest, NotFound
from compozy.runtime.workspaces import Workspaces, require_root
from compozy.store.memory import MemoryStore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def workspaces() -> Workspaces:
    store = MemoryStore()
    await store.open()
    return Workspaces(store)


def _folder(path: Path) -> str:
    path.mkdir(parents=True)
    return str(path)


async def test_a_workspace_is_found_by_id_name_and_any_path_below_it(workspaces: Workspaces, tmp_path: Path) -> None:
    row = await workspaces.register(_folder(tmp_path / "shop"))
    assert row.name == "shop" and row.id.startswith("ws_")
    for reference in (row.id, "shop", str(tmp_path / "shop"), str(tmp_path / "shop" / "deep" / "file")):
        assert await workspaces.get(reference) == row
    with pytest.raises(NotFound):
        await workspaces.get(str(tmp_path))


async def test_the_nearest_enclosing_root_owns_a_path(workspaces: Workspaces, tmp_path: Path) -> None:
    outer = await workspaces.register(_folder(tmp_path / "a"))
    inner = await workspaces.register(_folder(tmp_path / "a" / "b"))
    await workspaces.register(_folder(tmp_path / "ab"))
    assert await workspaces.get(str(tmp_path / "a" / "b" / "c")) == inner
    assert await workspaces.get(str(tmp_path / "a" / "x")) == outer


async def test_names_that_clash_get_a_number_and_asked_for_names_do_not(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    names = [(await workspaces.register(_folder(tmp_path / str(n) / "shop"))).name for n in range(3)]
    assert names == ["shop", "shop-2", "shop-3"]
    with pytest.raises(Conflict):
        await workspaces.register(_folder(tmp_path / "other"), name="shop")
    with pytest.raises(Conflict):
        await workspaces.register(str(tmp_path / "0" / "shop"))


async def test_resolving_registers_once_however_often_and_however_spelled(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    root = _folder(tmp_path / "shop")
    (tmp_path / "alias").symlink_to(root)
    spellings = [root, str(tmp_path / "alias"), f"{root}/.", root]
    rows = await asyncio.gather(*(workspaces.resolve_or_register(path) for path in spellings))
    assert len({row.id for row in rows}) == 1
    assert len(await workspaces.all()) == 1


async def test_additional_folders_are_kept_in_order_and_own_no_path(workspaces: Workspaces, tmp_path: Path) -> None:
    root, first, second = (_folder(tmp_path / name) for name in ("root", "b", "a"))
    row = await workspaces.register(root, add_dirs=[first, second, first, root])
    assert row.add_dirs == (first, second)
    with pytest.raises(NotFound):
        await workspaces.get(first)


@pytest.mark.parametrize("path", ["relative", "", "/no/such/folder"])
async def test_a_root_must_be_an_absolute_existing_folder(workspaces: Workspaces, path: str) -> None:
    with pytest.raises(InvalidRequest):
        await workspaces.register(path)


async def test_an_update_changes_what_is_given_and_survives(tmp_path: Path) -> None:
    store = MemoryStore()
    await store.open()
    workspaces = Workspaces(store)
    row = await workspaces.register(_folder(tmp_path / "shop"), default_agent="ann")
    changed = await workspaces.update(row.id, name="store", add_dirs=None, default_agent=None, sandbox_ref=None)
    assert (changed.name, changed.default_agent) == ("store", "ann")
    assert await Workspaces(store).get("store") == changed
    await workspaces.delete(row.id)
    assert await Workspaces(store).all() == ()


async def test_a_vanished_root_is_gone(workspaces: Workspaces, tmp_path: Path) -> None:
    row = await workspaces.register(_folder(tmp_path / "shop"))
    shutil.rmtree(tmp_path / "shop")
    with pytest.raises(Gone):
        require_root(row)


async def test_the_users_own_home_owns_itself_only(tmp_path: Path) -> None:
    store = MemoryStore()
    workspaces = Workspaces(store, user_home=tmp_path)
    await workspaces.register_user_home()
    home = await workspaces.get(str(tmp_path))
    assert home.root_dir == str(tmp_path)
    project = tmp_path / "project" / "deep"
    project.mkdir(parents=True)
    with pytest.raises(NotFound):
        await workspaces.get(str(project))
    assert (await workspaces.resolve_or_register(str(project))).root_dir == str(project)
    assert not (tmp_path / ".compozy").exists(), "nothing is written into a home nobody asked about"


async def test_a_workspace_is_known_by_the_id_it_carries(workspaces: Workspaces, tmp_path: Path) -> None:
    row = await workspaces.register(_folder(tmp_path / "shop"))
    file = tmp_path / "shop" / ".compozy" / "workspace.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    table = tomllib.loads(file.read_text())
    assert table["realpath_at_creation"] == str(tmp_path / "shop") and table["created_at"] == row.created_at
    assert await workspaces.get(table["workspace_id"]) == row
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "shop", copy)
    await workspaces.register(str(copy))
    assert await workspaces.get(table["workspace_id"]) == row, "a copy does not take the id over"
    assert tomllib.loads(file.read_text()) == table, "an id is written once"
    with pytest.raises(NotFound):
        await workspaces.get("0" * 26)


async def test_a_folder_that_cannot_be_written_is_a_workspace_all_the_same(
    workspaces: Workspaces, tmp_path: Path
) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / ".compozy").symlink_to(tmp_path)
    assert (await workspaces.register(str(root))).root_dir == str(root)
    assert not (tmp_path / "workspace.toml").exists(), "nothing is written through a link"


async def test_one_that_cannot_be_resolved_is_not_registered(tmp_path: Path) -> None:
    def refuse(root: Path) -> None:
        raise InvalidRequest("config.toml:1:1: broken; mend it")

    workspaces = Workspaces(MemoryStore(), check=refuse)
    (tmp_path / "shop").mkdir()
    for call in (workspaces.register, workspaces.resolve_or_register):
        with pytest.raises(InvalidRequest, match=r"config.toml:1:1") as caught:
            await call(str(tmp_path / "shop"))
        assert caught.value.code == "workspace_unresolvable"
    assert await workspaces.all() == ()
    assert not (tmp_path / "shop" / ".compozy").exists()


@pytest.mark.parametrize("name", ["a/b", "/", ".", "..", "~", "~x", "ws_0123456789abcdef", "a\nb", "x" * 201])
async def test_a_name_that_reads_like_a_path_or_an_id_is_refused(
    workspaces: Workspaces, tmp_path: Path, name: str
) -> None:
    with pytest.raises(InvalidRequest):
        await workspaces.register(_folder(tmp_path / "shop"), name=name)
    assert await workspaces.all() == ()
