"""Digests of capabilities: one record and a whole list (formats §10, decisions D2).

The bytes that are hashed are part of the contract; see `capability_bytes`.
"""

import hashlib
import json
from collections.abc import Sequence

from compozy.documents.text import trim
from compozy.model.capability import Capability

_LISTS = ("context_needed", "artifacts_expected", "execution_outline", "constraints", "examples")
# Escaped beyond JSON's own rules, as the established encoder does.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_PREFIX = "sha256:"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def capability_bytes(capability: Capability) -> bytes:
    """The bytes a capability's digest is taken over: compact JSON in a fixed key order, empty keys left out."""
    record: dict[str, object] = {
        "id": trim(capability.id),
        "summary": trim(capability.summary),
        "outcome": trim(capability.outcome),
    }
    version = trim(capability.version)
    if version:
        record["version"] = version
    for name in _LISTS:
        entries = [text for text in map(trim, getattr(capability, name)) if text]
        if entries:
            record[name] = entries
    if capability.requirements:
        record["requirements"] = sorted(map(trim, capability.requirements), key=str.encode)
    return _json(record).encode("utf-8", "surrogatepass")


def capability_digest(capability: Capability) -> str:
    """``sha256:`` and the lower-case hash of the capability's canonical bytes."""
    return _PREFIX + hashlib.sha256(capability_bytes(capability)).hexdigest()


def capabilities_digest(capabilities: Sequence[Capability] | None) -> str:
    """One digest over a whole catalog: the hash of the JSON list of its records' digests, in catalog order.

    No catalog counts as an empty one, because every surface shows both as an empty list.
    """
    digests = [c.digest or capability_digest(c) for c in capabilities or ()]
    return _PREFIX + hashlib.sha256(_json(digests).encode()).hexdigest()


def _json(value: object) -> str:
    return _encode(value).translate(_ESCAPES)
