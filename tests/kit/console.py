"""Runs the console blocks of a page of the documentation, in order, and puts the real output below each command.

`python -m tests.kit.console PAGE` rewrites the page; a test compares. Digests on a page are real: DIGEST, DIGEST2 and
HASH are filled in once, when a page is written.
"""

import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from compozy.daemon import control
from tests.kit.cli import COMPOZY, Cli
from tests.kit.daemons import make_home

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def make_reader(folder: Path) -> Cli:
    """Make the home and the project a reader of the page would have, with `compozy` on the PATH."""
    home = make_home(folder / "home", http=False)
    project = folder / "project"
    project.mkdir()
    program = folder / "bin" / "compozy"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {" ".join(COMPOZY)} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return Cli(home, project)


def with_real_output(text: str, cli: Cli) -> str:
    """Return the page with each command's output as it is now; times are shown as one fixed time."""
    return BLOCK.sub(lambda match: f"```console\n{_run_block(match[1], cli)}```", text)


def _run_block(block: str, cli: Cli) -> str:
    out = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            out += f"{line}\n" + _run(line[2:], cli)
    return out


def _run(command: str, cli: Cli) -> str:
    path = f"{cli.home.root.parent / 'bin'}:{cli.environment['PATH']}"
    if "capabilities" in command:
        _write_catalog(cli)
    done = subprocess.run(
        ["/bin/sh", "-c", f"{{ {command}\n}} 2>&1"],
        cwd=cli.folder,
        env={**cli.environment, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    text = done.stdout.replace(str(cli.home.root), "~/.compozy").replace(str(cli.folder), "~/project")
    text = _TIME.sub("2026-11-30T12:00:00.000000Z", text)
    return "".join(f"{line}\n" for line in text.splitlines())


def _write_catalog(cli: Cli) -> None:
    """The page shows the file between two commands."""
    page = Path(__file__).resolve().parents[2] / "docs/authoring.md"
    found = re.search(r"^```toml capabilities\.toml\n(.*?)^```$", page.read_text(), re.M | re.S)
    assert found is not None
    (cli.home.agents / "reviewer/capabilities.toml").write_text(found[1])


def main(page: Path) -> None:
    """Rewrite a page."""
    with tempfile.TemporaryDirectory() as folder:
        cli = make_reader(Path(folder))
        control.start_detached(cli.home, environ=cli.environment)
        try:
            page.write_text(with_real_output(page.read_text(), cli))
        finally:
            control.stop(cli.home)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
