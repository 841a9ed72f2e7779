"""One capability that travels: a document whose digest the receiver verifies before using it, and pins (D27).

The document is the body of a message between agents: ``{"kind": "capability", "body": {agent, capability, digest}}``.
Where it comes from and what it is used for are the caller's.
"""

import json
from collections.abc import Mapping, Sequence

import msgspec

from compozy.documents.capability_records import read_record
from compozy.documents.digests import capability_digest
from compozy.documents.json_document import JsonDocument
from compozy.documents.names import name_problem
from compozy.documents.problems import first_error
from compozy.documents.source import SourceText
from compozy.model.capability import Capability
from compozy.model.errors import Conflict, InvalidRequest, NotFound
from compozy.model.record import Record

KIND = "capability"
_BODY_FIELDS = frozenset({"agent", "capability", "digest"})
_MESSAGE_FIELDS = frozenset({"kind", "body", "to"})
_PIN = "@"
_HASH = "sha256:"


class VerifiedCapability(Record, frozen=True, kw_only=True):
    """A capability whose digest was recomputed and fits."""

    agent: str
    capability: Capability
    digest: str


def export_document(agent: str, capability: Capability) -> dict[str, object]:
    """Return the portable document of one capability."""
    record = msgspec.to_builtins(capability)
    record.pop("digest", None)
    body = {"agent": agent, "capability": record, "digest": capability_digest(capability)}
    return {"kind": KIND, "body": body}


def verify_document(text: str) -> VerifiedCapability:
    """Read a document and recompute its digest; a bare body is read too.

    Raises:
        InvalidRequest: it is no such document.
        Conflict: the digest does not fit the record; nothing of it may be used.
    """
    body = _body(_read(text))
    agent, stated, record = body.get("agent"), body.get("digest"), body.get("capability")
    if not isinstance(agent, str) or name_problem(agent) is not None:
        raise InvalidRequest(f"the capability's agent {agent!r} is no agent name; export it again")
    if not isinstance(record, Mapping) or not isinstance(stated, str):
        raise InvalidRequest("the document needs `capability` (an object) and `digest` (text); export it again")
    fields = dict(record)
    inner = fields.pop("digest", stated)
    capability = _capability(fields)
    digest = capability_digest(capability)
    if stated != digest or inner != digest:
        raise Conflict(
            f"the digest of capability {capability.id!r} does not fit: the document says {stated!r}, its record has "
            f"{digest!r}; do not use it, ask the sender to export it again",
            code="capability_digest_mismatch",
            details={"stated": stated[:100], "computed": digest},
        )
    return VerifiedCapability(
        agent=agent, capability=msgspec.structs.replace(capability, digest=digest), digest=digest
    )


def _read(text: str) -> dict[str, object]:
    document = JsonDocument(text, "capability document")
    if document.problems:
        raise InvalidRequest(f"{document.problems[0].message}; export it again", code="capability_document_invalid")
    if not isinstance(document.value, dict):
        raise InvalidRequest("a capability document is a JSON object; export it again")
    return document.value


def _body(value: dict[str, object]) -> dict[str, object]:
    if "kind" in value or "body" in value:
        _only(value, _MESSAGE_FIELDS)
        body = value.get("body")
        if value.get("kind") != KIND or not isinstance(body, dict):
            raise InvalidRequest(f"the document's kind is {value.get('kind')!r}, not {KIND!r} with a body")
        value = body
    _only(value, _BODY_FIELDS)
    return value


def _only(value: Mapping[str, object], known: frozenset[str]) -> None:
    unknown = sorted(set(value) - known)
    if unknown:
        raise InvalidRequest(f"unknown field {unknown[0]!r} in the capability document; export it again")


def _capability(fields: Mapping[str, object]) -> Capability:
    identity = fields.get("id")
    stem = identity if isinstance(identity, str) else ""
    outcome = read_record(SourceText(json.dumps(fields, ensure_ascii=False)), "capability", "json", stem)
    if not outcome.capabilities:
        found = first_error(outcome.diagnostics)
        raise InvalidRequest(
            f"the capability does not load: {found.message if found else 'it is empty'}",
            code="capability_document_invalid",
        )
    return outcome.capabilities[0]


def choose(capabilities: Sequence[Capability], wanted: Sequence[str]) -> tuple[Capability, ...]:
    """Return the capabilities that were asked for as ``ID``, ``ID@VERSION`` or ``ID@sha256:…``; all when none was.

    Raises:
        NotFound: there is no such id.
        Conflict: a pin does not fit.
    """
    return tuple(_pinned(capabilities, text) for text in wanted) if wanted else tuple(capabilities)


def _pinned(capabilities: Sequence[Capability], text: str) -> Capability:
    by_id = {capability.id: capability for capability in capabilities}
    if text in by_id:
        # An id may hold the sign that introduces a pin.
        return by_id[text]
    identity, mark, pin = text.rpartition(_PIN)
    found = by_id.get(identity if mark else text)
    if found is None:
        known = ", ".join(sorted(by_id)[:10]) or "none"
        raise NotFound(f"there is no capability {text!r}; known are: {known}", code="capability_not_found")
    actual = (found.digest or capability_digest(found)) if pin.startswith(_HASH) else found.version
    if pin != actual:
        has = actual or "no version"
        raise Conflict(
            f"capability {identity!r} is pinned to {pin!r} and has {has!r}; look at what changed, then pin it anew",
            code="capability_pin_mismatch",
            details={"pin": pin[:100], "actual": actual},
        )
    return found
