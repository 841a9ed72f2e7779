"""The permission modes as a table, option picking, containment through symlinks, and what an answer allows."""

from pathlib import Path

import msgspec
import pytest

from compozy.acp.contract import PermissionOption, PermissionRequest
from compozy.runtime.sessions.containment import OutsideRoots, Roots, additional_directories
from compozy.runtime.sessions.mode import stricter
from compozy.runtime.sessions.policy import Grants, judge, offered, pick_option

KINDS = ("read", "search", "fetch", "think", "edit", "execute", "")


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    (tmp_path / "root").mkdir()
    (tmp_path / "extra").mkdir()
    return Roots(str(tmp_path / "root"), [str(tmp_path / "extra")])


@pytest.mark.parametrize("kind", KINDS)
def test_the_modes_answer_as_the_contract_says(roots: Roots, kind: str) -> None:
    assert judge("deny-all", "ask", kind, (), roots).verdict == "reject-once"
    assert judge("approve-all", "ask", kind, (), roots).verdict == "allow-once"
    asked = judge("approve-reads", "ask", kind, (), roots)
    assert asked.verdict == ("allow-once" if kind == "read" else "ask")
    assert [layer.name for layer in asked.layers] == ["containment", "mode"]


@pytest.mark.parametrize(
    ("mode", "reads", "writes"),
    [("deny-all", False, False), ("approve-reads", True, False), ("approve-all", True, True)],
)
def test_what_goes_through_the_daemon_follows_the_same_table(
    roots: Roots, mode: str, reads: bool, writes: bool
) -> None:
    assert (judge(mode, "read", "", (), roots).verdict == "allow-once") is reads
    assert (judge(mode, "write", "", (), roots).verdict == "allow-once") is writes
    assert (judge(mode, "execute", "", (), roots).verdict == "allow-once") is writes


@pytest.mark.parametrize("mode", ["deny-all", "approve-reads", "approve-all"])
def test_a_location_outside_the_roots_is_rejected_in_every_mode(roots: Roots, mode: str) -> None:
    refused = judge(mode, "ask", "read", ("inside.txt", "/etc/passwd"), roots)
    assert refused.verdict == "reject-once" and "'/etc/passwd' is outside" in refused.reason


def _options(*kinds: str) -> tuple[PermissionOption, ...]:
    return tuple(PermissionOption(option_id=f"id-{kind}", name=kind, kind=kind) for kind in kinds)


@pytest.mark.parametrize(
    ("kinds", "decision", "expected"),
    [
        (("allow_once", "allow_always", "reject_once"), "allow-once", "id-allow_once"),
        (("allow_always", "reject_once"), "allow-once", "id-allow_always"),
        (("allow_once", "reject_once"), "allow-always", "id-allow_once"),
        (("allow_once", "reject_always"), "reject-once", "id-reject_always"),
        (("allow_once",), "reject-once", None),
        ((), "allow-once", None),
    ],
)
def test_options_are_picked_by_kind(kinds: tuple[str, ...], decision: str, expected: str | None) -> None:
    assert pick_option(_options(*kinds), decision) == expected


def test_only_offered_decisions_are_named() -> None:
    assert offered(_options("reject_once", "allow_once", "weird")) == ("allow-once", "reject-once")


def test_the_stricter_of_two_modes_wins() -> None:
    assert stricter("approve-all", "approve-reads") == "approve-reads"
    assert stricter("deny-all", "approve-all") == "deny-all"


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "/etc/passwd", "../x", "sub/../../x", "link/x", "root2"])
def test_paths_outside_are_refused(tmp_path: Path, roots: Roots, text: str) -> None:
    (tmp_path / "root2").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path)
    with pytest.raises(OutsideRoots):
        roots.resolve(str(tmp_path / text) if text == "root2" else text)


def test_missing_paths_resolve_by_their_nearest_ancestor(tmp_path: Path, roots: Roots) -> None:
    (tmp_path / "root" / "in").symlink_to(tmp_path / "extra")
    assert roots.resolve("in/new/file") == tmp_path / "extra" / "new" / "file"
    assert roots.resolve(str(tmp_path / "extra" / "x")) == tmp_path / "extra" / "x"
    assert roots.resolve(str(tmp_path / "root")) == tmp_path / "root"


def test_additional_directories_are_existing_and_named_once(tmp_path: Path) -> None:
    for name in ("main", "a"):
        (tmp_path / name).mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "a")
    given = [str(tmp_path / name) for name in ("a", "alias", "main", "missing")] + ["relative"]
    assert additional_directories(str(tmp_path / "main"), given) == (str(tmp_path / "a"),)


def _request(kind: str, *locations: str) -> PermissionRequest:
    return PermissionRequest(
        session_id="s", options=(), raw=msgspec.Raw(b"{}"), tool_call_id="c", kind=kind, locations=locations
    )


def test_an_allowed_edit_allows_its_own_paths_until_the_turn_ends(tmp_path: Path, roots: Roots) -> None:
    grants = Grants(roots)
    grants.add(_request("edit", "a.txt"), "allow-once")
    path = str(tmp_path / "root" / "a.txt")
    assert grants.allow_write(path) and grants.allow_write(path)
    assert not grants.allow_write(str(tmp_path / "root" / "b.txt")) and not grants.allow_command()
    grants.end_turn()
    assert not grants.allow_write(path)


def test_an_allowed_edit_without_a_path_allows_one_file(tmp_path: Path, roots: Roots) -> None:
    grants = Grants(roots)
    grants.add(_request("edit"), "allow-once")
    assert grants.allow_write("/r/a") and grants.allow_write("/r/a") and not grants.allow_write("/r/b")


def test_always_lasts_beyond_the_turn_and_a_rejection_allows_nothing(roots: Roots) -> None:
    grants = Grants(roots)
    grants.add(_request("execute"), "reject-once")
    assert not grants.allow_command()
    grants.add(_request("execute"), "allow-always")
    grants.end_turn()
    assert grants.allow_command() and not grants.allow_write("/r/a")
