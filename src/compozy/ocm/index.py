"""The index of a catalogue: ids, digests, summaries and search terms in one file (issue 8 item 5).

Deterministic: the same manifests give the same bytes, so that a signature and a diff mean something.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from compozy import __version__
from compozy.model.errors import InvalidRequest
from compozy.ocm.grammar import id_problem, slug
from compozy.ocm.writing import manifest_digest

INDEX_VERSION = "1"
MANIFEST_NAME = "capability.json"
_WORD = re.compile(r"[^\W_]{2,}")
_MAX_TERMS = 64
_SUMMARY = 240
# What every file system takes, with room for the folder above.
_LONGEST_ID = 1_024
_LONGEST_PART = 200
_STOP_WORDS = frozenset(
    ("an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or", "that",
     "the", "this", "to", "with", "you", "your", "what", "how")
)  # fmt: skip


class PublishError(InvalidRequest):
    """Manifests that cannot be published together, or a place that cannot be published to."""

    default_code = "not_publishable"
    category = "ocm"


def manifest_path(identity: str) -> str:
    """Return where a manifest lies below a published folder; each id has a path of its own.

    Raises:
        PublishError: the id is not legal; the message proposes one that is (decisions O7).
    """
    if id_problem(identity) is not None:
        near = slug(identity)
        advice = f"use {near!r}" if near else "give it another"
        raise PublishError(f"{identity[:80]!r} is no legal capability id and cannot be published: {advice}")
    if len(identity) > _LONGEST_ID or max(map(len, identity.split("/"))) > _LONGEST_PART:
        raise PublishError(
            f"{identity[:80] + '…'!r} is too long for the name of a file: use at most {_LONGEST_ID} characters, and "
            f"{_LONGEST_PART} between two slashes"
        )
    # A colon is no part of a file name on every system; the tilde is no part of an id.
    return f"manifests/{identity.replace(':', '~')}/{MANIFEST_NAME}"


def build_index(documents: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the index of valid manifests, sorted by id.

    Raises:
        PublishError: an id is not legal, or two manifests would share a path (decisions O7).
    """
    places = Places()
    rows = []
    for document in sorted(documents, key=lambda one: str(one["id"])):
        identity = str(document["id"])
        rows.append(_row(document, identity, places.take(identity)))
    return {
        "ocm_index": INDEX_VERSION,
        "generator": f"compozy {__version__}",
        "count": len(rows),
        "capabilities": rows,
    }


class Places:
    """The files of manifests, each of its own: no two are one, and none lies where another needs a folder."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def take(self, identity: str) -> str:
        """Return the path of a manifest.

        Raises:
            PublishError: the id has none, or another manifest is in its way.
        """
        path = manifest_path(identity)
        if path in self._owners:
            raise PublishError(f"two manifests would be written to {path}: {self._owners[path]!r} and {identity!r}")
        if path in self._folders:
            raise PublishError(f"{self._folders[path]!r} would need a folder where the manifest of {identity!r} lies")
        parts = path.split("/")
        folders = ["/".join(parts[:end]) for end in range(1, len(parts))]
        for folder in folders:
            if folder in self._owners:
                raise PublishError(
                    f"{identity!r} would need a folder where the manifest of {self._owners[folder]!r} lies"
                )
        self._owners[path] = identity
        self._folders |= dict.fromkeys(folders, identity)
        return path


def _row(document: Mapping[str, object], identity: str, path: str) -> dict[str, object]:
    description = " ".join(str(document["description"]).split())
    row: dict[str, object] = {
        "id": identity,
        "kind": document["kind"],
        "name": document.get("name") or identity,
        "summary": description if len(description) <= _SUMMARY else description[: _SUMMARY - 1] + "…",
    }
    for field in ("publisher", "version"):
        if document.get(field):
            row[field] = document[field]
    row["path"] = path
    row["digest"] = manifest_digest(document)
    row["terms"] = search_terms(document)
    return row


def search_terms(document: Mapping[str, object]) -> list[str]:
    """Return the words a search should find a capability by, most telling fields first."""
    section = document.get("capabilities")
    lists: list[object] = [document.get("examples")]
    if isinstance(section, Mapping):
        lists = [section.get(field) for field in ("domains", "actions", "tags")] + lists
    texts: list[object] = [document["id"], document.get("name"), document["description"]]
    texts.extend(item for one in lists if isinstance(one, list) for item in one)
    words = _words(str(text) for text in texts if text)
    return list(dict.fromkeys(words))[:_MAX_TERMS]


def _words(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for word in _WORD.findall(text.lower()):
            if word not in _STOP_WORDS:
                yield word
