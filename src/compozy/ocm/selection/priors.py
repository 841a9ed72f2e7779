"""Learned priors inside manifests: `quality_prior` with the outcomes it rests on, and back (issue 8 item 7).

The prior that was authored is kept beside it, so that learning again starts from there and no outcome counts twice.
Files keep their comments and order; a file that cannot be changed like that is left alone and named.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from compozy.model.errors import InvalidRequest
from compozy.ocm.in_place import Edits, InPlaceRefused, edit_manifests
from compozy.ocm.selection.outcomes import HALF_LIFE_DAYS, KEY, Learned, Result, authored_prior, learn


class PriorRefused(InvalidRequest):
    """A file whose manifests cannot be given priors in place."""

    default_code = "prior_refused"
    category = "ocm"


def learned_record(document: Mapping[str, object], learned: Learned, now: datetime) -> dict[str, object]:
    """Return what a manifest says of its learned prior."""
    return {
        "authored": authored_prior(document),
        "outcomes": learned.samples,
        "worth": learned.weight,
        "half_life_days": HALF_LIFE_DAYS,
        "at": now.isoformat(timespec="seconds"),
    }


def with_learned_priors(
    documents: Sequence[Mapping[str, object]], results: Sequence[Result], now: datetime
) -> list[Mapping[str, object]]:
    """Return the manifests with the priors that outcomes give them; those without an outcome as they are."""
    authored = {str(one["id"]): authored_prior(one) for one in documents}
    found = {one.id: one for one in learn(results, authored, now)}
    changed: list[Mapping[str, object]] = []
    for document in documents:
        learned = found.get(str(document["id"]))
        if learned is None:
            changed.append(document)
            continue
        metadata = document.get("metadata")
        kept = metadata if isinstance(metadata, Mapping) else {}
        record = learned_record(document, learned, now)
        changed.append({**document, "quality_prior": learned.prior, "metadata": {**kept, KEY: record}})
    return changed


def write_priors(text: str, name: str, results: Sequence[Result], now: datetime) -> str:
    """Return the text of a manifest file with learned priors; `name` says whether it is YAML or JSON.

    Raises:
        PriorRefused: its form does not let a prior be written in place.
    """

    def edits_of(documents: Sequence[Mapping[str, object]]) -> list[Edits]:
        wanted = with_learned_priors(documents, results, now)
        return [
            {} if after is before else _edits(before, after) for before, after in zip(documents, wanted, strict=True)
        ]

    try:
        return edit_manifests(text, name, edits_of, otherwise="use `ocm publish --outcomes`")
    except InPlaceRefused as error:
        raise PriorRefused(error.message) from error


def _edits(before: Mapping[str, object], after: Mapping[str, object]) -> Edits:
    metadata = after["metadata"]
    assert isinstance(metadata, Mapping)
    edits: dict[tuple[str, ...], object] = {("quality_prior",): after["quality_prior"]}
    if isinstance(before.get("metadata"), Mapping):
        edits["metadata", KEY] = metadata[KEY]
    else:
        edits["metadata",] = dict(metadata)
    return edits
