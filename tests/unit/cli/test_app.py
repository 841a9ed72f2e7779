"""How a call of the command line begins and ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from compozy.cli.app import EXIT_BROKEN_PIPE, main, requested_format, root_command
from compozy.cli.command_table import COMMANDS, GROUPS, SECTIONS, CommandEntry
from compozy.cli.groups import Command, load


def test_help_names_every_top_level_command_without_importing_one() -> None:
    script = (
        "import sys; from compozy.cli.app import main; main(['--help']); "
        "bad=[m for m in sys.modules if m.startswith('compozy.cli.commands.') or m in "
        "('rich','starlette','uvicorn','asyncio','msgspec','h11')]; sys.exit(f'imported {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for entry in (*COMMANDS, *GROUPS):
        if " " not in entry.path:
            assert entry.path in done.stdout and entry.help in done.stdout


def test_the_help_groups_every_command_once() -> None:
    grouped = [name for _, names in SECTIONS for name in names]
    assert sorted(grouped) == sorted(entry.path for entry in (*COMMANDS, *GROUPS) if " " not in entry.path)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.path)
def test_every_command_of_the_table_loads_has_help_and_examples(entry: CommandEntry) -> None:
    command = load(entry)
    assert isinstance(command, Command), "it switches the garbage collector on again"
    assert command.help, "its docstring is the help text"
    assert command.name == entry.path.rpartition(" ")[2]
    assert all(example.startswith("compozy ") for example in getattr(command, "examples", ()))
    assert getattr(command, "examples", ()), "show one line a person can copy"


def test_a_mistyped_command_names_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completoin"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "did you mean 'compozy completion'?" in shown.err
    assert shown.err.endswith("try: compozy completion --help\n")


def test_a_mistyped_option_names_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash", "--outptu", "json"]) == 2
    assert "--output" in capsys.readouterr().err


def test_words_without_quotes_are_told_to_be_one_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "look", "at", "this"]) == 2
    assert "(at this); put a text of several words in quotes\n" in capsys.readouterr().err
    assert main(["completion", "bash", "zsh"]) == 2
    assert "quotes" not in capsys.readouterr().err


def test_a_missing_session_names_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["session", "recap"]) == 2
    assert "missing argument 'SESSION_ID'; `compozy session list --all` shows it\n" in capsys.readouterr().err


def test_a_value_that_is_missing_names_the_command_that_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "update", "reviewer", "--model", "x"]) == 2
    assert capsys.readouterr().err == (
        "error: missing option '--expected-digest'; `compozy agent info NAME` shows it\n"
        "try: compozy agent update --help\n"
    )


@pytest.mark.parametrize("words", [["-h"], ["help"], ["agent", "-h"], ["attention", "-h"], ["agent", "list", "-h"]])
def test_help_is_found_under_its_short_names(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert "-h, --help" in capsys.readouterr().out


def test_help_keeps_its_short_name_when_another_context_asked_first() -> None:
    # Read in that order once: the option is made at the first question and kept.
    entry = next(entry for entry in COMMANDS if entry.path == "agent list")
    for command in (load(entry), root_command()):
        assert "-h" in command.get_params(click.Context(command))[-1].opts


def test_version_is_understood_as_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == main(["--version"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["--help"], ["config", "list", "-o", "json"]])
def test_an_answer_that_does_not_fit_on_the_disk_is_one_sentence(words: list[str], tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "compozy", *words],
            env={**os.environ, "COMPOZY_HOME": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert "no space left on device" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("line", [["-o", "json", "nothing"], ["--json", "nothing"], ["nothing", "-ojson"]])
def test_a_usage_error_is_json_when_json_was_asked_for(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 2
    payload = json.loads(capsys.readouterr().err)
    assert payload["code"] == "usage" and "nothing" in payload["error"]
    assert payload["diagnostic"]["suggested_command"] == "compozy --help"


def test_output_flags_may_stand_before_or_after_the_command_and_the_last_one_wins() -> None:
    assert requested_format(["-o", "toon", "agent", "list", "--json"]) == "json"
    assert requested_format(["agent", "list", "--output=jsonl"]) == "jsonl"
    assert requested_format(["run", "--", "--json"]) == "human"


def test_a_bare_call_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: compozy")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_COMPOZY_COMPLETE" in capsys.readouterr().out


def test_the_shell_is_offered_commands_without_loading_them() -> None:
    env = {**os.environ, "_COMPOZY_COMPLETE": "bash_complete", "COMP_WORDS": "compozy comp", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "compozy"], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "plain,completion\n"


def test_a_reader_that_goes_away_ends_the_call_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "compozy", "--help"], stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (EXIT_BROKEN_PIPE, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_the_caller_closed_is_no_fault(closed: str) -> None:
    line = f"{sys.executable} -m compozy schema {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_windows_is_refused_with_a_hint_at_wsl() -> None:
    script = (
        "import sys; sys.platform='win32'; sys.argv[1:]=['status']; import compozy.__main__ as m; sys.exit(m.main())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "wsl --install" in done.stderr


def test_help_can_be_asked_for_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "completion"]) == 0
    assert capsys.readouterr().out.startswith("Usage: compozy completion")


def test_listing_agents_imports_only_what_a_request_needs(tmp_path: Path) -> None:
    heavy = (
        "msgspec",
        "yaml",
        "rtoml",
        "tomlkit",
        "rich",
        "asyncio",
        "starlette",
        "uvicorn",
        "subprocess",
    )
    script = (
        "import sys; from compozy.cli.app import main; code = main(['agent', 'list', '-o', 'json']); "
        f"bad = [m for m in {heavy!r} if m in sys.modules]; sys.exit(f'imported {{bad}}' if bad else code)"
    )
    env = {**os.environ, "COMPOZY_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 69, done.stderr
