"""Detached Ed25519 signatures: keys, signing, verifying (issue 8 item 5).

A signature is over the exact bytes of a file. The private key is a PEM file only its owner reads.
"""

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from compozy.documents.atomic import write_atomically
from compozy.documents.files import open_regular, read_regular
from compozy.model.errors import InvalidRequest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNATURE_SUFFIX = ".sig"
PUBLIC_SUFFIX = ".pub"
_ALGORITHM = "ed25519"
_MAX_KEY = 16_384


class SignatureError(InvalidRequest):
    """A key or a signature that cannot be used, or that does not fit."""

    default_code = "signature_invalid"
    category = "ocm"


def make_keys(path: Path) -> str:
    """Write a new private key to `path` (mode 0600) and its public one beside it; return the key's id.

    Raises:
        SignatureError: a file is there already.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - start-up cost
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - start-up cost

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    beside = Path(f"{path}{PUBLIC_SUFFIX}")
    for target in (path, beside):
        if target.exists() or target.is_symlink():
            raise SignatureError(
                f"{str(target)!r} is there already, and a key is never overwritten; name another file"
            )
    write_atomically(path, private, mode=0o600, exclusive=True)
    write_atomically(beside, public, mode=0o644, exclusive=True)
    return key_id(key.public_key())


def read_private_key(path: Path) -> "Ed25519PrivateKey":
    """Read a private key that others cannot read.

    Raises:
        SignatureError: it is no Ed25519 key, or others may read it.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - start-up cost
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - start-up cost

    handle = open_regular(path)
    try:
        # Of the open file: what the name leads to may be exchanged meanwhile.
        others_may_read = os.fstat(handle).st_mode & 0o077
        data = os.read(handle, _MAX_KEY)
    finally:
        os.close(handle)
    if others_may_read:
        raise SignatureError(f"other users may read the private key {str(path)!r}: run `chmod 600 {path}`")
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError) as error:
        raise SignatureError(f"{str(path)!r} is no private key; make one with `compozy ocm keygen PATH`") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise SignatureError(f"{str(path)!r} is no Ed25519 key; make one with `compozy ocm keygen PATH`")
    return key


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """Read a public key.

    Raises:
        SignatureError: it is no Ed25519 key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - start-up cost
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415 - start-up cost

    try:
        key = load_pem_public_key(read_regular(path, _MAX_KEY))
    except (ValueError, TypeError) as error:
        raise SignatureError(f"{str(path)!r} is no public key; it ends in {PUBLIC_SUFFIX}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise SignatureError(f"{str(path)!r} is no Ed25519 key")
    return key


def key_id(key: "Ed25519PublicKey") -> str:
    """Return the short name of a public key."""
    return "ed25519:" + hashlib.sha256(key.public_bytes_raw()).hexdigest()[:32]


def sign(data: bytes, key: "Ed25519PrivateKey") -> bytes:
    """Return the text of a detached signature."""
    record = {
        "algorithm": _ALGORITHM,
        "key_id": key_id(key.public_key()),
        "digest": "sha256:" + hashlib.sha256(data).hexdigest(),
        "signature": base64.b64encode(key.sign(data)).decode(),
    }
    return (json.dumps(record, indent=2) + "\n").encode()


def check_signature(data: bytes, signature: bytes, key: "Ed25519PublicKey") -> str:
    """Return the id of the key whose signature fits.

    Raises:
        SignatureError: the signature is not of this key, or not over these bytes.
    """
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - start-up cost

    try:
        record = json.loads(signature)
        raw = base64.b64decode(record["signature"], validate=True)
        algorithm = record["algorithm"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SignatureError("the signature file cannot be read; sign again") from error
    if algorithm != _ALGORITHM:
        raise SignatureError(f"the signature uses {str(algorithm)[:40]!r}; only {_ALGORITHM} is known")
    try:
        key.verify(raw, data)
    except InvalidSignature:
        raise SignatureError(
            f"the signature does not fit: the file was changed, or another key than {key_id(key)} signed it"
        ) from None
    return key_id(key)
