"""`ocm fmt`: one order of fields, safe spellings, clean line ends; never another meaning (issue 8 item 4).

YAML keeps comments and quoting: only whole top-level fields move, with the comments above them, and values that YAML
1.1 reads differently get the spelling both read alike. What cannot be done safely is left alone: the result is
read again, and a text whose meaning would change is returned as it was.
"""

import json
import re

from msgspec.structs import replace

from compozy.documents.source import SourceText
from compozy.ocm.grammar import FIELDS
from compozy.ocm.json_text import JsonText
from compozy.ocm.problems import Problem
from compozy.ocm.yaml_text import YamlText

_FIELD = re.compile(r"([A-Za-z_]+):(?=[ \t\n]|$)")
_ORDER = {field: index for index, field in enumerate(FIELDS)}


def format_json(text: str) -> str:
    """Return the JSON text with two-space indentation and manifests' fields in order."""
    parsed = JsonText(text)
    if parsed.problems or not parsed.values:
        return text
    value = _ordered(parsed.values[0])
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError:
        return text


def find_unreadable(source: SourceText, path: str, *, is_yaml: bool) -> list[Problem]:
    """Return what keeps a text from being read at all, each with its place."""
    parsed = YamlText(source.normal) if is_yaml else JsonText(source.normal)
    if not parsed.is_broken:
        return []
    found = []
    for note in parsed.problems:
        start, end = (source.to_file(offset) for offset in note.span)
        found.append(replace(note.problem, path=path, position=source.position(start, end)))
    return found


def _ordered(value: object) -> object:
    if isinstance(value, dict) and "ocm" in value:
        return {key: value[key] for key in sorted(value, key=lambda key: _ORDER.get(key, len(_ORDER)))}
    if isinstance(value, dict) and isinstance(value.get("targets"), list):
        return {**value, "targets": [_ordered(item) for item in value["targets"]]}
    if isinstance(value, list):
        return [_ordered(item) for item in value]
    return value


def format_yaml(text: str) -> str:
    """Return the YAML text in the form of this program, or unchanged where that could change its meaning."""
    before = YamlText(SourceText(text).normal)
    if before.is_broken:
        return text
    result = _spelled_safely(SourceText(text).normal.removeprefix("\ufeff"))
    result = _in_order(result)
    result = _clean_ends(result)
    after = YamlText(result)
    same = not after.is_broken and _same(before.values, after.values)
    return result if same else text


def _same(before: object, after: object) -> bool:
    # Order of fields is what changes here, so it must not count; types must (1 is not true, 1 is not 1.0).
    if type(before) is not type(after):
        return False
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_same(before[key], after[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_same, before, after))
    return before == after or (before != before and after != after)


def _spelled_safely(text: str) -> str:
    parsed = YamlText(text)
    edits = [(note.span, note.problem) for note in parsed.problems if note.problem.code == "yaml-1.1"]
    for (start, end), problem in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:start] + problem.suggestion + text[end:]
    return text


def _in_order(text: str) -> str:
    """Sort the top-level fields of each document that is a plain block mapping."""
    lines = text.splitlines(keepends=True)
    documents: list[list[str]] = [[]]
    for line in lines:
        if line.startswith(("---", "...", "%")):
            documents.append([line])
            documents.append([])
        else:
            documents[-1].append(line)
    return "".join(line for document in documents for line in _sorted_fields(document))


def _sorted_fields(lines: list[str]) -> list[str]:
    if lines and not lines[-1].endswith("\n"):
        lines = [*lines[:-1], lines[-1] + "\n"]
    blocks: list[tuple[str, list[str]]] = []
    above: list[str] = []
    for line in lines:
        found = _FIELD.match(line)
        if found:
            blocks.append((found[1], [*above, line]))
            above = []
        elif line.startswith("#"):
            above.append(line)
        elif not line.strip() or line[0] in " \t-":
            if above and blocks:
                blocks[-1][1].extend(above)
                above = []
            if not blocks:
                above.append(line)
            else:
                blocks[-1][1].append(line)
        else:
            return lines
    names = [name for name, _ in blocks]
    if "ocm" not in names or len(set(names)) != len(names) or not set(names) <= set(FIELDS):
        return lines
    ordered = sorted(blocks, key=lambda block: _ORDER[block[0]])
    if ordered == blocks:
        return lines
    head: list[str] = []
    first = blocks[0][1]
    # A comment at the very top speaks of the file, not of the field below it, when a blank line follows it.
    for index, line in enumerate(first):
        if not line.strip() and any(one.startswith("#") for one in first[:index]):
            head = first[: index + 1]
            del first[: index + 1]
            break
    return [*head, *(line for _, block in ordered for line in block), *above]


def _clean_ends(text: str) -> str:
    # Blanks at line ends are content inside block scalars: then the comparison afterwards keeps the text as it was.
    return "\n".join(line.rstrip(" \t") for line in text.split("\n")).rstrip("\n") + "\n"
