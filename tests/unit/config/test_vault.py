"""The vault: sealed values, clear refusals, old or new files (contract §1.1, §1.2; issue 5 item 3)."""

import base64
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from compozy.config.errors import VaultError
from compozy.config.home import Home
from compozy.config.vault import Vault

SECRET = "tok-7f3a9-planted"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.root.mkdir(mode=0o700)
    return made


def _vault(home: Home, key: str = "") -> Vault:
    return Vault(home, {"COMPOZY_VAULT_KEY": key} if key else {})


def _key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def test_a_value_comes_back_and_lies_sealed_in_private_files(home: Home) -> None:
    vault = _vault(home)
    assert vault.set("mcp/tracker/token", SECRET) is False
    assert vault.set("mcp/tracker/token", SECRET + "2") is True
    assert _vault(home).get("mcp/tracker/token") == SECRET + "2"
    assert [entry.name for entry in vault.entries()] == ["mcp/tracker/token"]
    for path in (vault.path, vault.key_path):
        assert path.stat().st_mode & 0o777 == 0o600
        assert SECRET.encode() not in path.read_bytes()
        assert base64.b64encode(SECRET.encode())[:12] not in path.read_bytes()
    assert vault.delete("mcp/tracker/token") is True and vault.delete("mcp/tracker/token") is False
    assert vault.get("mcp/tracker/token") is None


def test_a_key_of_the_environment_leaves_no_key_file(home: Home) -> None:
    for key in (_key(), os.urandom(32).hex()):
        vault = _vault(home, key)
        vault.set("a", SECRET)
        assert vault.get("a") == SECRET
        assert not vault.key_path.exists()
        vault.delete("a")


def test_a_wrong_key_says_whose_key_it_is(home: Home) -> None:
    _vault(home, _key()).set("a", SECRET)
    other = _vault(home, _key())
    for call in (lambda: other.get("a"), lambda: other.set("b", "x")):
        with pytest.raises(VaultError, match="COMPOZY_VAULT_KEY is not the one that sealed") as refused:
            call()
        assert refused.value.code == "vault_key_wrong" and str(home.root) in str(refused.value)
    # Names need no key.
    assert [entry.name for entry in other.entries()] == ["a"]


def test_a_missing_key_names_file_and_next_step(home: Home) -> None:
    vault = _vault(home)
    vault.set("a", SECRET)
    vault.key_path.unlink()
    for call in (lambda: vault.get("a"), lambda: vault.set("b", "x")):
        with pytest.raises(VaultError) as refused:
            call()
        assert refused.value.code == "vault_key_missing"
        assert str(vault.key_path) in str(refused.value) and "restore" in str(refused.value)
    assert not vault.key_path.exists(), "a new key would hide the loss of the old one"


@pytest.mark.parametrize("key", ["short", "x" * 64, base64.b64encode(b"16 bytes of key!").decode()])
def test_a_key_that_is_none_is_refused(home: Home, key: str) -> None:
    with pytest.raises(VaultError, match="COMPOZY_VAULT_KEY is no vault key: it must hold 32 bytes"):
        _vault(home, key).set("a", SECRET)


def test_a_key_file_that_others_can_read_is_refused_with_the_command_that_mends_it(home: Home) -> None:
    vault = _vault(home)
    vault.set("a", SECRET)
    vault.key_path.chmod(0o644)
    with pytest.raises(VaultError, match="chmod 600"):
        vault.get("a")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"schema": "compozy.vault.v1"}', b"null"])
def test_a_damaged_file_is_named_and_never_replaced(home: Home, content: bytes) -> None:
    vault = _vault(home)
    vault.set("a", SECRET)
    vault.path.write_bytes(content)
    for call in (vault.entries, lambda: vault.get("a"), lambda: vault.set("b", "x"), lambda: vault.delete("a")):
        with pytest.raises(VaultError, match="is damaged") as refused:
            call()
        assert str(vault.path) in str(refused.value)
    assert vault.path.read_bytes() == content


def test_two_values_cannot_be_swapped_and_a_changed_one_is_noticed(home: Home) -> None:
    vault = _vault(home)
    vault.set("a", SECRET)
    vault.set("b", "another value")
    stored = json.loads(vault.path.read_text())
    entries = stored["entries"]
    entries["a"], entries["b"] = entries["b"], entries["a"]
    vault.path.write_text(json.dumps(stored))
    with pytest.raises(VaultError, match="the value of 'a' cannot be opened"):
        vault.get("a")


def test_a_newer_schema_is_left_alone(home: Home) -> None:
    vault = _vault(home)
    vault.path.write_text('{"schema": "compozy.vault.v9", "key_check": "", "entries": {}}')
    with pytest.raises(VaultError, match=r"compozy[.]vault[.]v9"):
        vault.set("a", SECRET)


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "../a", "a b", ".a", "ä", "x" * 201, "a\n"])
def test_a_name_that_no_reference_can_spell_is_refused(home: Home, name: str) -> None:
    with pytest.raises(VaultError, match="is no name of a secret"):
        _vault(home).set(name, SECRET)


@pytest.mark.parametrize("value", ["", "x" * 65537])
def test_an_empty_or_huge_value_is_refused(home: Home, value: str) -> None:
    with pytest.raises(VaultError, match="the value of 'a' is"):
        _vault(home).set("a", value)


def test_any_text_is_a_value(home: Home) -> None:
    vault = _vault(home)
    for value in ("ключ 🔑", "line\nline", " spaced ", "\udcff"):
        vault.set("a", value)
        assert vault.get("a") == value


def _write_many(root: str, number: int) -> None:
    vault = Vault(Home(Path(root)), {})
    for index in range(10):
        vault.set(f"w{number}/s{index}", f"value-{number}-{index}")


def test_writers_in_several_processes_lose_nothing(home: Home) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(str(home.root), number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    vault = _vault(home)
    assert len(vault.entries()) == 30
    assert vault.get("w2/s9") == "value-2-9"
