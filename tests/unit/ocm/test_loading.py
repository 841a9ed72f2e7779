"""Files, folders, catalogues and globs: everything that is wrong in one run (issue 8 item 2; reports P28)."""

import os
from pathlib import Path

import pytest

from compozy.ocm.entries import CatalogueError
from compozy.ocm.loading import load, load_targets, read
from tests.kit.unprivileged import shared_folder, unprivileged


def manifest(identity: str, **more: str) -> str:
    rest = "".join(f"{key}: {value}\n" for key, value in more.items())
    return f'ocm: "1"\nid: {identity}\nkind: tool\ndescription: does {identity}\n{rest}'


def entry(identity: str) -> str:
    return f'- {{ocm: "1", id: {identity}, kind: tool, description: does {identity}}}\n'


def test_one_bad_entry_of_fifty_costs_the_others_nothing(tmp_path: Path) -> None:
    rows = [entry(f"a/{n}") for n in range(50)]
    rows[16] = '- {ocm: "1", id: a/16, kind: robot, description: d}\n'
    path = tmp_path / "targets.yaml"
    path.write_text("".join(rows))
    loaded = read([path])
    assert sum(one.is_valid for one in loaded.entries) == 49
    (problem,) = loaded.all_problems()
    assert problem.position is not None
    assert (problem.field, problem.position.line) == ("kind", 17)


def test_problems_of_all_files_come_at_once_each_with_its_path(tmp_path: Path) -> None:
    for name, text in {"a": manifest("a"), "b": manifest("B"), "c": "{", "d": manifest("d", colour="red")}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "capability.yaml").write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load([tmp_path])
    assert [Path(one.path).parent.name for one in caught.value.problems] == ["b", "c", "d"]
    assert "and 2 more" in caught.value.message


def test_an_id_used_twice_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("# first\n" + manifest("a/x"))
    (tmp_path / "two.yaml").write_text(entry("b") + entry("a/x"))
    problems = read([tmp_path / "one.yaml", tmp_path / "two.yaml"]).all_problems()
    (problem,) = problems
    assert problem.code == "duplicate-id"
    assert "one.yaml:2" in problem.message
    assert problem.position is not None and problem.position.line == 2
    assert problem.path.endswith("two.yaml")


def test_a_native_entry_of_the_wrong_type_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("targets:\n  - {id: 5, kind: llm, constraints: {regions: eu}}\n  - {id: n, kind: llm}\n")
    loaded = read([path])
    assert {(one.field, one.position.line) for one in loaded.all_problems() if one.position} == {
        ("id", 2),
        ("constraints.regions", 2),
    }
    assert [one.is_valid for one in loaded.entries] == [False, True]


def test_native_entries_become_targets_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("- {id: GPT 4, kind: llm, enabled: false, cost: {usd_per_1k_input: 1}, family: x}\n" + entry("m"))
    native, ours = load_targets([path])
    assert (native.id, native.enabled, native.source) == ("GPT 4", False, f"{path}:1")
    assert (ours.id, ours.source) == ("m", f"{path}:2")


def test_a_glob_and_a_file_named_twice_are_read_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(manifest(name))
    found = load([f"{tmp_path}/*.yaml", tmp_path / "a.yaml"])
    assert [one.id for one in found] == ["a", "b"]
    (problem,) = read([f"{tmp_path}/*.toml"]).all_problems()
    assert problem.code == "no-manifest"


def test_standard_input_is_yaml_or_json() -> None:
    assert [one.id for one in load(["-"], stdin=manifest("a").encode())] == ["a"]
    text = b'{"ocm": "1", "id": "b", "kind": "tool", "description": "d"}'
    assert [one.id for one in load(["-"], stdin=text)] == ["b"]


def test_loops_of_links_pipes_and_bad_bytes_are_clear_problems(tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "capability.yaml").write_text(manifest("good"))
    (tmp_path / "loop").symlink_to(tmp_path)
    for name in ("link", "pipe", "bytes", "folder", "large"):
        (tmp_path / name).mkdir()
    (tmp_path / "link" / "capability.yaml").symlink_to("capability.yaml")
    os.mkfifo(tmp_path / "pipe" / "capability.yaml")
    (tmp_path / "bytes" / "capability.yaml").write_bytes(b'ocm: "1"\nid: \xff\n')
    (tmp_path / "folder" / "capability.yaml").mkdir()
    (tmp_path / "large" / "capability.yaml").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    loaded = read([tmp_path])
    assert [one.id for one in loaded.entries] == ["good"]
    codes = {Path(one.path).parent.name: one.code for one in loaded.problems}
    assert codes == {
        "bytes": "syntax",
        "folder": "unreadable",
        "large": "too-large",
        "link": "unreadable",
        "pipe": "unreadable",
    }
    bad = next(one for one in loaded.problems if "bytes" in one.path)
    assert bad.position is not None and (bad.position.line, bad.position.column) == (2, 5)


def test_a_file_that_may_not_be_read_is_named_and_the_others_load() -> None:
    with shared_folder() as folder:
        for name in ("a", "b"):
            (folder / name).mkdir()
            (folder / name / "capability.yaml").write_text(manifest(name))
        (folder / "a" / "capability.yaml").chmod(0)
        with unprivileged():
            loaded = read([folder])
    assert [one.id for one in loaded.entries] == ["b"]
    assert [one.code for one in loaded.problems] == ["unreadable"]


def test_a_message_names_its_path_once(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in ("missing.yaml", "empty", "none-*.yaml"):
        with pytest.raises(CatalogueError) as caught:
            load([tmp_path / path])
        assert caught.value.message.count(path) == 1, caught.value.message


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n"])
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, text: str) -> None:
    path = tmp_path / "capability.yaml"
    path.write_text(text)
    for paths in ([path], [tmp_path]):
        (problem,) = read(paths, folders_hold_single=True).all_problems()
        assert "is empty" in problem.message


def test_yaml_under_another_name_is_told_which_names_are_yaml(tmp_path: Path) -> None:
    (tmp_path / "manifest").write_text(manifest("a"))
    (problem,) = read([tmp_path / "manifest"]).all_problems()
    assert ".yaml" in problem.message
