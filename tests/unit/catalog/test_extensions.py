"""An extension's folder is taken whole or refused with the file that is wrong (formats §12, decisions D13)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compozy.catalog.extensions import read_extension
from compozy.model.errors import InvalidRequest, Unprocessable
from tests.kit.agent_files import write_agent

MANIFEST = 'name = "review-kit"\nversion = "1.2.0"\nagents = ["agents"]\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    kit = tmp_path / "kit"
    write_agent(kit / "agents", "ann")
    write_agent(kit / "agents", "folder", declared="bob")
    (kit / "extension.toml").write_text(MANIFEST)
    return kit


def test_a_right_extension_names_its_agents(root: Path) -> None:
    found = read_extension(root)
    assert (found.name, found.version, found.folders) == ("review-kit", "1.2.0", (str(root / "agents"),))
    assert [agent.name for agent in found.agents] == ["ann", "bob"]


def _manifest(text: str) -> Callable[[Path], object]:
    return lambda root: (root / "extension.toml").write_text(text)


def _loose(root: Path) -> None:
    (root / "agents" / "notes.md").write_text("loose")


def _without_definition(root: Path) -> None:
    (root / "agents" / "empty").mkdir()


def _link_inside(root: Path) -> None:
    (root / "agents" / "ann" / "deep").mkdir()
    (root / "agents" / "ann" / "deep" / "x").symlink_to("/etc/hostname")


def _linked_agent(root: Path) -> None:
    (root / "agents" / "zoe").symlink_to(root / "agents" / "ann")


def _linked_folder(root: Path) -> None:
    (root / "agents").rename(root / "real")
    (root / "agents").symlink_to(root / "real")


def _twice(root: Path) -> None:
    write_agent(root / "agents", "other", declared="ann")


def _broken(root: Path) -> None:
    (root / "agents" / "ann" / "AGENT.md").write_text("no header")


def _bad_soul(root: Path) -> None:
    (root / "agents" / "ann" / "SOUL.md").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda root: (root / "extension.toml").unlink(), "no such file"),
        (_manifest("name = "), "not valid TOML"),
        (_manifest(MANIFEST + "extra = 1\n"), "unknown key 'extra'"),
        (_manifest(MANIFEST.replace('"1.2.0"', "1")), "version is required"),
        (_manifest(MANIFEST.replace("review-kit", "../up")), "must be letters"),
        (_manifest(MANIFEST.replace('["agents"]', '"agents"')), "agents is required"),
        (_manifest(MANIFEST.replace('["agents"]', "[]")), "agents is required"),
        (_manifest(MANIFEST.replace('"agents"', '"../other"')), "no path inside the extension"),
        (_manifest(MANIFEST.replace('"agents"', '"/etc"')), "no path inside the extension"),
        (_manifest(MANIFEST.replace('"agents"', '"missing"')), "no such directory"),
        (_loose, "loose file"),
        (_without_definition, "no such file"),
        (_link_inside, "is a symlink"),
        (_linked_agent, "is a symlink"),
        (_linked_folder, "is a symlink"),
        (_twice, "defined twice"),
        (_broken, "AGENT.md: "),
        (_bad_soul, "SOUL.md: "),
    ],
)
def test_anything_wrong_refuses_the_whole_extension(root: Path, harm: Callable[[Path], object], words: str) -> None:
    harm(root)
    with pytest.raises(InvalidRequest, match=words) as caught:
        read_extension(root)
    assert caught.value.code == "extension_invalid"


@pytest.mark.parametrize(("folder", "declared"), [("helper", "coordinator"), ("Coordinator", "helper")])
def test_a_reserved_name_is_refused_by_its_own_code(root: Path, folder: str, declared: str) -> None:
    write_agent(root / "agents", folder, declared=declared)
    with pytest.raises(Unprocessable) as caught:
        read_extension(root)
    assert caught.value.code == "agent_name_reserved"
