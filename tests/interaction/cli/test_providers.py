"""`compozy provider …` and the routes behind it, with a scripted endpoint and a scripted login (contract §2.3)."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from compozy.client import ApiError
from tests.kit.cli import Cli, sequence
from tests.kit.daemons import Daemon, make_home
from tests.kit.fake_models import MODELS, model_server

SECRET = "planted-key-0123456789"


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    with model_server() as base:
        yield base


def agentao_stand_in(cli: Cli) -> None:
    """Put a program where the pinned agent would lie: the scripted agent of our tests."""
    program = cli.home.root / "providers" / "openai-compatible" / "bin" / "agentao"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)


def status_script(folder: Path, text: str, code: int) -> str:
    path = folder / "status.py"
    path.write_text(f"import sys\nprint({text!r})\nsys.exit({code})\n")
    return json.dumps(f"{sys.executable} {path}")


def test_an_endpoint_is_set_up_and_asked_without_its_key_ever_being_shown(cli: Cli, models: str) -> None:
    cli.extra["MY_ENDPOINT_KEY"] = SECRET
    before = cli("provider", "status", "openai-compatible", "-o", "json").object()["auth_status"]
    assert isinstance(before, dict)
    assert (before["state"], before["mend"]) == ("missing_cli", "compozy provider install openai-compatible")
    agentao_stand_in(cli)
    assert cli("provider", "set", "openai-compatible", "--base-url", f"{models}/v1", "--model", MODELS[0]).code == 0
    assert cli("provider", "set", "openai-compatible", "--key", "env:MY_ENDPOINT_KEY").code == 0
    assert cli("daemon", "start").code == 0
    asked = cli("provider", "auth", "status", "openai-compatible", "-o", "json").object()["auth_status"]
    assert isinstance(asked, dict) and asked["state"] == "authenticated" and asked["last_probe_at"]
    refreshed = cli("provider", "refresh", "openai-compatible")
    assert refreshed.code == 0 and "succeeded" in refreshed.out
    rows = sequence(cli("provider", "models", "list", "openai-compatible", "--all", "-o", "json").json())
    assert {row["model_id"]: row["availability_state"] for row in rows} == dict.fromkeys(MODELS, "available_live")
    for words in (["provider", "list"], ["config", "show", "--all"], ["provider", "list", "-o", "json"], ["status"]):
        assert SECRET not in cli(*words).out
    for path in cli.home.root.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_a_key_itself_is_never_taken_on_a_command_line(cli: Cli) -> None:
    refused = cli("provider", "set", "openrouter", "--key", SECRET)
    assert refused.code == 78 and "takes a reference" in refused.err and SECRET not in refused.err
    assert SECRET not in cli.home.config_file.read_text()


def test_a_login_needs_a_terminal_and_says_so(cli: Cli) -> None:
    refused = cli("provider", "auth", "login", "claude", "-o", "json")
    assert refused.code == 78 and "provider_login_requires_local_tty" in refused.err
    assert "has no login command" in cli("provider", "auth", "login", "gemini").err
    assert "did you mean 'claude'" in cli("provider", "auth", "login", "claud").err


def test_a_login_runs_in_the_terminal_of_the_person(cli: Cli) -> None:
    script = cli.folder / "login.py"
    script.write_text("import os, sys\nprint('signed in at', sys.stdin.isatty(), 'COMPOZY_MODEL' in os.environ)\n")
    cli("config", "set", "providers.scripted.auth_login_command", f"{sys.executable} {script}")
    with cli.terminal("provider", "auth", "login", "scripted") as terminal:
        terminal.wait_for("signed in at True False")
        terminal.wait_for("ended well")
        assert terminal.wait_exit() == 0


@pytest.mark.parametrize(
    ("text", "code", "state", "step"),
    [
        ("welcome back", 0, "authenticated", ""),
        (f"not logged in, token={SECRET}", 1, "needs_login", "compozy provider auth login scripted"),
        ("rate limit", 1, "rate_limited", "compozy provider auth status scripted"),
    ],
)
def test_a_status_command_is_asked_by_the_daemon(cli: Cli, text: str, code: int, state: str, step: str) -> None:
    with cli.home.config_file.open("a") as file:
        file.write(f"auth_status_command = {status_script(cli.folder, text, code)}\n")
        file.write(f'auth_login_command = "{sys.executable} -c pass"\n')
    assert cli("daemon", "start").code == 0
    answer = cli("provider", "auth", "status", "scripted", "-o", "json")
    status, probe = answer.object()["auth_status"], answer.object()["probe"]
    assert isinstance(status, dict) and isinstance(probe, dict)
    assert (status["state"], status.get("mend", ""), probe["exit_code"]) == (state, step, code)
    assert SECRET not in answer.out


def test_a_provider_that_cannot_be_asked_says_what_to_set(served: Cli) -> None:
    asked = served("provider", "auth", "status", "scripted")
    assert asked.code == 0 and "has no auth_status_command" in asked.err and "scripted" in asked.out


def test_one_more_endpoint_and_a_program_of_ones_own_are_one_line_each(cli: Cli) -> None:
    endpoint = ("--endpoint", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--key", "env:OTHER_KEY")
    assert cli("provider", "set", "ollama", *endpoint).code == 0
    assert cli("provider", "set", "mine", "--command", "/opt/agent --acp", "--default").code == 0
    rows = {row["name"]: row for row in sequence(cli("provider", "list", "-o", "json").json())}
    assert rows["ollama"]["default_model"] == "m" and rows["mine"]["default"] is True
    assert "command is required" in cli("provider", "set", "nothing", "--model", "m").err
    assert "the program of 'claude' is not ours to install" in cli("provider", "install", "claude").err


def test_the_state_of_a_provider_follows_its_settings_while_the_daemon_runs(served: Cli) -> None:
    before = served("provider", "status", "claude", "-o", "json").object()
    assert "waits_for_restart" not in before
    added = served("provider", "set", "mine", "--command", "/opt/absent-agent --acp", "--model", "m")
    assert added.code == 0 and "uses it from now on" in added.err
    mine = served("provider", "status", "mine", "-o", "json").object()
    assert mine["default_model"] == "m" and "waits_for_restart" not in mine
    status = mine["auth_status"]
    assert isinstance(status, dict) and status["state"] == "missing_cli"
    refused = served("session", "new", "--agent", "general", "-o", "json")
    assert refused.code == 0
    changed = served("provider", "set", "mine", "--command", "/opt/other-agent --acp")
    assert "compozy daemon stop && compozy daemon start" in changed.err
    waits = served("provider", "status", "mine")
    assert "until the daemon is restarted it uses the old command" in waits.out
    model = served("provider", "set", "mine", "--model", "m-2")
    assert "uses it from now on" in model.err
    listed = {row["name"]: row for row in sequence(served("provider", "list", "-o", "json").json())}
    assert listed["mine"]["default_model"] == "m-2" and listed["mine"]["waits_for_restart"] == ["command"]


def test_models_dev_is_asked_on_request_only_and_from_the_address_in_the_settings(served: Cli) -> None:
    nowhere = served("provider", "refresh", "--source", "models_dev")
    assert nowhere.code != 0 and "compozy config set models_dev.url" in nowhere.err
    assert "models_dev" not in served("provider", "models", "list", "claude", "--all", "-o", "json").out
    document = {"anthropic": {"models": {"claude-sonnet-5": {"limit": {"context": 77}}}}}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/api.json"
        assert "uses it from now on" in served("config", "set", "models_dev.url", address).err
        assert served("provider", "models", "list", "claude").code == 0 and asked == []
        done = served("provider", "refresh", "--source", "models_dev")
        assert done.code == 0 and "succeeded" in done.out and asked == ["/api.json"]
        server.shutdown()
        thread.join(30)
    rows = sequence(served("provider", "models", "list", "claude", "-o", "json").json())
    sonnet = next(row for row in rows if row["model_id"] == "claude-sonnet-5")
    assert sonnet["context_window"] == 77
    gone = served("provider", "refresh", "--source", "models_dev")
    assert gone.code == 69 and "does not answer" in gone.out


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, models: str) -> Iterator[Daemon]:
    text = f'[providers.openai-compatible]\nbase_url = "{models}/v1"\n'
    home = make_home(tmp_path_factory.mktemp("providers") / "home", config=text)
    daemon = Daemon(home).start()
    yield daemon
    daemon.end()


def ask(daemon: Daemon, method: str, path: str, body: dict[str, object] | None = None) -> dict[str, object]:
    with daemon.client() as client:
        answer = client.request(method, path, body=body).json()
    assert isinstance(answer, dict)
    return answer


def refusal(daemon: Daemon, method: str, path: str, body: dict[str, object] | None = None) -> ApiError:
    with daemon.client() as client, pytest.raises(ApiError) as caught:
        client.request(method, path, body=body)
    return caught.value


def test_every_provider_is_answered_in_the_contracts_shape(daemon: Daemon) -> None:
    rows = sequence(ask(daemon, "GET", "/api/providers")["providers"])
    names = [row["name"] for row in rows]
    assert {"claude", "groq", "offline", "openai-compatible"} <= set(names)
    for row in rows:
        auth = row["auth_status"]
        assert isinstance(auth, dict) and {"state", "mode", "env_policy", "home_policy", "login"} <= set(auth)
    assert next(row for row in rows if row["name"] == "offline")["default"] is True
    assert ask(daemon, "GET", "/api/providers/grok")["name"] == "xai"
    missing = refusal(daemon, "GET", "/api/providers/clade")
    assert (missing.status, missing.code) == (404, "provider_unknown") and "did you mean 'claude'" in missing.message


def test_a_model_is_curated_in_the_file_and_counts_at_once(daemon: Daemon) -> None:
    path = "/api/model-catalog/providers/claude/models"
    body: dict[str, object] = {"model_id": "claude-opus-4-8", "hidden": True, "default_effort": "low"}
    answer = ask(daemon, "POST", f"{path}/curate", body)
    apply, model = answer["apply"], answer["model"]
    assert isinstance(apply, dict) and isinstance(model, dict)
    assert (apply["applied"], apply["lifecycle"], apply["next_action"]) == (True, "live", "none")
    assert (model["hidden"], model["default_reasoning_effort"]) == (True, "low")
    shown = [row["model_id"] for row in sequence(ask(daemon, "GET", path)["models"])]
    assert "claude-opus-4-8" not in shown and "claude-sonnet-5" in shown
    again = ask(daemon, "POST", f"{path}/curate", {"model_id": "claude-opus-4-8", "hidden": None})["model"]
    assert isinstance(again, dict) and again["hidden"] is False and again["default_reasoning_effort"] == "low"


def test_a_curation_that_is_not_valid_changes_nothing(daemon: Daemon) -> None:
    before = daemon.home.config_file.read_text()
    path = "/api/model-catalog/providers/claude/models/curate"
    assert refusal(daemon, "POST", path, {"model_id": "claude-sonnet-5", "default_effort": "huge"}).status == 400
    assert refusal(daemon, "POST", path, {"model_id": " "}).status == 400
    assert refusal(daemon, "POST", path, {"model_id": "m", "colour": "red"}).status == 400
    assert refusal(daemon, "POST", path.replace("claude", "nobody"), {"model_id": "m"}).status == 400
    assert daemon.home.config_file.read_text() == before


def test_an_endpoint_that_is_gone_is_a_503_with_its_sources(daemon: Daemon, models: str) -> None:
    refreshed = ask(daemon, "POST", "/api/model-catalog/providers/openai-compatible/models/refresh")
    assert {row["source_id"] for row in sequence(refreshed["sources"])} >= {"provider_live"}
    text = daemon.home.config_file.read_text()
    port = urlsplit(models).port
    try:
        daemon.home.config_file.write_text(
            text + f'[providers.openai-compatible.models.discovery]\nendpoint = "http://127.0.0.1:1/v1"\n# {port}\n'
            "enabled = true\n"
        )
        ask(daemon, "POST", "/api/settings/reload")
        with daemon.client() as client, pytest.raises(ApiError) as caught:
            client.request("POST", "/api/model-catalog/models/refresh")
        assert caught.value.status == 503 and "does not answer" in str(caught.value.envelope["error"])
        live = next(r for r in sequence(caught.value.envelope["sources"]) if r["source_id"] == "provider_live")
        assert live["stale"] is True and live["row_count"] == len(MODELS)
    finally:
        daemon.home.config_file.write_text(text)
        ask(daemon, "POST", "/api/settings/reload")
