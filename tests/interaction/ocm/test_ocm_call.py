"""`compozy ocm call` and `learn --write` as people call them, against a real endpoint (issue 8 items 4, 6, 7)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.cli.app import main
from compozy.ocm.loading import load
from tests.kit.endpoint_server import EndpointServer, endpoint_server

SECRET = "s3cret-value"


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    with endpoint_server() as running:
        yield running


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPOZY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REFUND_TOKEN", SECRET)
    for name in ("COMPOZY_SESSION_ID", "COMPOZY_AGENT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def catalogue(server: EndpointServer, path: str = "/echo", **more: object) -> str:
    endpoint = {"protocol": "http", "url": server.url + path, "region": "eu", **more}
    documents = [
        {
            "ocm": "1",
            "id": "acme/refund",
            "kind": "tool",
            "description": "Pays back broken orders",
            "endpoints": [endpoint],
        },
        {"ocm": "1", "id": "acme/night", "kind": "human", "description": "Watches servers", "metadata": {"floor": 2}},
    ]
    Path("targets.json").write_text(json.dumps({"targets": documents}))
    return "targets.json"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["ocm", *words])
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    return code, told.out, told.err


def test_the_fitting_capability_is_called_and_its_answer_printed(
    capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    code, out, err = run(capsys, "call", "pay back my broken order", catalogue(server), "--region", "EU")
    assert (code, out) == (0, "you said pay back my broken order\n")
    assert err.startswith(f"acme/refund at http {server.url}/echo in eu\n") and "0.02 USD" in err


def test_the_answer_as_json_names_capability_endpoint_and_usage(
    capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    code, out, _ = run(capsys, "call", "x", catalogue(server), "--id", "acme/refund", "-o", "json")
    told = json.loads(out)
    assert code == 0 and (told["id"], told["text"], told["attempts"]) == ("acme/refund", "you said x", 1)
    assert told["endpoint"]["region"] == "eu" and told["usage"]["total"] == 8


@pytest.mark.parametrize("reference", ["env:REFUND_TOKEN", "vault:acme/token"])
def test_the_credential_comes_from_the_environment_or_the_vault_and_is_never_shown(
    capsys: pytest.CaptureFixture[str], server: EndpointServer, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compozy.config.home import Home
    from compozy.config.install import create_home
    from compozy.config.vault import Vault

    create_home(Home.from_environment())
    Vault(Home.from_environment()).set("acme/token", SECRET)
    words = ("call", "x", catalogue(server, "/wants-bearer", auth="bearer"), "--id", "acme/refund")
    code, out, _ = run(capsys, *words, "--credential", reference)
    assert (code, out) == (0, "welcome Bearer [REDACTED]\n")
    code, _, err = run(capsys, *words)
    assert code == 2 and "wants bearer: name a credential" in err
    monkeypatch.setenv("COMPOZY_SESSION_ID", "s-1")
    code, _, err = run(capsys, *words, "--credential", reference)
    assert code == 77 and "for a person" in err


def test_constraints_hold_for_a_named_capability_too(
    capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    code, _, err = run(capsys, "call", "x", catalogue(server), "--id", "acme/refund", "--region", "us")
    assert code == 2 and "no endpoint in region us (rule endpoint)" in err
    code, _, err = run(capsys, "call", "x", catalogue(server), "--id", "acme/nobody")
    assert code == 2 and "'acme/nobody' is not among the manifests" in err
    code, _, err = run(capsys, "call", "x", catalogue(server), "--id", "acme/night")
    assert code == 2 and "names no endpoint" in err
    assert server.seen == []


def test_none_fits_calls_nobody(capsys: pytest.CaptureFixture[str], server: EndpointServer) -> None:
    code, out, _ = run(capsys, "call", "sail to Malta", catalogue(server))
    assert code == 1 and out.startswith("none fits: ") and server.seen == []
    code, out, _ = run(capsys, "call", "sail to Malta", catalogue(server), "-o", "json")
    assert code == 1 and json.loads(out)["chosen"] == ""


@pytest.mark.parametrize(
    ("path", "words", "told"),
    [
        ("/gateway", (), "answered 502"),
        ("/html", (), "no JSON"),
        ("/hang", ("--timeout", "0.3"), "did not answer within 0.3 s"),
        ("/echo", ("--max-bytes", "20"), "answers more than 20 bytes"),
    ],
)
def test_no_answer_ends_with_one_and_the_reason_in_every_format(
    capsys: pytest.CaptureFixture[str], server: EndpointServer, path: str, words: tuple[str, ...], told: str
) -> None:
    call = ("call", "x", catalogue(server, path), "--id", "acme/refund", *words)
    code, out, err = run(capsys, *call)
    assert (code, out) == (1, "") and told in err
    code, out, _ = run(capsys, *call, "-o", "sarif")
    (found,) = json.loads(out)["runs"][0]["results"]
    assert code == 1 and told in found["message"]["text"]


def test_an_endpoint_that_reports_no_success_ends_with_one(
    capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    code, out, err = run(capsys, "call", "x", catalogue(server, "/unsuccessful"), "--id", "acme/refund")
    assert (code, out) == (1, "half of it\n") and "no success" in err


def test_plain_http_elsewhere_needs_consent_and_arguments_are_objects(
    capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    words = ("call", "x", catalogue(server, url="http://shop.invalid/run"), "--id", "acme/refund")
    code, _, err = run(capsys, *words)
    assert code == 2 and "without encryption" in err
    code, _, err = run(capsys, *words, "--allow-http", "--timeout", "20")
    assert code == 1 and "cannot be reached" in err
    for option in ("--arguments", "--context"):
        assert run(capsys, *words, option, "[1]")[0] == 2


def test_learned_priors_are_written_into_the_manifests_and_count(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(
            f'# mine\nocm: "1"\nid: acme/{name}\nkind: tool\ndescription: Pays back broken orders\n'
        )
    bad = [word for _ in range(6) for word in ("--bad", "acme/one")]
    code, out, err = run(
        capsys, "learn", "o.jsonl", *bad, "--catalog", "one.yaml", "--catalog", "two.yaml", "--write"
    )
    assert code == 0 and "one.yaml" in out and "two.yaml" not in out, err
    assert (folder / "one.yaml").read_text().startswith("# mine\n")
    (entry,) = load(["one.yaml"])
    assert isinstance(entry.document, dict)
    assert entry.document["quality_prior"] == 0.2857
    assert entry.document["metadata"]["learned_prior"]["outcomes"] == 6
    task = ("select", "pay back a broken order", "one.yaml", "two.yaml")
    assert run(capsys, *task)[1].startswith("acme/two")
    # What was learned before is not learned again: the authored prior is where it starts.
    assert run(capsys, "learn", "o.jsonl", "--catalog", "one.yaml", "--write")[0] == 0
    (again,) = load(["one.yaml"])
    assert isinstance(again.document, dict) and again.document["quality_prior"] == 0.2857
    assert run(capsys, "publish", "public", "two.yaml", "--outcomes", "o.jsonl")[0] == 0
    assert run(capsys, "learn", "o.jsonl", "--write")[0] == 2


def test_choosing_needs_none_of_the_libraries_that_call(folder: Path) -> None:
    (folder / "one.yaml").write_text('ocm: "1"\nid: acme/one\nkind: tool\ndescription: Pays back broken orders\n')
    script = (
        "import sys\nfrom compozy.cli.app import main\n"
        "code = main(['ocm', 'select', 'pay back a broken order', 'one.yaml', '--region', 'eu'])\n"
        "print(code, [one for one in ('httpx2', 'mcp', 'openai', 'asyncio', 'ssl') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_a_question_of_an_agent_is_answered_in_its_conversation(
    capsys: pytest.CaptureFixture[str], server: EndpointServer
) -> None:
    words = ("call", "pay back", catalogue(server, "/a2a-asks", protocol="a2a"), "--id", "acme/refund")
    code, out, err = run(capsys, *words)
    assert (code, out) == (1, "which order?\n") and "input-required" in err
    conversation = json.loads(run(capsys, *words, "-o", "json")[1])["conversation"]
    run(capsys, *words, "--conversation", conversation)
    body = server.seen[-1].body
    assert isinstance(body, dict) and body["params"]["message"]["contextId"] == conversation == "c1"
