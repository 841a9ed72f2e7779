"""Putting the agent of `openai-compatible` into an environment of its own below the home (decisions D24).

Name and version are pinned in `openai_compatible.py`. Uses uv when it is on PATH, else the interpreter's own venv and
pip, and the package registry as the machine has it set up. What fails is removed again.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from compozy.config.environment import base_environment
from compozy.config.errors import HomeError
from compozy.config.home import Home
from compozy.config.install import create_home
from compozy.config.openai_compatible import OPENAI_COMPATIBLE, PACKAGE, VERSION, environment_folder, program
from compozy.model.record import Record

# pip and uv retry by themselves; past this an installation is not coming any more.
_SECONDS = 900
_QUERY = "import importlib.metadata as m; print(m.version('agentao'))"


class InstalledProgram(Record, frozen=True, kw_only=True):
    """What was installed where; `was_there` when nothing had to be done."""

    provider: str
    package: str
    version: str
    python: str
    program: str
    was_there: bool


def install_openai_compatible(home: Home, tell: Callable[[str], None]) -> InstalledProgram:
    """Install the pinned agent unless it is there. Needs Python 3.11 or newer, which compozy itself runs on.

    Raises:
        HomeError: there is neither uv nor venv with pip, the registry cannot be reached, or the disk is full.
    """
    folder, python = environment_folder(home), environment_folder(home) / "bin" / "python"
    was_there = program(home).resolve() == (folder / "bin" / "agentao").resolve() and _version(python) == VERSION
    if not was_there:
        create_home(home)
        for path in (home.root / "providers", folder.parent):
            path.mkdir(mode=0o700, exist_ok=True)
        tell(f"installing {PACKAGE} {VERSION} into {folder} (about 60 MB)")
        try:
            _install(folder, python)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if _version(python) != VERSION or not (folder / "bin" / "agentao").is_file():
            shutil.rmtree(folder, ignore_errors=True)
            raise HomeError(f"{PACKAGE} {VERSION} was installed into {str(folder)!r} and does not start; try again")
        _link(program(home), folder / "bin" / "agentao")
    return InstalledProgram(
        provider=OPENAI_COMPATIBLE,
        package=PACKAGE,
        version=VERSION,
        python=".".join(map(str, sys.version_info[:3])),
        program=str(program(home)),
        was_there=was_there,
    )


def _link(link: Path, target: Path) -> None:
    """Point the link at the target, in one step."""
    link.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = link.with_name(f".{link.name}-new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _install(folder: Path, python: Path) -> None:
    requirement = f"{PACKAGE}=={VERSION}"
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "-q", "--clear", "-p", sys.executable, str(folder)])
        _run([uv, "pip", "install", "-q", "-p", str(python), requirement])
    else:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        quiet = ["-q", "--disable-pip-version-check", "--no-input", "--prefer-binary"]
        _run([str(python), "-m", "pip", "install", *quiet, requirement])


def _run(argv: list[str]) -> None:
    """Run one step to its end.

    Raises:
        HomeError: with the last words of the program.
    """
    name = " ".join([Path(argv[0]).name, *argv[1:3]])
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            env=base_environment("filtered"),
        )
    except subprocess.TimeoutExpired as late:
        raise HomeError(f"{name} did not finish within {_SECONDS} s; check the connection and try again") from late
    except OSError as error:
        raise HomeError(f"{name} cannot be started: {error.strerror}; install uv or Python's venv") from error
    if done.returncode:
        said = " / ".join((done.stderr or done.stdout).strip().splitlines()[-3:])[-400:]
        raise HomeError(
            f"{name} failed: {said}; check the connection and that Python has venv and pip, or install uv"
        )


def _version(python: Path) -> str:
    """Return the version the environment holds, "" when it does not run."""
    try:
        done = subprocess.run(
            [str(python), "-I", "-c", _QUERY], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
