"""Which files of a workspace a command line names, however it names them (decisions D15)."""

from pathlib import Path

import pytest

from compozy.runtime.trust_evidence import program_digest, program_items, words_of


def programs(root: Path, *words: str) -> dict[str, str]:
    return {item.name: item.digest for item in program_items([words], [str(root)])}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work/bin").mkdir(parents=True)
    for name in ("run.sh", "bin/other.sh"):
        (tmp_path / "work" / name).write_text("#!/bin/sh\n")
    return (tmp_path / "work").resolve()


@pytest.mark.parametrize(
    "words",
    [
        ("./run.sh",),
        ("env", "A=1", "./run.sh"),
        ("node", "--require=./run.sh"),
        ("bash", "-c", "./run.sh --option"),
        ("bash", "-c", "exec ./run.sh; true"),
        ("sh", "-c", "true&&./run.sh|cat"),
        ("sh", "-c", "(./run.sh)"),
        ("sh", "-c", "A=1 './run.sh' # it's not closed"),
    ],
)
def test_a_program_is_found_however_a_command_names_it(root: Path, words: tuple[str, ...]) -> None:
    assert list(programs(root, *words)) == ["run.sh"]


@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-c", "cd tools && ./run"),
        ("sh", "-c", "cd ./tools/deep/.. ; exec ./run"),
        ("sh", "-c", "(cd tools; cd deep && ../run)"),
        ("sh", "-c", "./run # after all\ncd tools"),
        ("env", "-C", "tools", "./run"),
        ("make", "--directory=tools", "-f", "run"),
    ],
)
def test_a_program_is_found_in_the_folder_that_a_command_goes_into_first(root: Path, words: tuple[str, ...]) -> None:
    (root / "tools/deep").mkdir(parents=True)
    (root / "tools/run").write_text("#!/bin/sh\n")
    before = programs(root, *words)
    assert list(before) == ["tools/run"]
    (root / "tools/run").write_text("#!/bin/sh\nanother\n")
    assert programs(root, *words) != before


def test_a_command_that_goes_out_of_the_workspace_is_not_followed(root: Path) -> None:
    (root.parent / "aside").mkdir()
    (root.parent / "aside/run.sh").write_text("#!/bin/sh\n")
    assert programs(root, "sh", "-c", "cd ../aside && ./run.sh --x") == {"run.sh": programs(root, "run.sh")["run.sh"]}


def test_a_command_of_very_many_words_and_folders_is_looked_through_in_bounded_time(root: Path) -> None:
    for number in range(40):
        (root / f"f{number}").mkdir()
    text = " ".join(f"cd f{number} && ./run.sh {'x ' * 500}" for number in range(40))
    assert list(programs(root, "sh", "-c", text)) == ["run.sh"]


def test_a_link_out_of_the_workspace_counts_by_where_it_leads(root: Path) -> None:
    first, second = root.parent / "first.sh", root.parent / "second.sh"
    for path in (first, second):
        path.write_text("#!/bin/sh\n")
    (root / "link.sh").symlink_to(first)
    before = programs(root, "./link.sh")
    assert list(before) == ["link.sh"]
    (root / "link.sh").unlink()
    (root / "link.sh").symlink_to(second)
    assert programs(root, "./link.sh") != before
    assert program_digest(str(root / "link.sh")) == programs(root, "./link.sh")["link.sh"]


def test_a_file_outside_is_nobodys_business_and_one_inside_counts_by_its_content(root: Path) -> None:
    assert programs(root, "/bin/sh", "-c", "../first.sh; /bin/true") == {}
    before = programs(root, "bin/other.sh")
    (root / "bin/other.sh").write_text("changed")
    assert programs(root, "bin/other.sh") != before


def test_more_programs_than_anybody_names_are_found(root: Path) -> None:
    names = [f"bin/{number}.sh" for number in range(100)]
    for name in names:
        (root / name).write_text(name)
    assert len(programs(root, *names)) == 100


def test_the_words_of_a_text_are_those_of_a_shell_also_when_it_is_broken(root: Path) -> None:
    assert list(programs(root, *words_of('bash -c "./run.sh --x"'))) == ["run.sh"]
    assert list(programs(root, *words_of("./run.sh it's"))) == ["run.sh"]
