"""Workspaces over both transports: bad input changes nothing, a detail holds what belongs to it (contract §3.4)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError, DaemonClient
from tests.kit.agent_files import write_agent
from tests.kit.daemons import Daemon, make_home

PATH = "/api/workspaces"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("workspaces")
    (folder / "taken").mkdir()
    (folder / "free").mkdir()
    (folder / "file").write_text("no folder")
    broken = folder / "broken" / ".compozy"
    broken.mkdir(parents=True)
    (broken / "config.toml").write_text("[defaults\n")
    daemon = Daemon(make_home(folder / "home")).start()
    with daemon.client() as client:
        client.request("POST", PATH, body={"root_dir": str(folder / "taken")})
    yield daemon
    daemon.end()


def rows(client: DaemonClient) -> list[dict[str, object]]:
    answer = client.request("GET", PATH).json()
    assert isinstance(answer, dict)
    return [dict(row) for row in answer["workspaces"]]


def refused(client: DaemonClient, method: str, path: str, **more: object) -> tuple[int, object]:
    with pytest.raises(ApiError) as caught:
        client.request(method, path, **more)  # type: ignore[arg-type]
    return caught.value.status, caught.value.envelope


def bad_calls(folder: Path) -> list[tuple[str, str, object, int]]:
    free, taken = str(folder / "free"), "taken"
    return [
        ("POST", "", {}, 400),
        ("POST", "", {"root_dir": 1}, 400),
        ("POST", "", {"root_dir": None}, 400),
        ("POST", "", {"root_dir": "free"}, 400),
        ("POST", "", {"root_dir": ""}, 400),
        ("POST", "", {"root_dir": free + "\0"}, 400),
        ("POST", "", {"root_dir": str(folder / "missing")}, 400),
        ("POST", "", {"root_dir": str(folder / "file")}, 400),
        ("POST", "", {"root_dir": str(folder / "broken")}, 400),
        ("POST", "", {"root_dir": str(folder / "taken")}, 409),
        ("POST", "", {"root_dir": free, "name": "taken"}, 409),
        ("POST", "", {"root_dir": free, "name": "a/b"}, 400),
        ("POST", "", {"root_dir": free, "name": 5}, 400),
        ("POST", "", {"root_dir": free, "add_dirs": "x"}, 400),
        ("POST", "", {"root_dir": free, "add_dirs": ["relative"]}, 400),
        ("POST", "", {"root_dir": free, "add_dirs": [str(folder / "missing")]}, 400),
        ("POST", "", {"root_dir": free, "colour": "blue"}, 400),
        ("POST", "?colour=blue", {"root_dir": free}, 400),
        ("POST", "/resolve", {}, 400),
        ("POST", "/resolve", {"path": "relative"}, 400),
        ("POST", "/resolve", {"path": str(folder / "missing")}, 400),
        ("POST", "/resolve", {"path": free, "more": 1}, 400),
        ("PATCH", f"/{taken}", {"name": ""}, 400),
        ("PATCH", f"/{taken}", {"name": "ws_x"}, 400),
        ("PATCH", f"/{taken}", {"root_dir": free}, 400),
        ("PATCH", f"/{taken}", {"add_dirs": [free, "x"]}, 400),
        ("PATCH", "/unknown", {"name": "x"}, 404),
        ("GET", "/unknown", None, 404),
        ("GET", "/..%2f..%2fetc", None, 404),
        ("GET", "/%00", None, 404),
        ("DELETE", "/unknown", None, 404),
        ("DELETE", f"/{taken}?force=true", None, 400),
        ("PUT", f"/{taken}", {}, 405),
    ]


def test_bad_input_is_refused_alike_on_both_transports_and_changes_nothing(daemon: Daemon) -> None:
    folder = daemon.home.root.parent
    with daemon.client() as unix, daemon.tcp_client() as tcp:
        before = rows(unix)
        for method, path, body, status in bad_calls(folder):
            more = {} if body is None else {"body": body}
            answers = [refused(client, method, PATH + path, **more) for client in (unix, tcp)]
            assert answers[0] == answers[1], (method, path, body)
            assert answers[0][0] == status, (method, path, body, answers[0])
        huge = {"root_dir": str(folder / "free"), "name": "x" * (5 * 1024 * 1024)}
        for client in (unix, tcp):
            assert refused(client, "POST", PATH, body=huge)[0] == 413
        assert rows(unix) == before
    assert list((folder / "free").iterdir()) == []


def test_null_leaves_a_value_and_a_clash_of_names_is_counted(daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "more").mkdir()
    with daemon.client() as client:
        body = {"root_dir": str(tmp_path / "taken"), "add_dirs": [str(tmp_path / "more")], "default_agent": "ann"}
        made = client.request("POST", PATH, body=body).json()
        assert isinstance(made, dict) and made["workspace"]["name"] == "taken-2"
        identity = made["workspace"]["id"]
        changes = {"name": None, "add_dirs": None, "default_agent": "bob", "sandbox_ref": None}
        changed = client.request("PATCH", f"{PATH}/{identity}", body=changes).json()
        assert isinstance(changed, dict)
        row = changed["workspace"]
        assert (row["name"], row["add_dirs"], row["default_agent"]) == ("taken-2", [str(tmp_path / "more")], "bob")
        assert client.request("DELETE", f"{PATH}/{identity}").status == 204


def test_a_detail_holds_agents_sessions_skills_and_providers(daemon: Daemon, tmp_path: Path) -> None:
    write_agent(tmp_path / ".compozy" / "agents", "ann")
    skill = tmp_path / ".compozy" / "skills" / "tides"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tides\ndescription: Reads tide tables.\n---\nRead them.\n")
    with daemon.client() as client:
        client.request("POST", PATH, body={"root_dir": str(tmp_path), "name": "detail"})
        made = client.request("POST", "/api/sessions", body={"agent_name": "ann", "workspace": "detail"}).json()
        detail = client.request("GET", f"{PATH}/detail").json()
        assert isinstance(detail, dict) and isinstance(made, dict)
        assert [agent["name"] for agent in detail["agents"]] == ["ann", "general"]
        assert [session["id"] for session in detail["sessions"]] == [made["session"]["id"]]
        assert detail["skills"] == [{"name": "tides", "dir": str(skill), "source": "workspace"}]
        assert "offline" in {provider["name"] for provider in detail["providers"]}
        status, envelope = refused(client, "DELETE", f"{PATH}/detail")
        assert status == 409 and isinstance(envelope, dict) and envelope["code"] == "workspace_has_sessions"
        client.request("POST", f"{PATH}/detail/sessions/{made['session']['id']}/stop")
        assert client.request("DELETE", f"{PATH}/detail").status == 204


def test_a_fresh_install_knows_the_users_home_and_no_project_below_it(daemon: Daemon) -> None:
    home = str(daemon.home.root.parent)
    with daemon.client() as client:
        assert home in {row["root_dir"] for row in rows(client)}
        status, _ = refused(client, "GET", "/api/agents/catalog", query={"workspace": home + "/free"})
        assert status == 404
