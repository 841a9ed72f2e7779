"""Workspaces: names, nearest enclosing root, resolve-or-register, what stays over a restart (contract §3.4)."""

import asyncio
import shutil
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
