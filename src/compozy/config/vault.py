"""The vault: secrets at rest, each sealed on its own with AES-256-GCM (contract §1.1, §1.2; issue 5 item 3).

Names and times are readable without the key, values never are; a value is bound to its name, so that nobody can swap
two. The key is `COMPOZY_VAULT_KEY`, else `vault.key` in the home (0600, made on first use). Every change is made
under a lock across processes and leaves the old file or the new one. Knows nothing of who uses a secret.
"""

import base64
import binascii
import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from compozy.config.errors import VaultError
from compozy.config.home import Home
from compozy.config.locking import locked
from compozy.documents.atomic import write_atomically
from compozy.model import times
from compozy.model.record import Record

SCHEMA = "compozy.vault.v1"
KEY_VARIABLE = "COMPOZY_VAULT_KEY"
# A path of words, as references write it: providers/openrouter/api_key, mcp/tracker/token.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_MAX_NAME = 200
# Keys and certificates fit; a file given by mistake does not.
MAX_VALUE_BYTES = 64 * 1024
_MAX_FILE_BYTES = 16 << 20
_KEY_BYTES = 32
_NONCE_BYTES = 12
_NEW_KEY = "python3 -c 'import os, base64; print(base64.b64encode(os.urandom(32)).decode())'"


class Sealed(Record, frozen=True, kw_only=True):
    """One secret at rest."""

    nonce: str
    sealed: str
    updated_at: str


class _File(Record, frozen=True, kw_only=True):
    """The file: `key_check` tells a wrong key from a damaged value; it says nothing about the key."""

    schema: str
    key_check: str
    entries: dict[str, Sealed] = {}


class VaultEntry(Record, frozen=True, kw_only=True):
    """What may be shown of a secret."""

    name: str
    reference: str
    updated_at: str


