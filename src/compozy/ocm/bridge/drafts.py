"""What every importer gives back, and the ids it makes (decisions O7)."""

from compozy.model.errors import InvalidRequest
from compozy.model.record import Record
from compozy.ocm.grammar import id_problem, slug


class Draft(Record, frozen=True, kw_only=True):
    """A manifest made from something else; `unmapped` names what had no place in it."""

    document: dict[str, object]
    unmapped: tuple[str, ...] = ()


class BridgeError(InvalidRequest):
    """Something that cannot become a manifest, or a manifest that cannot become something else."""

    default_code = "not_convertible"
    category = "ocm"


def make_id(*parts: str) -> str:
    """Join parts to a legal id.

    Raises:
        BridgeError: a part is not legal in an id; the message proposes one that is.
    """
    identity = "/".join(parts)
    if id_problem(identity) is None and all(parts):
        return identity
    near = "/".join(slug(part) or "unnamed" for part in parts)
    raise BridgeError(f"{identity!r} is no legal capability id: use {near!r}, for example by renaming the parts")


def slug_id(*parts: str) -> str:
    """Join parts that others named freely to a legal id."""
    return "/".join(slug(part).replace("/", "-") or "unnamed" for part in parts)


def text_of(value: object) -> str:
    """Return text as it is and "" for everything else."""
    return value if isinstance(value, str) else ""


def texts_of(value: object) -> list[str]:
    """Return the texts of a list."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def refuse_shared_ids(drafts: list[Draft]) -> list[Draft]:
    """Return the drafts when each has an id of its own.

    Raises:
        BridgeError: two names became one id.
    """
    seen: set[object] = set()
    for draft in drafts:
        identity = draft.document["id"]
        if identity in seen:
            raise BridgeError(f"two entries become the id {identity!r}: rename one of them")
        seen.add(identity)
    return drafts
