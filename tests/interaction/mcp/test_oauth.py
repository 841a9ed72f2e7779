"""Logins at remote MCP servers: discovery, registration, PKCE, tokens in the vault, refresh, logout (issue 7)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from compozy.config.vault import Vault
from tests.interaction.mcp.stage import CONFIG, Stage, said
from tests.kit.cli import Cli
from tests.kit.daemons import wait_until
from tests.kit.mcp_remote import browse, guarded_server, origin, post

LOGIN = "/api/mcp/auth/login"
# Of tests/kit/mcp_oauth.py, which cannot be imported: it is a program.
FIXED_CLIENT, FIXED_SECRET = "compozy-desk", "fix-planted-client-secret-31"


def guarded(folder: Path, url: str, **auth: object) -> Stage:
    server: dict[str, object] = {"url": url, **({"auth": auth} if auth else {})}
    return Stage(folder, {}, {"vaulted": server}, config=CONFIG, http=True)


def begin(stage: Stage, name: str = "vaulted") -> dict[str, Any]:
    login: dict[str, Any] = stage.world.client.request("POST", LOGIN, body={"server": name}).json()["login"]
    return login


def finish(stage: Stage, login: dict[str, Any]) -> dict[str, Any]:
    page = browse(login["url"])
    assert "You can close this page" in page, page

    def state() -> dict[str, Any]:
        found: dict[str, Any] = stage.world.client.request("GET", f"/api/mcp/auth/logins/{login['id']}").json()
        return dict(found["login"])

    wait_until(lambda: state()["state"] != "waiting", "the login is over")
    return state()


def auth_of(stage: Stage) -> dict[str, Any]:
    (row,) = stage.world.client.request("GET", "/api/mcp/auth").json()["auth"]["servers"]
    return dict(row)


def leaks(stage: Stage, log: Path) -> list[str]:
    """Return the files of the home in which a token stands."""
    tokens = [line.split()[1] for line in log.read_text().splitlines() if line.startswith("token ")]
    assert tokens
    files = [path for path in stage.world.daemon.home.root.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(token.encode() in path.read_bytes() for token in tokens)]


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[Stage, Path, str]]:
    with guarded_server(tmp_path) as (url, log):
        stage = guarded(tmp_path, url)
        yield stage, log, url
        stage.end()


def test_a_person_logs_in_and_running_sessions_get_the_tools(remote: tuple[Stage, Path, str]) -> None:
    stage, log, url = remote
    agent = stage.agent()
    assert not [name for name in agent.tools() if name.startswith("mcp__")]
    status = stage.wait_state("vaulted", "needs_login")
    assert status["last_error"] == "it asks for a login: compozy mcp auth login vaulted"
    assert auth_of(stage)["state"] == "logged_out"

    login = begin(stage)
    assert login["state"] == "waiting" and login["url"].startswith(origin(url))
    assert "code_challenge_method=S256" in login["url"] and "/api/mcp/oauth/callback" in login["redirect_uri"]
    assert finish(stage, login) == {**login, "state": "done", "url": ""}
    wait_until(lambda: "mcp__vaulted__whisper" in agent.tools(), "the tool is there")
    assert said(agent.call("mcp__vaulted__whisper", text="HUSH")) == "hush"

    row = auth_of(stage)
    assert (row["state"], row["can_refresh"], row["scopes"]) == ("logged_in", True, ["use"])
    words = [line.split()[0] for line in log.read_text().splitlines() if not line.startswith("token")]
    assert words == ["registered", "logged-in"]
    assert "registered compozy" in log.read_text() and f"logged-in {url}" in log.read_text()
    assert not leaks(stage, log)

    stage.world.client.request("POST", "/api/mcp/auth/logout", body={"server": "vaulted"})
    wait_until(lambda: "mcp__vaulted__whisper" not in agent.tools(), "the tool is gone")
    assert auth_of(stage)["state"] == "logged_out"
    assert stage.wait_state("vaulted", "needs_login")


def _revoked(log: Path) -> list[str]:
    return [line.split()[1] for line in log.read_text().splitlines() if line.startswith("revoked ")]


def test_a_logout_has_the_tokens_revoked_where_they_came_from(remote: tuple[Stage, Path, str]) -> None:
    stage, log, _ = remote
    finish(stage, begin(stage))
    tokens = [line.split()[1] for line in log.read_text().splitlines() if line.startswith("token ")]
    cli = Cli(stage.world.daemon.home, stage.world.workspace)
    done = cli("mcp", "auth", "logout", "vaulted")
    assert (done.code, done.err.strip()) == (0, "logged out at vaulted")
    assert sorted(_revoked(log)) == sorted(tokens) and len(tokens) == 2
    again = cli("mcp", "auth", "logout", "vaulted")
    assert again.code != 0 and "there is no login" in again.err


@pytest.mark.parametrize(
    ("how", "said"),
    [("no-revocation", "offers no revocation"), ("bad-revocation", "did not revoke the refresh token: status 500")],
)
def test_a_logout_forgets_the_login_also_where_the_server_does_not_revoke_it(
    tmp_path: Path, how: str, said: str
) -> None:
    with guarded_server(tmp_path, how) as (url, log):
        stage = guarded(tmp_path, url)
        try:
            finish(stage, begin(stage))
            answer = stage.world.client.request("POST", "/api/mcp/auth/logout", body={"server": "vaulted"}).json()
            assert answer["server"]["state"] == "logged_out" and said in answer["server"]["note"]
            assert not _revoked(log) and not leaks(stage, log)
        finally:
            stage.end()


def test_a_logout_does_not_wait_for_a_server_that_has_gone(tmp_path: Path) -> None:
    with guarded_server(tmp_path) as (url, _):
        stage = guarded(tmp_path, url)
        finish(stage, begin(stage))
    try:
        done = Cli(stage.world.daemon.home, stage.world.workspace)("mcp", "auth", "logout", "vaulted")
        assert done.code == 0 and "could not be asked to revoke" in done.err
        assert auth_of(stage)["state"] == "logged_out"
    finally:
        stage.end()


def test_a_client_that_was_registered_by_hand_logs_in_renews_and_logs_out_with_its_own_secret(tmp_path: Path) -> None:
    with guarded_server(tmp_path, "fixed", seconds=20) as (url, log):
        own = {"client_id": FIXED_CLIENT, "client_secret_ref": "vault:mcp/desk", "issuer_url": origin(url)}
        stage = guarded(tmp_path, url, registration="pre_registered", **own)
        try:
            # A reference that leads nowhere is told before anybody is sent anywhere.
            with pytest.raises(ApiError) as refused:
                begin(stage)
            assert "mcp/desk" in refused.value.message
            Vault(stage.world.daemon.home, {}).set("mcp/desk", FIXED_SECRET)
            login = begin(stage)
            assert f"client_id={FIXED_CLIENT}" in login["url"] and FIXED_SECRET not in login["url"]
            assert finish(stage, login)["state"] == "done"
            agent = stage.agent()
            assert said(agent.call("mcp__vaulted__whisper", text="DESK")) == "desk"
            words = [line.split()[0] for line in log.read_text().splitlines() if not line.startswith("token")]
            assert "registered" not in words and {"logged-in", "refreshed"} <= set(words)
            stage.world.client.request("POST", "/api/mcp/auth/logout", body={"server": "vaulted"})
            assert len(_revoked(log)) == 2 and not leaks(stage, log)
            files = [path for path in stage.world.daemon.home.root.rglob("*") if path.is_file()]
            assert [path for path in files if FIXED_SECRET.encode() in path.read_bytes()] == []
        finally:
            stage.end()


def test_a_server_where_clients_cannot_register_says_so(tmp_path: Path) -> None:
    with guarded_server(tmp_path, "fixed") as (url, _):
        stage = guarded(tmp_path, url)
        try:
            with pytest.raises(ApiError) as refused:
                begin(stage)
            assert refused.value.code == "mcp_login_failed" and "egist" in refused.value.message
        finally:
            stage.end()


def test_a_login_survives_a_restart_and_is_renewed_when_it_ends(tmp_path: Path) -> None:
    # Shorter than what is refreshed early, so every use renews it.
    with guarded_server(tmp_path, seconds=20) as (url, log):
        stage = guarded(tmp_path, url)
        try:
            assert finish(stage, begin(stage))["state"] == "done"
            stage.world.end()
            stage.world.start()
            agent = stage.agent()
            assert said(agent.call("mcp__vaulted__whisper", text="AGAIN")) == "again"
            assert "refreshed" in log.read_text() and log.read_text().count("registered") == 1
            assert not leaks(stage, log)
        finally:
            stage.end()


def test_a_login_that_the_server_takes_back_asks_for_a_person_and_never_by_itself(
    remote: tuple[Stage, Path, str],
) -> None:
    stage, log, url = remote
    finish(stage, begin(stage))
    agent = stage.agent()
    assert said(agent.call("mcp__vaulted__whisper", text="A")) == "a"
    post(f"{origin(url)}/revoke-all")
    refused = agent.call("mcp__vaulted__whisper", text="B")
    assert refused["isError"]
    assert stage.wait_state("vaulted", "needs_login")
    assert log.read_text().count("registered") == 1


def test_a_refused_login_says_so(tmp_path: Path) -> None:
    with guarded_server(tmp_path, "deny") as (url, _):
        stage = guarded(tmp_path, url)
        try:
            login = begin(stage)
            assert "was refused" in browse(login["url"])
            path = f"/api/mcp/auth/logins/{login['id']}"
            wait_until(
                lambda: stage.world.client.request("GET", path).json()["login"]["state"] == "failed", "it has failed"
            )
            found = stage.world.client.request("GET", path).json()["login"]
            assert found["error"] == "the authorization server refused: access_denied"
            assert auth_of(stage)["state"] == "logged_out"
        finally:
            stage.end()


def test_an_answer_that_nobody_waits_for_is_refused(remote: tuple[Stage, Path, str]) -> None:
    stage, _, _ = remote
    login = begin(stage)
    assert "no login waits" in browse(login["redirect_uri"] + "?code=made-up&state=made-up")
    assert stage.world.client.request("GET", f"/api/mcp/auth/logins/{login['id']}").json()["login"] == login


def test_the_command_prints_the_address_and_waits(remote: tuple[Stage, Path, str]) -> None:
    stage, _, _ = remote
    cli = Cli(stage.world.daemon.home, stage.world.workspace)
    late = cli("mcp", "auth", "login", "vaulted", "--timeout", "1")
    assert late.code == 75 and "open this address to log in at vaulted:\nhttp://127.0.0.1" in late.err
    shown = cli("mcp", "auth", "status")
    assert "vaulted" in shown.out and "logged_out" in shown.out
    agents = cli("mcp", "auth", "login", "vaulted", env={"COMPOZY_SESSION_ID": "ses_1"})
    assert agents.code == 77


@pytest.mark.parametrize(("http", "code"), [(False, "mcp_login_needs_http"), (True, "mcp_server_not_found")])
def test_a_login_that_cannot_be_is_refused(tmp_path: Path, http: bool, code: str) -> None:
    stage = Stage(tmp_path, {"local": "good"}, {"far": {"url": "http://127.0.0.1:9/mcp"}}, http=http)
    try:
        with pytest.raises(ApiError) as refused:
            begin(stage, "local" if http else "far")
        assert refused.value.code == code
        if http:
            with pytest.raises(ApiError) as refused:
                begin(stage, "far")
            assert refused.value.code == "mcp_login_failed"
    finally:
        stage.end()
