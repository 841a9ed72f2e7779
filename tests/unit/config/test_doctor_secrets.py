"""The doctor about vault, trust, a store of another program and a taken port: each with the command that mends it."""

import base64
import os
import shlex
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compozy.config.doctor import check_home
from compozy.config.doctor_alone import findings_without_daemon
from compozy.config.findings import Finding
from compozy.config.home import Home
from compozy.config.install import prepare_home
from compozy.config.trust_grants import TrustGrants
from compozy.config.vault import Vault


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("COMPOZY_VAULT_KEY", raising=False)
    home = Home(tmp_path / "home of ann")
    prepare_home(home, {"PATH": "/nonexistent"})
    return home


def of(home: Home, category: str) -> dict[str, Finding]:
    return {item.code: item for item in check_home(home) if item.category == category}


def mend(item: Finding) -> None:
    """Do what the finding says, as a person would copy it."""
    assert item.suggested_command
    subprocess.run(["sh", "-c", item.suggested_command], check=True, timeout=60)


def _remove_key(home: Home) -> None:
    Vault(home).key_path.unlink()


def _open_key(home: Home) -> None:
    Vault(home).key_path.chmod(0o644)


def _other_key(home: Home) -> None:
    Vault(home).key_path.write_bytes(base64.b64encode(os.urandom(32)))


def _no_key(home: Home) -> None:
    Vault(home).key_path.write_text("not a key")


def _cut(home: Home) -> None:
    path = Vault(home).path
    path.write_bytes(path.read_bytes()[:-20])


def _changed_value(home: Home) -> None:
    path = Vault(home).path
    text = path.read_text()
    at = text.index('"sealed"') + 14
    path.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_remove_key, "vault_key_missing"),
        (_open_key, "vault_key_open"),
        (_other_key, "vault_key_wrong"),
        (_no_key, "vault_key_invalid"),
        (_cut, "vault_damaged"),
        (_changed_value, "vault_damaged"),
    ],
)
def test_a_vault_that_cannot_be_opened_is_an_error_with_the_command_that_mends_it(
    home: Home, damage: Callable[[Home], None], code: str
) -> None:
    Vault(home).set("mcp/tracker/token", "planted-in-the-vault")
    damage(home)
    (item,) = of(home, "vault").values()
    assert (item.code, item.severity) == (code, "error")
    assert str(home.root) in item.message and "planted-in-the-vault" not in item.message
    mend(item)
    assert all(found.severity == "ok" for found in of(home, "vault").values())


def test_a_vault_that_opens_is_fine_and_one_that_others_read_is_a_warning(home: Home) -> None:
    assert of(home, "vault") == {}
    Vault(home).set("a", "one-secret")
    assert of(home, "vault")["vault_opens"].severity == "ok"
    Vault(home).path.chmod(0o644)
    item = of(home, "vault")["vault_open"]
    assert item.severity == "warn"
    mend(item)
    assert set(of(home, "vault")) == {"vault_opens"}


def test_a_damaged_record_of_trust_is_an_error_and_moving_it_away_mends_it(home: Home) -> None:
    TrustGrants(home).path.write_text("{}")
    (item,) = of(home, "trust").values()
    assert (item.code, item.severity) == ("trust_unusable", "error")
    mend(item)
    assert of(home, "trust") == {}


def test_grants_of_files_that_are_gone_are_told(home: Home, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.write_text("x")
    TrustGrants(home).add([(str(here), "1"), (str(tmp_path / "gone"), "2")])
    (item,) = of(home, "trust").values()
    assert item.code == "trusted_files_gone" and item.evidence == {"paths": [str(tmp_path / "gone")]}


def alone(home: Home) -> dict[str, Finding]:
    return {item.code: item for item in findings_without_daemon(home)}


def test_a_store_of_another_program_is_named_and_nothing_appears_beside_it(home: Home) -> None:
    with sqlite3.connect(home.database) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before, files = home.database.read_bytes(), sorted(path.name for path in home.root.iterdir())
    item = alone(home)["store_foreign"]
    assert item.severity == "error" and str(home.database) in item.message
    assert home.database.read_bytes() == before
    assert sorted(path.name for path in home.root.iterdir()) == files
    mend(item)
    assert "store_foreign" not in alone(home)


def test_a_store_that_is_no_database_is_named(home: Home) -> None:
    home.database.write_text("notes")
    item = alone(home)["store_damaged"]
    mend(item)
    assert "store_damaged" not in alone(home)


def test_a_taken_port_is_named_with_one_that_is_free(home: Home) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        port = other.getsockname()[1]
        home.config_file.write_text(f"[http]\nport = {port}\n")
        item = alone(home)["port_taken"]
        assert item.severity == "error" and f":{port} cannot be used" in item.message
        words = shlex.split(item.suggested_command or "")
        assert words[:4] == ["compozy", "config", "set", "http.port"] and int(words[4]) != port
    home.config_file.write_text("[http]\nenabled = false\n")
    assert "port_taken" not in alone(home) and "port_free" not in alone(home)
