"""What the doctor finds without a daemon, and that a support bundle tells no secrets (contract §3.6; P39)."""

import json
import os
import stat
from pathlib import Path

import pytest

from compozy.config.bundle import write_bundle
from compozy.config.doctor import check_home
from compozy.config.findings import finding, report
from compozy.config.home import Home
from compozy.config.install import create_home, prepare_home
from tests.kit.unprivileged import shared_folder, unprivileged


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    prepare_home(home, {"PATH": "/nonexistent"})
    return home


def codes(home: Home) -> dict[str, str]:
    return {item.code: item.severity for item in check_home(home)}


def test_a_fresh_home_has_nothing_to_mend(home: Home) -> None:
    assert set(codes(home).values()) <= {"ok", "info"}


def test_a_missing_home_is_no_error(tmp_path: Path) -> None:
    found = codes(Home(tmp_path / "none"))
    assert found["home_missing"] == "info"
    assert "error" not in found.values()


def test_a_home_others_can_read_is_a_warning_with_the_command_that_mends_it(home: Home) -> None:
    home.root.chmod(0o755)
    (item,) = [item for item in check_home(home) if item.code == "home_open"]
    assert (item.severity, item.suggested_command) == ("warn", f"chmod 700 {home.root}")


def test_a_home_that_cannot_be_written_is_an_error_with_the_command_that_mends_it() -> None:
    with shared_folder() as folder:
        home = Home(folder / "home")
        prepare_home(home, {"PATH": "/nonexistent"})
        home.root.chmod(0o500)
        if os.geteuid() == 0:
            os.chown(home.root, 65534, 65534)
        with unprivileged():
            (item,) = [item for item in check_home(home) if item.code == "home_not_writable"]
    assert (item.severity, item.suggested_command) == ("error", f"chmod u+rwx {home.root}")


def test_a_broken_configuration_is_an_error_with_its_line(home: Home) -> None:
    home.config_file.write_text("[htpt]\n")
    (item,) = [item for item in check_home(home) if item.code == "config_invalid"]
    assert item.severity == "error" and "config.toml:1" in item.message


@pytest.mark.parametrize(
    ("text", "code", "severity"),
    [
        ('defaults.provider = "nobody"\n', "default_unknown", "error"),
        ('defaults.provider = ""\n', "default_missing", "warn"),
        ('defaults.provider = "x"\nproviders.x.command = "absent-program"\n', "provider_cli_missing", "error"),
        ('trust.mode = "off"\n', "trust_off", "warn"),
        ("[network]\n", "config_note", "info"),
    ],
)
def test_settings_that_will_not_work_are_found(home: Home, text: str, code: str, severity: str) -> None:
    home.config_file.write_text(text)
    assert codes(home)[code] == severity


def test_a_report_is_filtered_and_its_status_is_the_worst_severity() -> None:
    items = [
        finding("a", "one", "ok", "fine"),
        finding("a", "two", "warn", "hm"),
        finding("b", "three", "error", "bad"),
    ]
    assert report(items, 1).status == "error"
    assert [item.id for item in report(items, 1, only="a").items] == ["a.one", "a.two"]
    assert [item.id for item in report(items, 1, exclude="b, a.one").items] == ["a.two"]
    quiet = report(items, 1, quiet=True, exclude="b")
    assert [item.id for item in quiet.items] == ["a.two"]
    assert quiet.summary.counts_by_severity == {"ok": 1, "warn": 1}
    assert report([], 0).status == "ok"


def test_a_support_bundle_is_private_and_tells_no_secrets(home: Home) -> None:
    home.config_file.write_text(
        '[providers.x]\ncommand = "run --api-key sekret-1"\nbase_url = "https://u:sekret-2@h/"\n'
    )
    home.log_file.write_text('{"message": "Authorization: Bearer sekret-3"}\n{"message": "fine"}\n')
    (home.agents / "general" / "AGENT.md").write_text("a prompt nobody should read sekret-4")
    path = write_bundle(home, report={"token": "sekret-5"}, status={"daemon": {"pid": 1}})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert "sekret" not in text
    content = json.loads(text)
    assert content["status"] == {"daemon": {"pid": 1}}
    assert content["log"][1] == '{"message": "fine"}'
    assert content["versions"]["compozy"] and content["versions"]["python"]
    assert any(entry["path"] == "agents/general/AGENT.md" for entry in content["home"])


def test_only_the_end_of_a_long_log_is_taken_and_never_half_a_line(home: Home) -> None:
    create_home(home)
    line = '{"message": "password=sekret ' + "x" * 200 + '"}\n'
    home.log_file.write_text(line * 3000)
    content = json.loads(write_bundle(home).read_text())
    assert len(json.dumps(content["log"])) < 300_000
    assert all(entry.startswith('{"message"') for entry in content["log"])


def test_each_provider_that_is_set_up_is_told_what_it_lacks_and_the_command_that_mends_it(home: Home) -> None:
    home.config_file.write_text(
        '[defaults]\nprovider = "openai-compatible"\n'
        '[providers.mine]\ncommand = "/no/such/agent"\n'
        '[providers.ollama]\nruntime_provider = "openai-compatible"\n'
    )
    found = {item.id: item for item in check_home(home)}
    default = found["provider.default_program_missing"]
    assert default.severity == "error" and default.suggested_command == "compozy provider install openai-compatible"
    assert "install /no/such/agent" in found["provider.not_ready_mine"].message
    assert found["provider.not_ready_ollama"].suggested_command == "compozy provider install openai-compatible"
    evidence = found["provider.installed"].evidence
    assert evidence is not None
    needs = evidence["needs"]
    assert (
        isinstance(needs, dict)
        and "offline" not in needs
        and needs["mine"] == ("install /no/such/agent and put it on PATH")
    )


def test_a_provider_whose_command_says_a_secret_is_named_and_the_secret_is_not(home: Home) -> None:
    home.config_file.write_text(
        '[providers.mine]\ncommand = "agent --api-key tok_7f3a9-x"\nauth_status_command = "agent TOKEN=tok_7f3a9-y"\n'
        '[providers.other]\ncommand = "agent --token-file /run/key"\n'
    )
    found = {item.id: item for item in check_home(home)}
    told = found["provider.secret_in_command_mine"]
    assert told.severity == "warn" and "command and auth_status_command of provider 'mine'" in told.message
    assert "tok_7f3a9" not in repr(found) and "provider.secret_in_command_other" not in found
