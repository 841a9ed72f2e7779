"""What lists say of agents where a workspace has settings of its own, and where two folders declare one name (D7)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import DaemonClient
from tests.kit.agent_files import write_agent
from tests.kit.daemons import Daemon, make_home, wait_until

MODEL = "from-the-workspace"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Two workspaces with one agent each that names no provider; `own` has settings, `plain` has none."""
    folder = tmp_path_factory.mktemp("lists")
    made = Daemon(make_home(folder / "home")).start()
    with made.client() as client:
        for name in ("own", "plain"):
            write_agent(folder / name / ".compozy" / "agents", "pilot")
            client.request("POST", "/api/workspaces", body={"root_dir": str(folder / name)})
    settings(made, f'[providers.offline.models]\ndefault = "{MODEL}"\n')
    yield made
    made.end()


def settings(daemon: Daemon, text: str) -> Path:
    path = daemon.home.root.parent / "own" / ".compozy" / "config.toml"
    path.write_text(text)
    return path


def runtimes(client: DaemonClient, workspace: str) -> dict[str, tuple[object, object]]:
    """Return provider and model of the agent as each list and the detail show it."""
    where = {"workspace": workspace}
    listed = client.request("GET", "/api/agents", query=where).json()["agents"]
    paged = client.request("GET", "/api/agents/catalog", query=where).json()["agents"]
    found = {
        "list": next(row for row in listed if row["name"] == "pilot"),
        "catalog": next(row["agent"] for row in paged if row["agent"]["name"] == "pilot"),
        "detail": client.request("GET", "/api/agents/pilot", query=where).json()["agent"],
    }
    return {
        surface: (row["effective_runtime"]["provider"], row["effective_runtime"].get("model", ""))
        for surface, row in found.items()
    }


def test_every_list_shows_an_agent_with_the_settings_of_its_workspace(daemon: Daemon) -> None:
    with daemon.client() as client:
        assert set(runtimes(client, "own").values()) == {("offline", MODEL)}
        assert set(runtimes(client, "plain").values()) == {("offline", "")}


def test_a_change_of_these_settings_shows_and_a_mistake_in_them_empties_no_list(daemon: Daemon) -> None:
    path = settings(daemon, '[defaults]\nprovider = "codex"\n')
    with daemon.client() as client:
        wait_until(
            lambda: {provider for provider, _ in runtimes(client, "own").values()} == {"codex"},
            "the lists follow the workspace's settings",
        )
        path.write_text("[defaults\n")
        wait_until(
            lambda: {provider for provider, _ in runtimes(client, "own").values()} == {"offline"},
            "with a mistake the home's settings are shown",
        )
        path.unlink()
        assert runtimes(client, "own") == runtimes(client, "plain")


def test_the_loser_of_two_folders_with_one_name_is_told_with_the_winner_on_every_list(daemon: Daemon) -> None:
    agents = daemon.home.root.parent / "plain" / ".compozy" / "agents"
    for folder in ("one", "two"):
        write_agent(agents, folder, declared="twin")
    where = {"workspace": "plain"}

    def rows(client: DaemonClient) -> list[dict[str, object]]:
        listed = client.request("GET", "/api/agents", query=where).json()["agents"]
        paged = client.request("GET", "/api/agents/catalog", query=where).json()["agents"]
        return [row for row in (*listed, *(page["agent"] for page in paged)) if row["name"] == "twin"]

    with daemon.client() as client:
        wait_until(lambda: len(rows(client)) == 2, "each list has the name once")
        detail = client.request("GET", "/api/agents/twin", query=where).json()["agent"]
        for row in (*rows(client), detail):
            assert row["path"] == str(agents / "one" / "AGENT.md")
            (warning,) = row["warnings"]
            assert warning["path"] == str(agents / "two" / "AGENT.md")
            assert f"already taken in this folder by {agents / 'one' / 'AGENT.md'}" in warning["message"]
