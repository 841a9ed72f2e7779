"""`publish`: a static folder that any web server can host, and checking one again (issue 8 item 5; decisions O7).

Writes below its folder only and follows no link inside it; every file is old or new. What an earlier run published
and this one does not is removed, nothing else.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compozy.documents.atomic import write_atomically
from compozy.model.record import Record
from compozy.ocm.index import PublishError, build_index, manifest_path
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
    index_bytes = to_json(index).encode()
    files: dict[str, bytes] = {manifest_path(str(one["id"])): to_json(one).encode() for one in documents}
    files[SCHEMA_NAME] = to_json(manifest_schema()).encode()
    files[WELL_KNOWN] = to_json({"ocm_index": "1", "index": "../index.json"}).encode()
    files[PAGE_NAME] = render_page(index, title=title).encode("utf-8", "replace")
    if key is not None:
        files[INDEX_NAME + SIGNATURE_SUFFIX] = sign(index_bytes, key)
    files[INDEX_NAME] = index_bytes
    folder.mkdir(parents=True, exist_ok=True)
    earlier = _earlier_paths(folder)
    for path, data in files.items():
        write_below(folder, path, data)
    removed = tuple(path for path in earlier if path not in files and _remove(folder, path))
    from compozy.ocm.signing import key_id  # noqa: PLC0415 - start-up cost

    return Published(
        written=tuple(files),
        removed=removed,
        index_digest=manifest_digest(index),
        key_id=key_id(key.public_key()) if key is not None else "",
    )


def _earlier_paths(folder: Path) -> list[str]:
    """Manifests that an earlier run lists; paths come from ids, so that no index can name a file elsewhere."""
    try:
        index = json.loads((folder / INDEX_NAME).read_bytes())
        rows = index["capabilities"]
        found = [manifest_path(row["id"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, PublishError):
        found = []
    # A signature of an earlier index would not fit this one.
    return [*found, INDEX_NAME + SIGNATURE_SUFFIX]


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
    parent = _parent(folder, path, make=True)
    assert parent is not None, "it was made"
    target = parent / path.rpartition("/")[2]
    if target.is_symlink():
        raise PublishError(f"{str(target)!r} is a link, and publishing follows none; remove it")
    if target.is_file() and target.read_bytes() == data:
        return
    write_atomically(target, data, mode=_MODE)


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
    """Check the signature of the index and the digest of every manifest it lists.

    Raises:
        SignatureError: the signature does not fit.
        PublishError: there is no index.
    """
    path = folder / INDEX_NAME
    if not path.is_file():
        raise PublishError(
            f"{str(folder)!r} holds no {INDEX_NAME}; name a folder that `compozy ocm publish FOLDER` wrote"
        )
    data = path.read_bytes()
    signed_by = ""
    if key is not None:
        beside = folder / (INDEX_NAME + SIGNATURE_SUFFIX)
        if not beside.is_file():
            raise PublishError(f"{str(folder)!r} is not signed: there is no {beside.name}")
        signed_by = check_signature(data, beside.read_bytes(), key)
    try:
        rows = json.loads(data)["capabilities"]
        listed = [(str(row["id"]), str(row["digest"])) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PublishError(f"{str(path)!r} cannot be read as an index; publish again") from error
    problems = [problem for identity, digest in listed if (problem := _check(folder, identity, digest))]
    return Verified(count=len(listed), problems=tuple(problems), key_id=signed_by)


def _check(folder: Path, identity: str, digest: str) -> str:
    try:
        path = manifest_path(identity)
        document = json.loads((folder / path).read_bytes())
        found = manifest_digest(document) if isinstance(document, dict) else ""
    except (OSError, ValueError, RecursionError, PublishError) as error:
        return f"{identity[:80]}: {error}"
    if isinstance(document, dict) and document.get("id") != identity:
        return f"{identity[:80]}: {path} holds another capability"
    return "" if found == digest else f"{identity[:80]}: {path} was changed since the index was made"
