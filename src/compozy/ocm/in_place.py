"""Changing fields of manifests inside their file: everything else stays, comments and order too (issue 8 item 7).

YAML and JSON, single manifests, streams and catalogues. The changed text is read again, and refused unless nothing
but the asked fields differs. It knows nothing of what the fields mean, and writes no file.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from compozy.documents.edits import EditRefused, edit_json
from compozy.documents.problems import Path, Span
from compozy.documents.source import SourceText
from compozy.model.errors import InvalidRequest
from compozy.ocm.grammar import FIELDS
from compozy.ocm.json_text import JsonText
from compozy.ocm.places import Places
from compozy.ocm.sources import YAML_SUFFIXES
from compozy.ocm.writing import scalar_text, to_yaml
from compozy.ocm.yaml_text import YamlText

Document = Mapping[str, object]
Edits = Mapping[tuple[str, ...], object]
"""New values by path; what holds a new value is there already."""
_BEFORE_ITEM = re.compile(r" *- +\Z")


class InPlaceRefused(InvalidRequest):
    """A file whose manifests cannot be changed in place."""

    default_code = "in_place_refused"
    category = "ocm"


def edit_manifests(
    text: str, name: str, edits_of: Callable[[Sequence[Document]], Sequence[Edits]], *, otherwise: str
) -> str:
    """Return the text of a manifest file with changed fields; `name` says whether it is YAML or JSON.

    Args:
        text: the file.
        name: its name, for messages too.
        edits_of: the edits of each manifest, in their order.
        otherwise: what to do when the form of the file does not allow it.

    Raises:
        InPlaceRefused: its form does not let the values be written in place.
    """
    is_yaml = name.lower().endswith(YAML_SUFFIXES)
    source = SourceText(text)
    places = YamlText(source.normal) if is_yaml else JsonText(source.normal)
    found = list(_manifests(places.values))
    edits = edits_of([document for _, document in found])
    changes = [(path, one, wanted) for (path, one), wanted in zip(found, edits, strict=True) if wanted]
    if not changes:
        return text
    try:
        after = _splice_yaml(source, places, changes) if is_yaml else _splice_json(text, changes)
    except EditRefused as error:
        raise InPlaceRefused(f"{name}: {error.message}") from error
    again = YamlText(SourceText(after).normal) if is_yaml else JsonText(SourceText(after).normal)
    expected = [_with(document, wanted) for (_, document), wanted in zip(found, edits, strict=True)]
    # Nothing but the edits may differ, in any of its manifests.
    if [one for _, one in _manifests(again.values)] != expected or len(again.problems) > len(places.problems):
        raise InPlaceRefused(f"{name}: its form does not let this be written in place; {otherwise}")
    return after


def _manifests(values: Sequence[object]) -> Iterator[tuple[Path, Document]]:
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


def _with(document: Document, edits: Edits) -> Document:
    result = dict(document)
    for steps, value in edits.items():
        holder = result
        for step in steps[:-1]:
            inner = holder[step]
            assert isinstance(inner, Mapping)
            holder[step] = holder = dict(inner)
        holder[steps[-1]] = value
    return result


_Change = tuple[Path, Document, Edits]


def _splice_json(text: str, changes: Sequence[_Change]) -> str:
    edits: dict[str | tuple[str | int, ...], object] = {}
    for path, _, wanted in changes:
        if len(path) == 2:
            raise EditRefused("a list of manifests cannot be changed in place; write it under `targets`")
        # The first step names the document, and JSON holds one.
        for steps, value in wanted.items():
            edits[(*path[1:], *steps)] = value
    return edit_json(text, edits).text


_Splice = tuple[int, int, str]


def _splice_yaml(source: SourceText, places: Places, changes: Sequence[_Change]) -> str:
    edits = [
        _yaml_edit(source.normal, places, path, steps, document, value)
        for path, document, wanted in changes
        for steps, value in wanted.items()
    ]
    text = source.text
    line_end = "\r\n" if "\r\n" in text else "\n"
    # From the end on, so that earlier offsets stay true; of two at one place the later one goes in first.
    edits.reverse()
    edits.sort(key=lambda edit: edit[:2], reverse=True)
    for start, end, new in edits:
        text = text[: source.to_file(start)] + new.replace("\n", line_end) + text[source.to_file(end) :]
    return text


def _yaml_edit(
    text: str, places: Places, path: Path, steps: tuple[str, ...], document: Document, value: object
) -> _Splice:
    """Return the replacement of one value, or the insertion of one entry."""
    holder: object = document
    for step in steps[:-1]:
        holder = holder[step] if isinstance(holder, Mapping) else None
    assert isinstance(holder, Mapping)
    place = (*path, *steps)
    if steps[-1] not in holder:
        return _new_entry(text, places, place, holder, value)
    span = _span(places, place)
    if isinstance(value, list):
        return _list_edit(text, places, place, span, holder[steps[-1]], value)
    return (*span, json.dumps(value))


def _new_entry(text: str, places: Places, place: Path, holder: Mapping[object, object], value: object) -> _Splice:
    key = str(place[-1])
    start = _span(places, place[:-1])[0]
    if text.startswith("{", start):
        rest = ", " if holder else ""
        return start + 1, start + 1, f"{key}: {_flow(value)}{rest}"
    keys = tuple(map(str, holder))
    follower = _next_key(keys, key)
    anchor = places.key_span((*place[:-1], follower or keys[-1]))
    if anchor is None:
        raise EditRefused("there is no line to write beside")
    line = text.rfind("\n", 0, anchor[0]) + 1
    indent = text[line : anchor[0]]
    if indent.strip():
        raise EditRefused("an entry does not begin on a line of its own")
    block = to_yaml([{key: value}]) if isinstance(value, list) else f"{key}: {_flow(value)}\n"
    lines = "".join(f"{indent}{one}\n" for one in block.splitlines())
    end = -1 if follower else _line_end(text, places, (*place[:-1], keys[-1]), holder[keys[-1]], anchor[0])
    if end < 0:
        line = _above_comments(text, line, indent)
        return line, line, lines
    return end, end, "\n" + lines.removesuffix("\n")


def _list_edit(text: str, places: Places, place: Path, span: Span, old: object, new: list[object]) -> _Splice:
    """Return the addition of elements behind those that stay, or the replacement of the list."""
    kept = old if isinstance(old, list) and old and new[: len(old)] == old else []
    if text.startswith("[", span[0]):
        if not kept:
            return (*span, _flow(new))
        end = _span(places, (*place, len(kept) - 1))[1]
        return end, end, "".join(f", {_flow(one)}" for one in new[len(kept) :])
    assert isinstance(old, list)
    start = _span(places, (*place, 0))[0]
    line = text.rfind("\n", 0, start) + 1
    dash = text[line:start]
    if not _BEFORE_ITEM.match(dash):
        raise EditRefused("the elements of a list do not begin on lines of their own")
    end = _line_end(text, places, (*place, len(old) - 1), old[-1], start)
    if end < 0:
        raise EditRefused("the last element of a list is an alias")
    if kept:
        return end, end, "".join(f"\n{dash}{_flow(one)}" for one in new[len(kept) :])
    return line, end, "\n".join(f"{dash}{_flow(one)}" for one in new)


def _span(places: Places, place: Path) -> Span:
    span = places.value_span(place)
    if span is None:
        raise EditRefused("a value cannot be found again")
    return span


def _line_end(text: str, places: Places, place: Path, value: object, begin: int) -> int:
    """Return where the last line of a value ends, a comment on it included; those below belong to what follows.

    -1 when the value that begins at `begin` ends in an alias, whose content stands elsewhere.
    """
    while True:
        start, end = _span(places, place)
        if start < begin:
            return -1
        begin = start
        if text.startswith(("{", "["), start):
            break
        if isinstance(value, Mapping) and value:
            key, value = list(value.items())[-1]
            place = (*place, str(key))
            begin = (places.key_span(place) or (begin, begin))[1]
        elif isinstance(value, list) and value:
            place, value = (*place, len(value) - 1), value[-1]
        else:
            break
    end = start + len(text[start:end].rstrip())
    return len(text) if (found := text.find("\n", end)) < 0 else found


def _above_comments(text: str, line: int, indent: str) -> int:
    """Return the beginning of the line, or of the comments right above it, which belong to it."""
    while line:
        before = text.rfind("\n", 0, line - 1) + 1
        if not text.startswith(f"{indent}#", before):
            break
        line = before
    return line


def _flow(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar_text(value) if isinstance(value, str) else json.dumps(value)


def _next_key(keys: Sequence[str], new: str) -> str:
    """Return the key before which a new one goes by the format's order, never the first (it may follow a dash)."""
    if new in FIELDS:
        own = FIELDS.index(new)
        for key in keys[1:]:
            if key in FIELDS and FIELDS.index(key) > own:
                return key
    return ""
