"""What a shell offers while a person types: names the daemon knows, keys of settings, files and folders."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.kit.cli import Cli, write_agent

AGENT = "---\nname: scout\nprovider: offline\n---\nYou look.\n"
CAPABILITIES = '[[capabilities]]\nid = "find-code"\nsummary = "Find code"\noutcome = "A list"\n'


@pytest.fixture
def workspace(shared: Cli) -> Cli:
    write_agent(shared.folder / ".compozy", "scout", AGENT)
    (shared.folder / ".compozy/agents/scout/capabilities.toml").write_text(CAPABILITIES)
    assert shared("workspace", "add", ".").code == 0
    return shared


def offered(cli: Cli, line: str) -> list[str]:
    """Return what bash is told for a line whose last word is being typed."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_COMPOZY_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-m", "compozy"],
        env={**os.environ, **cli.environment, **words},
        cwd=cli.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_names_of_this_place_are_offered(workspace: Cli) -> None:
    assert "plain,scout" in offered(workspace, "compozy agent info s")
    assert "plain,scout" in offered(workspace, "compozy agent why ")
    assert offered(workspace, "compozy capability show scout ") == ["plain,find-code"]
    assert f"plain,{workspace.folder.name}" in offered(workspace, "compozy run x --workspace ")
    assert "plain,compozy__agent_list" in offered(workspace, "compozy tool info compozy__a")


def test_providers_are_offered_as_arguments_and_as_options(workspace: Cli) -> None:
    assert offered(workspace, "compozy provider status cla") == ["plain,claude"]
    assert offered(workspace, "compozy agent create x --provider offl") == ["plain,offline"]


def test_keys_of_settings_are_offered(workspace: Cli) -> None:
    assert "plain,defaults.provider" in offered(workspace, "compozy config set defaults.")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("compozy ocm validate ", "file,"),
        ("compozy ocm select task man", "file,man"),
        ("compozy backup ho", "file,ho"),
        ("compozy workspace add ./", "dir,./"),
        ("compozy run x --workspace ./", "dir,./"),
    ],
)
def test_the_shell_offers_files_and_folders_itself(workspace: Cli, line: str, kind: str) -> None:
    assert offered(workspace, line) == [kind]


def test_fish_shows_a_description_whole(workspace: Cli) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("there is no fish on this machine")
    sidecar = workspace.folder / ".compozy/agents/scout/capabilities.toml"
    sidecar.write_text(CAPABILITIES.replace("Find code", "Find code, tests, and who wrote them"))
    script = workspace.folder / "compozy.fish"
    script.write_text(workspace("completion", "fish").out)
    # The script starts the program by its name, through `env`.
    programs = workspace.folder / "programs"
    programs.mkdir()
    (programs / "compozy").write_text(f'#!/bin/sh\nexec {sys.executable} -m compozy "$@"\n')
    (programs / "compozy").chmod(0o755)
    done = subprocess.run(
        [fish, "--no-config", "-c", f"source {script}; complete -C 'compozy capability show scout '"],
        env={**os.environ, **workspace.environment, "PATH": f"{programs}:{os.environ['PATH']}"},
        cwd=workspace.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "find-code\tFind code, tests, and who wrote them\n", done.stderr