class Vault:
    """The secrets of one home."""

    def __init__(self, home: Home, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self.path = home.root / "vault.json"
        self.key_path = home.root / "vault.key"
        self._lock_path = home.root / "vault.lock"

    def entries(self) -> tuple[VaultEntry, ...]:
        """Return names and times, by name. Needs no key.

        Raises:
            VaultError: the file cannot be read or is damaged.
        """
        stored = self._read()
        rows = sorted(stored.entries.items()) if stored else []
        return tuple(VaultEntry(name=n, reference=f"vault:{n}", updated_at=row.updated_at) for n, row in rows)

    def has(self, name: str) -> bool:
        """Whether a secret of this name is kept; its value may still be unreadable."""
        stored = self._read()
        return stored is not None and name in stored.entries

    def get(self, name: str) -> str | None:
        """Return a secret, None when there is none of this name.

        Raises:
            VaultError: the key is missing or wrong, or the file is damaged.
        """
        stored = self._read()
        row = stored.entries.get(name) if stored else None
        if stored is None or row is None:
            return None
        key = self._key()
        self._check_key(stored, key)
        return self._open(key, name, row)

    def check(self) -> int:
        """Open every secret and forget it again; return how many there are.

        Raises:
            VaultError: as for `get`; the first that cannot be opened.
        """
        stored = self._read()
        if stored is None or not stored.entries:
            return 0
        key = self._key()
        self._check_key(stored, key)
        for name, row in stored.entries.items():
            self._open(key, name, row)
        return len(stored.entries)

    def set(self, name: str, value: str) -> bool:
        """Keep a secret; return whether it replaced an older one.

        Raises:
            VaultError: the name or the value cannot be kept, the key does not fit, or nothing can be written.
        """
        check_name(name)
        if not value:
            raise VaultError(f"the value of {name!r} is empty: give the secret on standard input")
        if len(value.encode("utf-8", "surrogatepass")) > MAX_VALUE_BYTES:
            raise VaultError(
                f"the value of {name!r} is over {MAX_VALUE_BYTES} bytes: a vault keeps secrets, not files"
            )
        with self._locked():
            stored = self._read()
            key = self._key(create=stored is None or not stored.entries)
            if stored is None or not stored.entries:
                stored = _File(schema=SCHEMA, key_check=_key_check(key))
            self._check_key(stored, key)
            row = _seal(key, name, value)
            replaced = name in stored.entries
            self._write(msgspec.structs.replace(stored, entries={**stored.entries, name: row}))
            return replaced

    def delete(self, name: str) -> bool:
        """Forget a secret; return whether there was one. Needs no key.

        Raises:
            VaultError: the file is damaged or cannot be written.
        """
        with self._locked():
            stored = self._read()
            if stored is None or name not in stored.entries:
                return False
            entries = {key: row for key, row in stored.entries.items() if key != name}
            self._write(msgspec.structs.replace(stored, entries=entries))
            return True

    # --- file

    def _read(self) -> _File | None:
        try:
            with self.path.open("rb") as handle:
                data = handle.read(_MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise VaultError(f"cannot read {str(self.path)!r}: {error.strerror}; check its owner and mode") from error
        try:
            stored = msgspec.json.decode(data, type=_File)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._damaged(str(error)) from error
        if stored.schema != SCHEMA:
            raise VaultError(
                f"{str(self.path)!r} is of schema {stored.schema!r}, which this version does not know: use the "
                "version that wrote it, or move the file away and set the secrets again"
            )
        return stored

    def _damaged(self, why: str) -> VaultError:
        return VaultError(
            f"{str(self.path)!r} is damaged ({why}): restore it from a backup, or move it away and set each secret "
            "again with `compozy vault set NAME`",
            code="vault_damaged",
        )

    def _write(self, stored: _File) -> None:
        data = msgspec.json.format(msgspec.json.encode(stored), indent=1)
        try:
            write_atomically(self.path, data + b"\n")
        except OSError as error:
            raise VaultError(f"cannot write {str(self.path)!r}: {error.strerror}; check the folder") from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep read and write of one change together, across processes; a killed holder leaves no lock behind."""
        try:
            with locked(self._lock_path):
                yield
        except TimeoutError as error:
            raise VaultError(str(error)) from error
        except OSError as error:
            raise VaultError(f"cannot lock {str(self._lock_path)!r}: {error.strerror}; check the folder") from error

    # --- key

    def _key(self, *, create: bool = False) -> bytes:
        given = self._environ.get(KEY_VARIABLE, "").strip()
        if given:
            return _decode_key(given, KEY_VARIABLE, f"make one with: {_NEW_KEY}")
        return self._key_of_file(create=create)

    def _key_of_file(self, *, create: bool) -> bytes:
        try:
            handle = os.open(self.key_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            if create:
                return self._new_key()
            raise VaultError(
                f"the key of the vault is missing: {str(self.key_path)!r} does not exist and {KEY_VARIABLE} is not "
                f"set; restore the file, or move {str(self.path)!r} away and set each secret again",
                code="vault_key_missing",
            ) from None
        except OSError as error:
            raise VaultError(f"cannot read {str(self.key_path)!r}: {error.strerror}; check its owner") from error
        with os.fdopen(handle, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            if mode & 0o077:
                raise VaultError(
                    f"{str(self.key_path)!r} can be read by others (mode {mode:o}); run: chmod 600 {self.key_path}",
                    code="vault_key_open",
                )
            text = file.read(1024).decode("ascii", "replace").strip()
        return _decode_key(text, repr(str(self.key_path)), "restore the file from a backup")

    def _new_key(self) -> bytes:
        key = os.urandom(_KEY_BYTES)
        try:
            write_atomically(self.key_path, base64.b64encode(key) + b"\n", mode=0o600, exclusive=True)
        except OSError as error:
            raise VaultError(f"cannot write {str(self.key_path)!r}: {error.strerror}; check the folder") from error
        return key

    def _check_key(self, stored: _File, key: bytes) -> None:
        if stored.key_check != _key_check(key):
            source = KEY_VARIABLE if self._environ.get(KEY_VARIABLE, "").strip() else repr(str(self.key_path))
            raise VaultError(
                f"the key in {source} is not the one that sealed {str(self.path)!r}: give the key it was made with, "
                "or move the file away and set each secret again",
                code="vault_key_wrong",
            )

    def _open(self, key: bytes, name: str, row: Sealed) -> str:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - start-up cost
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - start-up cost

        try:
            plain = AESGCM(key).decrypt(base64.b64decode(row.nonce), base64.b64decode(row.sealed), name.encode())
        except (InvalidTag, ValueError, binascii.Error) as error:
            raise self._damaged(f"the value of {name!r} cannot be opened") from error
        return plain.decode("utf-8", "surrogatepass")


def check_name(name: str) -> None:
    """Refuse a name that a reference could not spell.

    Raises:
        VaultError: with the form of a name.
    """
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        raise VaultError(
            f"{name!r} is no name of a secret: write words of letters, digits, '.', '_' and '-' joined by '/', for "
            "example providers/openrouter/api_key"
        )


def _seal(key: bytes, name: str, value: str) -> Sealed:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - start-up cost

    nonce = os.urandom(_NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, value.encode("utf-8", "surrogatepass"), name.encode())
    return Sealed(nonce=_text(nonce), sealed=_text(sealed), updated_at=times.now())


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _key_check(key: bytes) -> str:
    return hashlib.sha256(b"compozy vault key check\0" + key).hexdigest()[:16]


def _decode_key(text: str, source: str, remedy: str) -> bytes:
    decoders: tuple[Callable[[str], bytes], ...] = (bytes.fromhex, lambda t: base64.b64decode(t, validate=True))
    for decode in decoders:
        try:
            key = decode(text)
        except (ValueError, binascii.Error):
            continue
        if len(key) == _KEY_BYTES:
            return key
    raise VaultError(
        f"{source} is no vault key: it must hold 32 bytes as base64 or hexadecimal; {remedy}",
        code="vault_key_invalid",
    )
