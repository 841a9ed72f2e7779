"""The line that brings an extra fits the way the program was installed."""

import pytest

from compozy.model.extras import install_line, packages_of


@pytest.mark.parametrize(
    ("prefix", "line"),
    [
        ("/home/a/.local/share/pipx/venvs/compozy", "pipx inject compozy 'numpy>=2.0'"),
        ("/home/a/.local/share/uv/tools/compozy", "uv pip install --python '/my tools/python' 'numpy>=2.0'"),
        ("/srv/venv", "'/my tools/python' -m pip install 'numpy>=2.0'"),
    ],
)
def test_it_names_the_packages_for_the_environment_that_runs(prefix: str, line: str) -> None:
    assert install_line("train", prefix=prefix, python="/my tools/python") == line


def test_an_extra_nobody_knows_falls_back_to_its_name() -> None:
    assert packages_of("nothing") == ()
    assert install_line("nothing") == "pip install 'compozy[nothing]'"
