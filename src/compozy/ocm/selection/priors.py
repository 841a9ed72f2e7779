"""Learned priors inside manifests: `quality_prior` with the outcomes it rests on, and back (issue 8 item 7).

The prior that was authored is kept beside it, so that learning again starts from there and no outcome counts twice.
Files keep their comments and order; a file that cannot be changed like that is left alone and named.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from compozy.documents.edits import EditRefused, edit_json
from compozy.documents.problems import Path
from compozy.documents.source import SourceText
from compozy.model.errors import InvalidRequest
from compozy.ocm.grammar import FIELDS
from compozy.ocm.json_text import JsonText
from compozy.ocm.places import Places
from compozy.ocm.selection.outcomes import HALF_LIFE_DAYS, KEY, Learned, Result, authored_prior, learn
from compozy.ocm.sources import YAML_SUFFIXES
from compozy.ocm.yaml_text import YamlText


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
    is_yaml = name.lower().endswith(YAML_SUFFIXES)
    source = SourceText(text)
    places = YamlText(source.normal) if is_yaml else JsonText(source.normal)
    found = list(_manifests(places.values))
    wanted = with_learned_priors([document for _, document in found], results, now)
    changes = [
        (path, before, after) for (path, before), after in zip(found, wanted, strict=True) if after is not before
    ]
    if not changes:
        return text
    try:
        after_text = _splice_yaml(source, places, changes) if is_yaml else _splice_json(text, changes)
    except EditRefused as error:
        raise PriorRefused(f"{name}: {error.message}") from error
    again = YamlText(SourceText(after_text).normal) if is_yaml else JsonText(SourceText(after_text).normal)
    # Nothing but the priors may differ, in any of its manifests.
    if [document for _, document in _manifests(again.values)] != wanted or len(again.problems) > len(places.problems):
        raise PriorRefused(f"{name}: its form does not let priors be written in place; use `ocm publish --outcomes`")
    return after_text


def _manifests(values: Sequence[object]) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Return every manifest of a file with its path: single, in a stream, in a list, or under `targets`."""
    for number, value in enumerate(values):
        if isinstance(value, Mapping) and "ocm" in value:
            yield (number,), value
            continue
        base: Path = (number, "targets") if isinstance(value, Mapping) else (number,)
        entries = value.get("targets") if isinstance(value, Mapping) else value
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, Mapping) and "ocm" in entry:
                yield (*base, index), entry


_Change = tuple[Path, Mapping[str, object], Mapping[str, object]]


def _splice_json(text: str, changes: Sequence[_Change]) -> str:
    edits: dict[str | tuple[str | int, ...], object] = {}
    for path, before, after in changes:
        if len(path) == 2:
            raise EditRefused("a list of manifests cannot be changed in place; write it under `targets`")
        # The first step names the document, and JSON holds one.
        for steps, value in _edits(before, after).items():
            edits[(*path[1:], *steps)] = value
    return edit_json(text, edits).text


def _edits(before: Mapping[str, object], after: Mapping[str, object]) -> dict[tuple[str, ...], object]:
    metadata = after["metadata"]
    assert isinstance(metadata, Mapping)
    edits: dict[tuple[str, ...], object] = {("quality_prior",): after["quality_prior"]}
    if isinstance(before.get("metadata"), Mapping):
        edits["metadata", KEY] = metadata[KEY]
    else:
        edits["metadata",] = dict(metadata)
    return edits


def _splice_yaml(source: SourceText, places: Places, changes: Sequence[_Change]) -> str:
    edits: list[tuple[int, int, str]] = []
    for path, before, after in changes:
        for steps, value in _edits(before, after).items():
            edits.append(_yaml_edit(source.normal, places, path, steps, before, value))
    text = source.text
    line_end = "\r\n" if "\r\n" in text else "\n"
    # From the end on, so that earlier offsets stay true; of two at one place the later one goes in first.
    for start, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = text[: source.to_file(start)] + new.replace("\n", line_end) + text[source.to_file(end) :]
    return text


def _yaml_edit(
    text: str, places: Places, path: Path, steps: tuple[str, ...], document: Mapping[str, object], value: object
) -> tuple[int, int, str]:
    """Return the replacement of one value, or the insertion of one entry, in flow style as the format allows."""
    spelled = json.dumps(value)
    holder: object = document
    for step in steps[:-1]:
        holder = holder[step] if isinstance(holder, Mapping) else None
    assert isinstance(holder, Mapping)
    place = (*path, *steps)
    if steps[-1] in holder:
        span = places.value_span(place)
        if span is None:
            raise EditRefused("a value cannot be found again")
        return (*span, spelled)
    span = places.value_span(place[:-1])
    if span is None:
        raise EditRefused("what holds the value cannot be found again")
    if text.startswith("{", span[0]):
        rest = ", " if holder else ""
        return span[0] + 1, span[0] + 1, f"{steps[-1]}: {spelled}{rest}"
    anchor = places.key_span((*place[:-1], _next_key(tuple(map(str, holder)), steps[-1])))
    if anchor is None:
        raise EditRefused("there is no line to write beside")
    line = text.rfind("\n", 0, anchor[0]) + 1
    indent = text[line : anchor[0]]
    if indent.strip():
        raise EditRefused("an entry does not begin on a line of its own")
    return line, line, f"{indent}{steps[-1]}: {spelled}\n"


def _next_key(keys: Sequence[str], new: str) -> str:
    """Return the key before which a new one goes: by the format's order, never the first (it may follow a dash)."""
    if new in FIELDS:
        own = FIELDS.index(new)
        for key in keys[1:]:
            if key in FIELDS and FIELDS.index(key) > own:
                return key
    return keys[-1]
