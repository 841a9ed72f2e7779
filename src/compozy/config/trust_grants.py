"""What a person trusted: files with the digests they had then, kept in the home (decisions D15; report P42).

A file that changes has another digest and is not trusted. Several digests of one file may be kept, so that switching
branches does not ask again. Written old-or-new under a lock across processes. A damaged file trusts nothing and says
so. What has to be trusted is decided in `runtime/trust.py`.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from compozy.config.errors import TrustError
from compozy.config.home import Home
from compozy.config.locking import locked
from compozy.config.toml_source import TomlSource
from compozy.documents.atomic import write_atomically
from compozy.documents.files import open_regular
from compozy.model import times
from compozy.model.record import Record

SCHEMA = "compozy.trust.v1"
# Far more than a person grants; the oldest go first.
MAX_GRANTS = 10_000
_MAX_FILE_BYTES = 16 << 20


class Grant(Record, frozen=True, kw_only=True):
    """One file as it was when it was trusted."""

    path: str
    digest: str
    granted_at: str = ""


class _File(Record, frozen=True, kw_only=True):
    schema: str
    grants: tuple[Grant, ...] = ()


class TrustGrants:
    """The grants of one home. Read again whenever the file changed."""

    def __init__(self, home: Home) -> None:
        self.path = home.root / "trust.json"
        self._lock_path = home.root / "trust.lock"
        self._signature: tuple[int, ...] = ()
        self._known: frozenset[tuple[str, str]] = frozenset()

    def signature(self) -> tuple[int, ...]:
        """Return what changes whenever a grant was added or taken back."""
        try:
            found = self.path.stat()
        except OSError:
            return ()
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def has(self, path: str, digest: str) -> bool:
        """Whether the file was trusted with this digest.

        Raises:
            TrustError: the record cannot be read.
        """
        signature = self.signature()
        if signature != self._signature:
            self._known = frozenset((grant.path, grant.digest) for grant in self._read())
            self._signature = signature
        return (path, digest) in self._known

    def all(self) -> tuple[Grant, ...]:
        """Return every grant, oldest first.

        Raises:
            TrustError: the record cannot be read.
        """
        return self._read()

    def add(self, files: Iterable[tuple[str, str]]) -> None:
        """Trust files, each with its digest.

        Raises:
            TrustError: the record cannot be read or written.
        """
        stamp = times.now()
        new = {key: Grant(path=key[0], digest=key[1], granted_at=stamp) for key in files}
        self._change(lambda grants: [*(g for g in grants if (g.path, g.digest) not in new), *new.values()])

    def remove(self, does_match: Callable[[str], bool]) -> int:
        """Take back every grant of the paths that match; return how many there were.

        Raises:
            TrustError: the record cannot be read or written.
        """
        before = len(self._read())
        kept = self._change(lambda grants: [grant for grant in grants if not does_match(grant.path)])
        return before - kept

    def _change(self, change: Callable[[tuple[Grant, ...]], list[Grant]]) -> int:
        try:
            with locked(self._lock_path):
                grants = tuple(change(self._read()))[-MAX_GRANTS:]
                data = msgspec.json.format(msgspec.json.encode(_File(schema=SCHEMA, grants=grants)), indent=1)
                write_atomically(self.path, data + b"\n")
                return len(grants)
        except TimeoutError as error:
            raise TrustError(str(error)) from error
        except OSError as error:
            raise TrustError(f"cannot write {str(self.path)!r}: {error.strerror}; check the folder") from error

    def _read(self) -> tuple[Grant, ...]:
        try:
            with self.path.open("rb") as handle:
                data = handle.read(_MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise TrustError(f"cannot read {str(self.path)!r}: {error.strerror}; check its owner and mode") from error
        try:
            stored = msgspec.json.decode(data, type=_File)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unusable(f"is damaged ({error})") from error
        if stored.schema != SCHEMA:
            raise self._unusable(f"is of schema {stored.schema!r}, which this version does not know")
        return stored.grants

    def _unusable(self, why: str) -> TrustError:
        return TrustError(f"{str(self.path)!r} {why}: move it away and trust again what you still trust")


def file_trust(home: Home) -> Callable[[TomlSource], bool]:
    """Return the question `load_config` asks about a workspace's settings."""
    grants = TrustGrants(home)
    return lambda source: grants.has(str(source.path), text_digest(source.text))


def text_digest(text: str) -> str:
    """Return the digest of a file's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_digest(path: Path) -> str:
    """Return the digest of a file's content.

    Raises:
        OSError: it cannot be read.
    """
    with os.fdopen(open_regular(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
