"""Index, published folder, page, keys and signatures (issue 8 item 5; decisions O7)."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from compozy.ocm.index import PublishError, build_index, manifest_path
from compozy.ocm.page import render_page
from compozy.ocm.publishing import publish, verify_folder
from compozy.ocm.signing import SignatureError, make_keys, read_private_key, read_public_key
from compozy.ocm.writing import manifest_digest


def manifest(identity: str, description: str = "Pays back broken orders") -> dict[str, object]:
    return {"ocm": "1", "id": identity, "kind": "tool", "description": description}


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_published_folder_holds_everything_and_is_the_same_every_time(tmp_path: Path) -> None:
    documents = [manifest("acme/b"), manifest("acme/a:x")]
    publish(documents, tmp_path / "one")
    publish(documents[::-1], tmp_path / "two")
    assert files(tmp_path / "one") == {
        ".well-known/ocm.json",
        "index.html",
        "index.json",
        "manifests/acme/a~x/capability.json",
        "manifests/acme/b/capability.json",
        "ocm.schema.json",
    }
    for name in files(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    index = json.loads((tmp_path / "one" / "index.json").read_text())
    assert [row["id"] for row in index["capabilities"]] == ["acme/a:x", "acme/b"]
    assert index["capabilities"][1]["digest"] == manifest_digest(documents[0])
    assert {"orders", "broken", "acme"} <= set(index["capabilities"][1]["terms"])


@pytest.mark.parametrize("identity", ["a/../../../escaped/x", "../x", "/etc/x", "a//b", "A", "a/", ""])
def test_an_id_that_is_not_legal_is_never_published(tmp_path: Path, identity: str) -> None:
    with pytest.raises(PublishError, match="no legal capability id"):
        publish([manifest(identity)], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("pair", [("a", "a"), ("a", "a/capability.json"), ("a", "a/capability.json/b")])
def test_two_ids_that_would_share_a_path_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(PublishError):
        build_index([manifest(one) for one in pair])


def test_ids_that_differ_have_paths_that_differ() -> None:
    assert manifest_path("a:b") != manifest_path("a_b")
    assert manifest_path("a/b") != manifest_path("a:b")


def test_publishing_follows_no_link_out_of_its_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for link in ("manifests", "index.html", ".well-known"):
        folder = tmp_path / f"out-{link}"
        folder.mkdir()
        (folder / link).symlink_to(outside if link != "index.html" else outside / "x")
        with pytest.raises(PublishError, match="follows none"):
            publish([manifest("a")], folder)
    assert list(outside.iterdir()) == []


def test_what_is_gone_is_removed_and_nothing_else(tmp_path: Path) -> None:
    publish([manifest("a/x"), manifest("b")], tmp_path)
    (tmp_path / "manifests" / "mine.txt").write_text("keep")
    done = publish([manifest("b")], tmp_path)
    assert done.removed == ("manifests/a/x/capability.json",)
    assert not (tmp_path / "manifests" / "a").exists()
    assert (tmp_path / "manifests" / "mine.txt").exists()


def test_a_hostile_earlier_index_removes_nothing_elsewhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    folder = tmp_path / "out"
    folder.mkdir()
    rows = [{"id": "../../victim", "path": "../victim"}]
    (folder / "index.json").write_text(json.dumps({"capabilities": rows}))
    publish([manifest("a")], folder)
    assert victim.read_text() == "keep"


def test_a_signed_folder_verifies_and_every_change_is_found(tmp_path: Path) -> None:
    key = tmp_path / "k"
    make_keys(key)
    assert key.stat().st_mode & 0o777 == 0o600
    folder = tmp_path / "out"
    done = publish([manifest("a"), manifest("b")], folder, key=read_private_key(key))
    public = read_public_key(tmp_path / "k.pub")
    found = verify_folder(folder, public)
    assert (found.count, found.problems, found.key_id) == (2, (), done.key_id)
    path = folder / "manifests" / "a" / "capability.json"
    path.write_text(path.read_text().replace("Pays", "Takes"))
    assert "was changed" in verify_folder(folder, public).problems[0]
    index = folder / "index.json"
    index.write_text(index.read_text().replace("Pays", "Takes"))
    with pytest.raises(SignatureError, match="does not fit"):
        verify_folder(folder, public)


@pytest.mark.parametrize("name", ["index.html", "ocm.schema.json", ".well-known/ocm.json"])
def test_the_page_the_schema_and_the_second_index_are_part_of_what_is_signed(tmp_path: Path, name: str) -> None:
    publish([manifest("a")], tmp_path)
    assert verify_folder(tmp_path).problems == ()
    path = tmp_path / name
    before = path.read_bytes()
    path.write_bytes(before + b" ")
    (problem,) = verify_folder(tmp_path).problems
    assert problem.startswith(f"{name}: ")
    path.unlink()
    (problem,) = verify_folder(tmp_path).problems
    assert problem.startswith(f"{name}: ")


def test_the_well_known_index_is_the_one_at_the_root(tmp_path: Path) -> None:
    publish([manifest("a")], tmp_path)
    assert (tmp_path / ".well-known" / "ocm.json").read_bytes() == (tmp_path / "index.json").read_bytes()


def test_a_hostile_index_makes_verifying_read_nothing_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    publish([manifest("a")], folder)
    index = json.loads((folder / "index.json").read_text())
    index["files"] = {"../secret": "sha256:0", "index.html": 5}
    (folder / "index.json").write_text(json.dumps(index))
    told = " ".join(verify_folder(folder).problems)
    assert "index.html: " in told and "secret" not in told


def test_another_key_does_not_verify_and_no_signature_is_no_success(tmp_path: Path) -> None:
    for name in ("k", "other"):
        make_keys(tmp_path / name)
    folder = tmp_path / "out"
    publish([manifest("a")], folder, key=read_private_key(tmp_path / "k"))
    with pytest.raises(SignatureError):
        verify_folder(folder, read_public_key(tmp_path / "other.pub"))
    publish([manifest("b")], folder)
    with pytest.raises(PublishError, match="not signed"):
        verify_folder(folder, read_public_key(tmp_path / "k.pub"))


def test_a_key_is_never_overwritten_and_never_read_when_others_can(tmp_path: Path) -> None:
    make_keys(tmp_path / "k")
    with pytest.raises(SignatureError, match="never overwritten"):
        make_keys(tmp_path / "k")
    (tmp_path / "k").chmod(0o644)
    with pytest.raises(SignatureError, match="chmod 600"):
        read_private_key(tmp_path / "k")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_has_landmarks_a_labelled_search_and_runs_nothing_of_a_manifest() -> None:
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    text = render_page(build_index([manifest("a", hostile), manifest("b")]), title=hostile)
    page = _Page()
    page.feed(text)
    names = [tag for tag, _ in page.tags]
    for landmark in ("header", "main", "footer", "h1", "h2"):
        assert names.count(landmark) == 1
    assert names.count("script") == 1 and "img" not in names
    labelled = {facts.get("for") for tag, facts in page.tags if tag == "label"}
    assert labelled == {facts["id"] for tag, facts in page.tags if tag in ("input", "select")}
    policy = next(facts["content"] for tag, facts in page.tags if tag == "meta" and "http-equiv" in facts)
    assert policy is not None and policy.startswith("default-src 'none'")
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
    assert any(facts.get("lang") == "en" for tag, facts in page.tags if tag == "html")
