"""Where the socket lies when its usual path is too long, and which folders are refused (P65)."""

import os
import stat
from pathlib import Path

import pytest

from compozy.config.errors import HomeError
from compozy.config.home import Home
from compozy.daemon.socket_path import MAX_PATH_BYTES, choose_socket_path


@pytest.fixture
def deep(tmp_path: Path) -> Home:
    return Home(tmp_path / ("d" * 120))


@pytest.fixture
def runtime(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "run"
    folder.mkdir()
    return {"XDG_RUNTIME_DIR": str(folder)}


def test_a_short_home_keeps_its_socket(tmp_path: Path) -> None:
    assert choose_socket_path(Home(tmp_path)) == tmp_path / "daemon.sock"


def test_a_long_path_moves_to_a_private_folder_and_always_the_same_one(deep: Home, runtime: dict[str, str]) -> None:
    path = choose_socket_path(deep, environ=runtime)
    assert path == choose_socket_path(deep, environ=runtime)
    assert path.parent == Path(runtime["XDG_RUNTIME_DIR"]) / "compozy"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert len(os.fsencode(path)) <= MAX_PATH_BYTES


def test_two_homes_never_share_a_short_path(tmp_path: Path, runtime: dict[str, str]) -> None:
    homes = [Home(tmp_path / (letter * 120)) for letter in "ab"]
    assert len({choose_socket_path(home, environ=runtime) for home in homes}) == 2


def test_a_folder_that_others_can_enter_is_refused(deep: Home, runtime: dict[str, str]) -> None:
    folder = Path(runtime["XDG_RUNTIME_DIR"]) / "compozy"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(HomeError, match="not a private folder of this user"):
        choose_socket_path(deep, environ=runtime)


def test_a_link_in_place_of_the_folder_is_refused(deep: Home, runtime: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    (Path(runtime["XDG_RUNTIME_DIR"]) / "compozy").symlink_to(target)
    with pytest.raises(HomeError, match="not a private folder"):
        choose_socket_path(deep, environ=runtime)


def test_a_configured_socket_in_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="folder that does not exist"):
        choose_socket_path(Home(tmp_path), str(tmp_path / "nowhere" / "x.sock"))
