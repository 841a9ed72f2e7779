"""A command that does not exist is answered with the one that was meant."""

import pytest

from compozy.cli.command_table import COMMANDS, GROUPS, entries_below
from compozy.cli.wrong_names import _ELSEWHERE, told


def members(path: str) -> list[str]:
    return [entry.path.rpartition(" ")[2] for entry in entries_below(path)]


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ("", "logs", "session events"),
        ("", "stop", "daemon stop"),
        ("", "uninstal", "install"),
        ("", "events", "session events"),
        ("agent", "show", "agent info"),
        ("agent", "rm", "agent delete"),
        ("agent", "chekc", "agent check"),
        ("session", "show", "session status"),
        ("session", "delete", "session remove"),
        ("trust", "list", "trust show"),
        ("daemon", "status", "status"),
        ("capability", "list", "agent capabilities"),
    ],
)
def test_the_word_of_another_tool_or_a_typing_mistake_names_what_does_it(path: str, name: str, meant: str) -> None:
    sentence, remedy = told(name, path, members(path))
    assert sentence.endswith(f"did you mean 'compozy {meant}'?")
    assert remedy == f"compozy {meant} --help"


def test_what_is_offered_exists() -> None:
    known = {entry.path for entry in (*COMMANDS, *GROUPS)}
    assert {target for names in _ELSEWHERE.values() for target in names.values()} <= known
    assert not {f"{path} {name}".strip() for path, names in _ELSEWHERE.items() for name in names} & known


def test_a_task_without_run_is_given_to_run_and_an_upgrade_to_what_installed_the_program() -> None:
    assert told("what's here?", "", members(""))[1] == """compozy run 'what'"'"'s here?'"""
    assert told("upgrade", "", members(""))[1] == "pipx upgrade compozy"


def test_what_resembles_nothing_gets_the_list() -> None:
    assert told("qqqq", "ocm", members("ocm")) == (
        "there is no command 'qqqq' below 'compozy ocm'; choose one that exists",
        "compozy ocm --help",
    )
