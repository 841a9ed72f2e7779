"""The reference program accepts what we export, and its loader loads it (issue 8 tests).

It is installed from its registry into an environment of its own below .cache; where that fails, the test is skipped
and says so.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.model.capability import Capability
from compozy.ocm.bridge import a2a, others
from compozy.ocm.bridge.agents import to_manifests
from compozy.ocm.bridge.native import from_native_entry
from compozy.ocm.publishing import publish
from compozy.ocm.target import from_manifest, to_manifest
from compozy.ocm.writing import to_json, to_yaml

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = "opensmartroute==1.10.0"
PLACE = ROOT / ".cache" / "reference" / REFERENCE.replace("==", "-")
PATIENCE = 300


@pytest.fixture(scope="module")
def reference() -> Path:
    python = PLACE / "bin" / "python"
    if not (PLACE / "bin" / "osr").is_file():
        made = [
            [sys.executable, "-m", "venv", str(PLACE)],
            # One short try: without a network this is a skip, not a wait.
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--retries",
                "0",
                "--timeout",
                "15",
                REFERENCE,
                "pyyaml",
            ],
        ]
        for argv in made:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode:
                pytest.skip(f"{REFERENCE} cannot be installed here: {done.stderr.strip()[-200:]}")
    return PLACE / "bin"


def exports() -> list[dict[str, object]]:
    """One of everything we make: bridges of each kind, and every valid recorded document after a round trip."""
    capability = Capability(
        id="review-diff", summary="Reviews: a diff", outcome="Findings", version="1.0", examples=("no", "1:30")
    )
    tools = [{"name": "getWeather", "description": "Weather", "inputSchema": {"properties": {"city": {}}}}]
    made = [
        *to_manifests("reviewer", (capability,), publisher="acme", category_path=("team",), prompt="Two\nlines\n"),
        *others.from_mcp_tools(tools, publisher="acme", server="w"),
        others.from_skill(b"---\nname: s\ndescription: d\n---\nbody\n", "SKILL.md", publisher="acme"),
        *others.from_persona("# Pirate\n\nTalk.\n", "p.md", publisher="acme"),
        a2a.from_card(
            {
                "name": "N",
                "description": "d",
                "capabilities": {"streaming": True},
                "url": "https://a.example",
                "skills": [{"id": "x", "tags": ["t"], "outputModes": ["image/png"]}],
            },
            publisher="acme",
        ),
        from_native_entry(
            {"id": "gpt-4", "kind": "llm", "description": "d", "effort": "high", "cost": {"usd_per_1k_input": 1}}
        ),
    ]
    found = [draft.document for draft in made]
    rows = [json.loads(line) for line in (ROOT / "tests/data/ocm/ocm_cases.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        if "doc" in row and row["want_valid"]:
            document = to_manifest(from_manifest(row["doc"]))
            try:
                json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
            except (TypeError, ValueError):
                continue
            found.append({**document, "id": f"case/{number}"})
    return found


def test_the_reference_accepts_and_loads_all_of_our_exports(reference: Path, tmp_path: Path) -> None:
    documents = exports()
    for number, document in enumerate(documents):
        for form, write in (("yaml", lambda one: to_yaml([one])), ("json", to_json)):
            path = tmp_path / form / str(number) / f"capability.{form}"
            path.parent.mkdir(parents=True)
            path.write_text(write(document))
    publish(documents, tmp_path / "published")
    for folder in ("yaml", "json", "published/manifests"):
        done = subprocess.run(
            [str(reference / "osr"), "validate", str(tmp_path / folder), "--json"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        told = json.loads(done.stdout)
        assert [one for one in told["manifests"] if one["errors"]] == []
        assert (done.returncode, len(told["manifests"])) == (0, len(documents))
    script = "import sys; from opensmartroute import load_targets; print(len(list(load_targets(sys.argv[1]))))"
    loaded = subprocess.run(
        [str(reference / "python"), "-c", script, str(tmp_path / "yaml")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert loaded.stdout.strip() == str(len(documents)), loaded.stderr[-500:]
