"""The fleet catalog of a running daemon: both transports, bad input, a damaged and a locked store, live edits."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError, DaemonClient
from tests.kit.agent_files import write_agent
from tests.kit.daemons import Daemon, make_home, wait_until

CATALOG = "/api/agents/catalog"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("fleet")
    made = make_daemon(folder)
    yield made
    made.end()


def make_daemon(folder: Path) -> Daemon:
    """A daemon with a registered workspace `shop` of four agents."""
    daemon = Daemon(make_home(folder / "home")).start()
    agents = folder / "shop" / ".compozy" / "agents"
    for name in ("ann", "bob", "cid", "dan"):
        write_agent(agents, name, extra="category_path: [team]\n")
    with daemon.client() as client:
        client.request("POST", "/api/workspaces", body={"root_dir": str(folder / "shop")})
    return daemon


def shop(daemon: Daemon) -> Path:
    return daemon.home.root.parent / "shop"


def page(client: DaemonClient, **query: object) -> dict[str, object]:
    answer = client.request("GET", CATALOG, query={"workspace": "shop", **query}).json()  # type: ignore[dict-item]
    assert isinstance(answer, dict)
    return answer


def names(answer: dict[str, object]) -> list[str]:
    rows = answer["agents"]
    assert isinstance(rows, list)
    return [row["agent"]["name"] for row in rows]


def refusal(client: DaemonClient, path: str, query: dict[str, str]) -> tuple[int, object]:
    with pytest.raises(ApiError) as caught:
        client.request("GET", path, query=query)
    return caught.value.status, caught.value.envelope


def test_both_transports_give_the_same_page(daemon: Daemon) -> None:
    with daemon.client() as unix, daemon.tcp_client() as tcp:
        for query in ({}, {"q": "A"}, {"limit": "2"}, {"status": "idle"}, {"name": "bob"}, {"category": "team"}):
            assert page(unix, **query) == page(tcp, **query)
        first = page(unix, limit="2", q="team")
        assert names(first) == ["ann", "bob"]
        meta = first["page"]
        assert isinstance(meta, dict) and meta["total"] == 4 and meta["has_more"]
        assert names(page(tcp, limit="2", q="team", cursor=meta["next_cursor"])) == ["cid", "dan"]


@pytest.mark.parametrize("reference", ["name", "id", "root", "below", "link"])
def test_the_workspace_may_be_an_id_a_name_or_a_path(daemon: Daemon, reference: str) -> None:
    root = shop(daemon)
    (root / "deep" / "er").mkdir(parents=True, exist_ok=True)
    link = root.parent / "link"
    if not link.is_symlink():
        link.symlink_to(root)
    with daemon.client() as client:
        rows = client.request("GET", "/api/workspaces").json()
        assert isinstance(rows, dict)
        (row,) = [row for row in rows["workspaces"] if row["name"] == "shop"]
        text = {
            "name": "shop",
            "id": row["id"],
            "root": str(root),
            "below": str(root / "deep" / "er"),
            "link": str(link / "deep"),
        }[reference]
        answer = client.request("GET", CATALOG, query={"workspace": text}).json()
        assert isinstance(answer, dict) and names(answer)[0] == "ann"


BAD_QUERIES = [
    ({}, 400, "workspace"),
    ({"workspace": ""}, 400, "workspace"),
    ({"workspace": "  "}, 400, "workspace"),
    ({"workspace": "unknown"}, 404, ""),
    ({"workspace": "ws_0000000000000000"}, 404, ""),
    ({"workspace": "../shop"}, 404, ""),
    ({"workspace": "/"}, 404, ""),
    ({"workspace": "/\0"}, 404, ""),
    ({"workspace": "shop", "limit": "0"}, 400, "limit"),
    ({"workspace": "shop", "limit": "-1"}, 400, "limit"),
    ({"workspace": "shop", "limit": "101"}, 400, "limit"),
    ({"workspace": "shop", "limit": "1000000000"}, 400, "limit"),
    ({"workspace": "shop", "limit": "9" * 400}, 400, "limit"),
    ({"workspace": "shop", "limit": "ten"}, 400, "limit"),
    ({"workspace": "shop", "limit": "1.5"}, 400, "limit"),
    ({"workspace": "shop", "limit": "²"}, 400, "limit"),
    ({"workspace": "shop", "status": "busy"}, 400, "status"),
    ({"workspace": "shop", "status": "ACTIVE"}, 400, "status"),
    ({"workspace": "shop", "q": "x" * 2000}, 400, "q"),
    ({"workspace": "shop", "name": "x" * 2000}, 400, "name"),
    ({"workspace": "shop", "category": "x" * 2000}, 400, "category"),
    ({"workspace": "shop", "cursor": "abc"}, 400, "cursor"),
    ({"workspace": "shop", "cursor": "%00"}, 400, "cursor"),
    ({"workspace": "shop", "cursor": "é"}, 400, "cursor"),
    ({"workspace": "shop", "cursor": "A" * 5000}, 400, "cursor"),
    ({"workspace": "shop", "cursor": "e30"}, 400, "cursor"),
]


def test_every_bad_parameter_is_refused_alike_on_both_transports(daemon: Daemon) -> None:
    """Reports P61: status, code and the parameter's name."""
    before = sorted(str(path) for path in shop(daemon).rglob("*"))
    with daemon.client() as unix, daemon.tcp_client() as tcp:
        for query, status, parameter in BAD_QUERIES:
            answers = [refusal(client, CATALOG, query) for client in (unix, tcp)]
            assert answers[0] == answers[1], query
            assert answers[0][0] == status, (query, answers)
            envelope = answers[0][1]
            assert isinstance(envelope, dict) and envelope["code"], query
            if parameter:
                assert envelope["details"] == {"parameter": parameter}, query
                assert repr(parameter) in str(envelope["error"]), query
        cursor = page(unix, limit="2")["page"]
        assert isinstance(cursor, dict)
        text = str(cursor["next_cursor"])
        for query in ({"cursor": text[: len(text) // 2]}, {"cursor": text, "q": "a"}, {"cursor": text + "A"}):
            status, _ = refusal(unix, CATALOG, {"workspace": "shop", **query})
            assert status == 400, query
    assert sorted(str(path) for path in shop(daemon).rglob("*")) == before


def test_a_read_ignores_unknown_parameters_and_takes_the_first_of_repeated_ones(daemon: Daemon) -> None:
    with daemon.client() as client:
        answer = client.request("GET", f"{CATALOG}?workspace=shop&limit=1&limit=ten&colour=blue").json()
        assert isinstance(answer, dict) and names(answer) == ["ann"]


def test_an_edit_is_in_the_next_answer_also_by_rename_and_in_a_renamed_folder(daemon: Daemon) -> None:
    """Reports P27: never an old digest after the write, never half a file."""
    file = shop(daemon) / ".compozy" / "agents" / "ann" / "AGENT.md"
    text = file.read_text()
    seen = set()
    with daemon.client() as client:
        for number in range(100):
            draft = file.with_name("AGENT.md.tmp")
            draft.write_text(f"{text}Edit {number}.\n")
            draft.replace(file)
            agent = client.request("GET", "/api/agents/ann", query={"workspace": "shop"}).json()
            assert isinstance(agent, dict)
            assert agent["agent"]["prompt"].endswith(f"Edit {number}."), number
            seen.add(agent["agent"]["definition_digest"])
        assert len(seen) == 100
        file.write_text(text)
        moved = file.parent.rename(file.parent.with_name("zoe"))
        (moved / "AGENT.md").write_text(text.replace("name: ann", "name: zoe"))
        assert names(page(client)) == ["bob", "cid", "dan", "general", "zoe"]
        (moved / "AGENT.md").write_text(text)
        moved.rename(file.parent)
        assert names(page(client)) == ["ann", "bob", "cid", "dan", "general"]


def test_a_workspace_whose_root_is_gone_is_said_to_be_gone(daemon: Daemon, tmp_path: Path) -> None:
    root = tmp_path / "gone"
    root.mkdir()
    with daemon.client() as client:
        client.request("POST", "/api/workspaces", body={"root_dir": str(root), "name": "gone"})
        shutil.rmtree(root)
        for path in (CATALOG, "/api/agents", "/api/agents/general", "/api/workspaces/gone"):
            status, envelope = refusal(client, path, {"workspace": "gone"})
            assert status == 410, path
            assert isinstance(envelope, dict) and envelope["code"] == "workspace_root_missing"
        client.request("DELETE", "/api/workspaces/gone")


def test_with_a_damaged_store_the_definitions_still_come(tmp_path: Path) -> None:
    daemon = make_daemon(tmp_path)
    try:
        # No reader has looked at the file yet: what it reads is what lies there now.
        for path in (daemon.home.database, Path(f"{daemon.home.database}-wal")):
            path.write_bytes(b"this is no database any more " * 400)
        with daemon.client() as client:
            answer = page(client, status="active")
            assert answer["sessions_available"] is False
            assert names(answer) == ["ann", "bob", "cid", "dan", "general"]
            rows = answer["agents"]
            assert isinstance(rows, list) and all("sessions" not in row for row in rows)
    finally:
        daemon.end()


LOCKER = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 8, 120)
print("locked", flush=True)
sys.stdin.read()
"""


def test_with_a_locked_store_the_definitions_come_soon_and_the_sessions_return(tmp_path: Path) -> None:
    daemon = make_daemon(tmp_path)
    # The lock bytes of SQLite's shared memory: nobody can begin to read while another process holds them.
    command = [sys.executable, "-c", LOCKER, f"{daemon.home.database}-shm"]
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as locker:
            assert locker.stdout is not None and locker.stdout.readline() == b"locked\n"
            with daemon.client() as client:
                answer = page(client)
                assert answer["sessions_available"] is False
                assert names(answer) == ["ann", "bob", "cid", "dan", "general"]
            locker.communicate()
        with daemon.client() as client:
            wait_until(lambda: page(client)["sessions_available"], "the store answers again")
    finally:
        daemon.end()
