"""`compozy retention`: what it shows, that it asks before it removes, and what a script gets."""

from tests.kit.cli import Cli, sequence, steps


def test_retention_shows_limits_asks_and_removes(cli: Cli) -> None:
    for text in ("one", "two", "three"):
        assert cli("run", steps({"text": text})).code == 0
    shown = cli("retention", "show")
    assert shown.code == 0 and "no limit" in shown.out and "3" in shown.out
    assert "nothing is beyond the limits" in (nothing := cli("retention", "run")).out + nothing.err

    dry = cli("retention", "run", "--max-sessions", "1", "--dry-run")
    assert dry.code == 0 and "would be removed: 2 sessions" in dry.err and "too many" in dry.out
    refused = cli("retention", "run", "--max-sessions", "1")
    assert refused.code == 2 and "--yes" in refused.err
    assert len(sequence(cli("session", "list", "--all", "-o", "json").object()["sessions"])) == 3

    with cli.terminal("retention", "run", "--max-sessions", "1") as terminal:
        terminal.wait_for("Remove 2 sessions")
        terminal.type("y\n")
        assert terminal.process.wait(60) == 0
    assert len(sequence(cli("session", "list", "--all", "-o", "json").object()["sessions"])) == 1
    health = cli("status", "-o", "json").object()["health"]
    assert isinstance(health, dict) and health["retention"]["last_sweep_status"] == "ok"
    report = cli("retention", "run", "--max-sessions", "1", "--yes", "-o", "json").object()
    assert report["sessions"] == 0 and report["removed"] == []


def test_agents_and_wrong_limits_are_refused(cli: Cli) -> None:
    assert cli("daemon", "start").code == 0
    assert cli("retention", "run", env={"COMPOZY_SESSION_ID": "sess-1"}).code == 77
    assert cli("retention", "run", "--max-age", "soon").code != 0
    assert cli("retention", "run", "--max-sessions", "0").code == 2
