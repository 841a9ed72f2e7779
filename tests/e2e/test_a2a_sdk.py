"""The published A2A SDK answers our calls, and reads our cards (issue 8 items 3 and 6).

It is installed from its registry into an environment of its own below .cache; where that fails, the tests are
skipped and say so.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compozy.ocm import bind_endpoint
from compozy.ocm.bridge import a2a
from compozy.ocm.endpoints.calls import Call, Options
from compozy.ocm.endpoints.errors import EndpointFailed
from compozy.ocm.validate import validate

pytestmark = [pytest.mark.e2e, pytest.mark.anyio]

ROOT = Path(__file__).resolve().parents[2]
SDK = "a2a-sdk[http-server]==1.3.0"
PLACE = ROOT / ".cache" / "reference" / "a2a-sdk-1.3.0"
AGENT = Path(__file__).with_name("a2a_agent.py")
PATIENCE = 600


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def python() -> str:
    found = PLACE / "bin" / "python"
    if not list(PLACE.glob("lib/*/site-packages/a2a")):
        for argv in (
            [sys.executable, "-m", "venv", str(PLACE)],
            [str(found), "-m", "pip", "install", "--quiet", SDK, "uvicorn"],
        ):
            done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode:
                pytest.skip(f"{SDK} cannot be installed here: {done.stderr.strip()[-200:]}")
    return str(found)


@contextmanager
def agent(python: str, which: str) -> Iterator[tuple[str, dict[str, object]]]:
    process = subprocess.Popen(
        [python, str(AGENT), which], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        url, _, card = process.stdout.readline().partition(" ")
        yield url, json.loads(card)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def manifest(card: dict[str, object]) -> dict[str, object]:
    draft = a2a.from_card(card, publisher="acme")
    assert not [one for one in validate(draft.document) if one.severity.value == "error"]
    return draft.document


@pytest.mark.parametrize("which", ["current", "old"])
async def test_an_agent_of_the_sdk_is_called_by_the_manifest_of_its_card(python: str, which: str) -> None:
    with agent(python, which) as (_, card):
        bound = bind_endpoint(manifest(card), options=Options(timeout=60))
        reply = await bound.ask(Call(task="pay 12"))
        assert (reply.text, reply.state, reply.success) == ("done: pay 12", "completed", True)
        assert reply.conversation
        asked = await bound.ask(Call(task="ask"))
        assert (asked.text, asked.state, asked.success) == ("which order?", "input-required", False)
        with pytest.raises(EndpointFailed, match="ended the task as failed: no paper left"):
            await bound.ask(Call(task="fail"))


def test_the_sdk_reads_the_cards_we_make(python: str, tmp_path: Path) -> None:
    documents = [
        {
            "ocm": "1",
            "id": f"acme/{name}",
            "kind": "agent",
            "description": name,
            "endpoints": [{"protocol": "a2a", "url": "https://acme.example/a2a"}],
            "examples": ["do it"],
        }
        for name in ("one", "two")
    ]
    card, _ = a2a.to_card(documents, name="Acme", description="Agents of Acme", publisher="acme")
    (tmp_path / "card.json").write_text(json.dumps(card))
    done = subprocess.run(
        [python, str(AGENT), "card", str(tmp_path / "card.json")], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert json.loads(done.stdout) == {"name": "Acme", "skills": ["acme/one", "acme/two"]}
