"""The examples of docs/client.md run as they stand, and the page names what the client has."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.client.typed import Client
from compozy.daemon import control
from tests.kit.daemons import clean_environment, make_home

PAGE = Path(__file__).resolve().parents[2] / "docs/client.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    environment = clean_environment(home)
    (tmp_path / "kettle.txt").write_text("the kettle")
    control.start_detached(home, environ=environment)
    try:
        said = []
        for block in BLOCKS:
            source = block.replace('"/tmp"', repr(str(tmp_path)))
            done = subprocess.run(
                [sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=60
            )
            assert (done.returncode, done.stderr) == (0, ""), block
            said.append(done.stdout)
    finally:
        control.stop(home)
    assert "'done'" in said[0] and "user_message" in said[0]
    assert re.search(r"^409 \S+$", said[1], re.M)


@pytest.mark.parametrize("group", [name for name, value in vars(Client).items() if hasattr(value, "attrname")])
def test_the_page_names_every_group_of_calls(group: str) -> None:
    assert f"`{group}`" in PAGE.read_text()
