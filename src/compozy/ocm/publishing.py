"""`publish`: a static folder that any web server can host, and checking one again (issue 8 item 5; decisions O7).

Writes below its folder only and follows no link inside it; every file is old or new, runs wait for each other, and a
killed one is seen and finished by the next. What an earlier run published and this one does not is removed, nothing
else.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compozy.documents.atomic import write_atomically
from compozy.documents.files import read_regular
from compozy.model.record import Record
from compozy.ocm.folder_run import alone_in, begin, finish, was_interrupted
from compozy.ocm.index import MANIFEST_NAME, PublishError, build_index, manifest_path
from compozy.ocm.page import render_page
from compozy.ocm.schema import manifest_schema
from compozy.ocm.signing import SIGNATURE_SUFFIX, check_signature, sign
from compozy.ocm.writing import manifest_digest, to_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

INDEX_NAME = "index.json"
PAGE_NAME = "index.html"
SCHEMA_NAME = "ocm.schema.json"
WELL_KNOWN = ".well-known/ocm.json"
_MODE = 0o644
# Far above what is published; a stranger's folder may hold anything under these names.
_MOST_INDEX, _MOST_MANIFEST, _MOST_SIGNATURE = 256 << 20, 64 << 20, 64 << 10


class Published(Record, frozen=True, kw_only=True):
    """What a run wrote and removed, as paths below the folder."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    index_digest: str
    key_id: str = ""


