"""`compozy backup` and `compozy restore` while the daemon runs, on a terminal, in a script, and where they refuse."""

from pathlib import Path

import compozy
from compozy.client import ApiError, connect
from tests.kit.cli import Cli, sequence, steps, write_agent


def _answers(cli: Cli) -> list[str]:
    rows = sequence(cli("session", "list", "--all", "-o", "json").object()["sessions"])
    return sorted(str(row["id"]) for row in rows)


def test_a_backup_taken_while_running_brings_back_sessions_settings_and_agents(cli: Cli, tmp_path: Path) -> None:
    write_agent(cli.home.root, "ann", "---\nname: ann\n---\nHello.\n")
    assert cli("run", steps({"text": "one"})).code == 0
    before = _answers(cli)
    made = cli("backup", str(tmp_path / "b"), "-o", "json").object()
    assert made["sessions"] == 1 and Path(str(made["path"])).exists()
    assert cli("run", steps({"text": "two"})).code == 0
    (cli.home.agents / "ann" / "AGENT.md").unlink()
    assert len(_answers(cli)) == 2

    asked = cli("restore", str(tmp_path / "b"))
    assert asked.code == 2 and "--yes" in asked.err and len(_answers(cli)) == 2
    dry = cli("restore", str(tmp_path / "b"), "--dry-run", "-o", "json").object()
    assert "compozy.db" in sequence_of(dry["replaces"]) and len(_answers(cli)) == 2

    done = cli("restore", str(tmp_path / "b"), "--yes")
    assert done.code == 0 and "1 session" in done.err and "started again" in done.out
    assert _answers(cli) == before
    assert (cli.home.agents / "ann" / "AGENT.md").exists()
    assert cli("session", "events", before[0]).code == 0
    assert cli("run", steps({"text": "three"})).code == 0 and len(_answers(cli)) == 2


def sequence_of(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_a_restore_asks_on_a_terminal_and_no_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", steps({"text": "one"})).code == 0
    assert cli("daemon", "stop").code == 0
    assert cli("backup", str(tmp_path / "b")).code == 0
    with cli.terminal("restore", str(tmp_path / "b")) as terminal:
        terminal.wait_for("it replaces: compozy.db")
        terminal.wait_for("Restore it?")
        terminal.type("n\n")
        assert terminal.process.wait(30) == 130
    assert not (cli.home.root / "replaced").exists() and not (cli.home.root / "restore").exists()
    assert cli("restore", str(tmp_path / "b"), "--yes", "-o", "json").object()["daemon"] == "not running"


def test_two_restores_of_one_home_never_meet(cli: Cli, tmp_path: Path) -> None:
    write_agent(cli.home.root, "ann", "---\nname: ann\n---\nHello.\n")
    assert cli("run", steps({"text": "one"})).code == 0
    assert cli("daemon", "stop").code == 0
    assert cli("backup", str(tmp_path / "b")).code == 0
    with cli.terminal("restore", str(tmp_path / "b")) as terminal:
        terminal.wait_for("Restore it?")
        for options in (["--dry-run"], ["--yes"]):
            second = cli("restore", str(tmp_path / "b"), *options)
            assert second.code != 0 and "another restore" in second.err
        terminal.type("y\n")
        assert terminal.process.wait(30) == 0
    assert (cli.home.agents / "ann" / "AGENT.md").exists() and cli.home.database.exists()
    assert cli("restore", str(tmp_path / "b"), "--yes").code == 0


def test_a_damaged_store_is_replaced_by_a_backup(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", steps({"text": "one"})).code == 0
    assert cli("backup", str(tmp_path / "b")).code == 0
    assert cli("daemon", "stop").code == 0
    cli.home.database.write_bytes(b"no database at all, but longer than a header" * 10)
    assert cli("daemon", "start").code != 0
    restored = cli("restore", str(tmp_path / "b"), "--yes")
    assert restored.code == 0 and "a store that cannot be read" in restored.err
    assert cli("daemon", "start").code == 0 and len(_answers(cli)) == 1


def test_what_cannot_be_used_is_refused_in_one_sentence(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    missing = cli("restore", str(tmp_path / "none"), "--yes")
    assert missing.code != 0 and "does not exist" in missing.err
    assert "cannot be used" in cli("restore", str(tmp_path / "text"), "--yes").err
    nothing = cli("backup", str(tmp_path / "b"))
    assert nothing.code != 0 and "nothing to back up" in nothing.err and not (tmp_path / "b").exists()
    agent = cli("backup", str(tmp_path / "b"), env={"COMPOZY_SESSION_ID": "sess-1"})
    assert agent.code == 77


def test_a_backup_can_be_asked_for_over_http_but_not_by_an_agent(cli: Cli, tmp_path: Path) -> None:
    assert cli("daemon", "start").code == 0
    client = connect(cli.home)
    body = {"path": str(tmp_path / "b")}
    answer = client.request("POST", "/api/backups", body=body)
    assert answer.status == 201 and (tmp_path / "b").exists()
    for headers, status in (({}, 409), ({"x-compozy-session-id": "sess-1"}, 403)):
        try:
            client.request("POST", "/api/backups", body=body, headers=headers)
        except ApiError as error:
            assert error.status == status
        else:
            raise AssertionError("it was made twice")
    client.close()
    with compozy.Client(cli.home.root) as typed:
        report = typed.daemon.backup(str(tmp_path / "c"), with_secrets=True)
    assert report.bytes == (tmp_path / "c").stat().st_size and "vault.key" in report.parts