def publish(
    documents: Sequence[Mapping[str, object]],
    folder: Path,
    *,
    title: str = "Capabilities",
    key: "Ed25519PrivateKey | None" = None,
) -> Published:
    """Write index, manifests, schema and page below `folder`; it is made when it is missing.

    Raises:
        PublishError: an id is not legal, two share a path, or a link lies where something would be written.
    """
    index = build_index(documents)
    files: dict[str, bytes] = {manifest_path(str(one["id"])): to_json(one).encode() for one in documents}
    beside = {
        PAGE_NAME: render_page(index, title=title).encode("utf-8", "replace"),
        SCHEMA_NAME: to_json(manifest_schema()).encode(),
    }
    # A signature of the index is one of the page too, which people read instead.
    index["files"] = {name: _digest(data) for name, data in beside.items()}
    index_bytes = to_json(index).encode()
    files |= {**beside, WELL_KNOWN: index_bytes}
    if key is not None:
        files[INDEX_NAME + SIGNATURE_SUFFIX] = sign(index_bytes, key)
    files[INDEX_NAME] = index_bytes
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        for path in files:
            _target(folder, path, make=False)
        noted = begin(folder, (*files, *_earlier_paths(folder)))
        earlier = [path for path in noted if _is_removable(path)]
        for path, data in files.items():
            write_below(folder, path, data)
        removed = tuple(path for path in earlier if path not in files and _remove(folder, path))
        finish(folder, (*files, *earlier))
    from compozy.ocm.signing import key_id  # noqa: PLC0415 - start-up cost

    return Published(
        written=tuple(files),
        removed=removed,
        index_digest=manifest_digest(index),
        key_id=key_id(key.public_key()) if key is not None else "",
    )


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _earlier_paths(folder: Path) -> list[str]:
    """Manifests that an earlier run lists; paths come from ids, so that no index can name a file elsewhere."""
    try:
        index = json.loads(read_regular(folder / INDEX_NAME, _MOST_INDEX))
        rows = index["capabilities"]
        found = [manifest_path(row["id"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, PublishError):
        found = []
    # A signature of an earlier index would not fit this one.
    return [*found, INDEX_NAME + SIGNATURE_SUFFIX]


def _is_removable(path: str) -> bool:
    """Whether a run of ours may have made a file that another run may remove; a note can be anybody's."""
    if path == INDEX_NAME + SIGNATURE_SUFFIX:
        return True
    identity = path.removeprefix("manifests/").removesuffix("/" + MANIFEST_NAME).replace("~", ":")
    try:
        return manifest_path(identity) == path
    except PublishError:
        return False


def _parent(folder: Path, path: str, *, make: bool) -> Path | None:
    """The folder of a path below `folder`, none of whose parts is a link; None when it is missing."""
    current = folder
    for part in path.split("/")[:-1]:
        current = current / part
        if current.is_symlink():
            raise PublishError(f"{str(current)!r} is a link, and publishing follows none; remove it")
        if not current.is_dir():
            if not make:
                return None
            current.mkdir(exist_ok=True)
    return current


def write_below(folder: Path, path: str, data: bytes) -> None:
    """Write one file below a folder, following no link inside it.

    Raises:
        PublishError: a link lies in the way.
    """
    target = _target(folder, path, make=True)
    assert target is not None, "its folder was made"
    with contextlib.suppress(OSError):
        if read_regular(target, len(data)) == data:
            return
    write_atomically(target, data, mode=_MODE)


def _target(folder: Path, path: str, *, make: bool) -> Path | None:
    parent = _parent(folder, path, make=make)
    if parent is None:
        return None
    target = parent / path.rpartition("/")[2]
    if target.is_symlink():
        raise PublishError(f"{str(target)!r} is a link, and publishing follows none; remove it")
    return target


def _remove(folder: Path, path: str) -> bool:
    parent = _parent(folder, path, make=False)
    if parent is None:
        return False
    target = parent / path.rpartition("/")[2]
    if target.is_symlink() or not target.is_file():
        return False
    target.unlink()
    while parent != folder and not any(parent.iterdir()):
        parent.rmdir()
        parent = parent.parent
    return True


class Verified(Record, frozen=True, kw_only=True):
    """What checking a published folder found. `key_id` is "" when no signature was checked."""

    count: int
    problems: tuple[str, ...]
    key_id: str = ""


def verify_folder(folder: Path, key: "Ed25519PublicKey | None" = None) -> Verified:
    """Check the signature of the index, and the digest of every manifest and file it lists.

    Raises:
        SignatureError: the signature does not fit.
        PublishError: there is no index.
    """
    path = folder / INDEX_NAME
    if not path.is_file():
        raise PublishError(
            f"{str(folder)!r} holds no {INDEX_NAME}; name a folder that `compozy ocm publish FOLDER` wrote"
        )
    with alone_in(folder, shared=True):
        return _verify(folder, path, key)


def _verify(folder: Path, path: Path, key: "Ed25519PublicKey | None") -> Verified:
    if was_interrupted(folder):
        raise PublishError(
            f"publishing to {str(folder)!r} was interrupted, so it is half old and half new; do it again"
        )
    data = _read(path, _MOST_INDEX)
    signed_by = ""
    if key is not None:
        beside = folder / (INDEX_NAME + SIGNATURE_SUFFIX)
        if not beside.is_file():
            raise PublishError(f"{str(folder)!r} is not signed: there is no {beside.name}")
        signed_by = check_signature(data, _read(beside, _MOST_SIGNATURE), key)
    try:
        index = json.loads(data)
        listed = [(str(row["id"]), str(row["path"]), str(row["digest"])) for row in index["capabilities"]]
        given = index.get("files")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PublishError(f"{str(path)!r} cannot be read as an index; publish again") from error
    problems = [problem for row in listed if (problem := _check(folder, *row))]
    digests: Mapping[str, object] = given if isinstance(given, Mapping) else {}
    wanted = {name: digests.get(name) for name in (PAGE_NAME, SCHEMA_NAME)} | {WELL_KNOWN: _digest(data)}
    problems += [problem for name, digest in wanted.items() if (problem := _check_file(folder, name, digest))]
    return Verified(count=len(listed), problems=tuple(problems), key_id=signed_by)


def _read(path: Path, most: int) -> bytes:
    data = read_regular(path, most)
    if len(data) > most:
        raise PublishError(f"{str(path)!r} is larger than {most >> 10:,} KiB, which no run of ours writes")
    return data


def _check_file(folder: Path, name: str, digest: object) -> str:
    try:
        found = _digest(_read(folder / name, _MOST_MANIFEST))
    except OSError as error:
        return f"{name}: {(error.strerror or str(error)).lower()}; publish again"
    except PublishError as error:
        return f"{name}: {error.message}"
    return "" if found == digest else f"{name}: was changed since the index was made"


def _check(folder: Path, identity: str, told_path: str, digest: str) -> str:
    try:
        path = manifest_path(identity)
        if told_path != path:
            return f"{identity[:80]}: the index names the file {told_path[:80]!r}, not {path}"
        document = json.loads(_read(folder / path, _MOST_MANIFEST))
        found = manifest_digest(document) if isinstance(document, dict) else ""
    except (OSError, ValueError, RecursionError, PublishError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
        return f"{identity[:80]}: {reason}; publish again"
    if isinstance(document, dict) and document.get("id") != identity:
        return f"{identity[:80]}: {path} holds another capability"
    return "" if found == digest else f"{identity[:80]}: {path} was changed since the index was made"
