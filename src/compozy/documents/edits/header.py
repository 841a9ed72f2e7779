"""Change fields of a YAML or TOML header, or the body below it, and keep every other byte (decisions D3).

Works on the file's own text: CRLF, a byte-order mark and mixed line endings stay where they are. Knows which
languages a header may be written in, and nothing of what its fields mean.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

import rtoml

from compozy.documents.edits.nodes import (
    CannotEdit,
    EditRefused,
    EditResult,
    Node,
    apply_edits,
    change_paths,
    fingerprint,
    line_break,
    plain,
    to_data,
)
from compozy.documents.edits.splice import Splicer
from compozy.documents.edits.toml_splice import read_toml, set_toml
from compozy.documents.edits.yaml_block import change_block
from compozy.documents.edits.yaml_nodes import locate_yaml
from compozy.documents.edits.yaml_text import YamlDialect, block_lines, yaml_data
from compozy.documents.text import fold, trim
from compozy.documents.yaml_scalars import resolve_plain, text_of

Changes = Mapping[str | tuple[str | int, ...], object]
# The order of the canonical form (formats §11.2): where a new field goes.
AGENT_FIELD_ORDER = (
    "name", "provider", "command", "model", "reasoning_effort", "tools", "toolsets", "deny_tools", "permissions",
    "skills", "category_path", "mcp_servers", "hooks",
)  # fmt: skip
# Lists in which a later duplicate says nothing (formats §4.1).
_DEDUPED = frozenset({"tools", "toolsets", "deny_tools"})
_FENCE = re.compile(r"---\r?(?:\n|\Z)")
_FENCE_LINE = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_LOOSE_FENCE = re.compile(r"^\s*---\s*$")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*|<<")
# Longer middles are replaced as a whole: comparing them line by line would take quadratic time.
_MAX_COMPARED_LINES = 2_000


class Parts:
    """Where header and body of a file lie, in offsets of its own text.

    Raises:
        EditRefused: the text does not begin with a header.
    """

    __slots__ = ("body", "end", "start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        begin = 1 if text.startswith("\ufeff") else 0
        opening = _FENCE.match(text, begin)
        if opening is None or not opening.group().endswith("\n"):
            raise EditRefused(_where_a_header_hides(text[begin:]))
        closing = _FENCE_LINE.search(text, opening.end())
        if closing is None:
            raise EditRefused("the header has no closing `---` line; add one, then edit again")
        self.start, self.end, self.body = opening.end(), closing.start(), closing.end()

    @property
    def header(self) -> str:
        return self.text[self.start : self.end]

    def is_toml(self) -> bool:
        """Whether the header is TOML: YAML comes first, unless its keys are no field names and TOML reads it."""
        try:
            root = locate_yaml(self.text, self.start, self.end, str)
        except CannotEdit:
            root = None
            if not trim(self.header):
                return False
        else:
            if root is None or all(_PLAIN_NAME.fullmatch(pair.name) for pair in root.pairs):
                return False
        try:
            rtoml.loads(self.header)
        except (rtoml.TomlParsingError, ValueError):
            return False
        return True


def _where_a_header_hides(text: str) -> str:
    for number, line in enumerate(text.split("\n", 50)[:50], 1):
        if _LOOSE_FENCE.match(line):
            return (
                f"header not recognised at line {number}: `---` must stand alone on line 1; "
                "run `compozy agent check --fix` first"
            )
    return "the file has no header between `---` lines; run `compozy agent check` to see what is wrong"


def edit_frontmatter(
    text: str,
    changes: Changes,
    *,
    order: Sequence[str] = AGENT_FIELD_ORDER,
    canonical: Callable[[], str] | None = None,
    keep_empty: bool = False,
) -> EditResult:
    """Set or remove header fields; the body and every line that is not concerned keep their bytes.

    Args:
        text: the whole file.
        changes: new values by field name or path of keys and indexes; None removes. A value that already reads the
            same is left alone.
        order: where new fields go, relative to the existing ones.
        canonical: gives the whole new text when the change cannot be made in place (aliases, merge keys).
        keep_empty: write empty text, lists and mappings instead of removing the field.

    Raises:
        EditRefused: there is no header to edit, or it cannot be edited in place and there is no canonical form.
    """
    parts = Parts(text)
    try:
        if parts.is_toml():
            return EditResult(text=_edit_toml_header(parts, changes, order, keep_empty))
        return EditResult(text=_edit_yaml_header(parts, changes, order, keep_empty))
    except CannotEdit as reason:
        if canonical is None:
            raise EditRefused(f"the header cannot be edited in place: {reason}; edit it by hand") from reason
        return EditResult(text=canonical(), in_place=False, note=f"written in the canonical form: {reason}")


def _edit_toml_header(parts: Parts, changes: Changes, order: Sequence[str], keep_empty: bool) -> str:
    old = read_toml(parts.header)
    wanted = _changed(old, changes, keep_empty, ignore_case=True)
    return set_toml(parts.text, parts.start, parts.end, wanted, order)


def _edit_yaml_header(parts: Parts, changes: Changes, order: Sequence[str], keep_empty: bool) -> str:
    root = _yaml_root(parts.text, parts.start, parts.end)
    old = to_data(root) if root is not None else {}
    assert isinstance(old, dict)
    wanted = yaml_data(_changed(old, changes, keep_empty, ignore_case=False))
    assert isinstance(wanted, dict)
    typed = _typed(wanted, changes, old)
    if root is None:
        newline = line_break(parts.text, 0)
        block = "".join(line + newline for line in block_lines(typed, ""))
        result = parts.text[: parts.end] + block + parts.text[parts.end :]
    else:
        splicer = Splicer(parts.text, YamlDialect(), order=order, block=change_block)
        splicer.update(root, typed)
        result = apply_edits(parts.text, splicer.edits)
    _verify(result, parts, wanted)
    return result


def _yaml_root(text: str, start: int, end: int) -> Node | None:
    return locate_yaml(text, start, end, lambda scalar: text_of(resolve_plain(scalar)))


def _verify(result: str, parts: Parts, wanted: object) -> None:
    after = Parts(result)
    root = _yaml_root(result, after.start, after.end)
    data = to_data(root) if root is not None else {}
    if fingerprint(data) != fingerprint(wanted) or result[after.body :] != parts.text[parts.body :]:
        raise CannotEdit("the header would not read as asked after the edit")


def _typed(wanted: dict[str, object], changes: Changes, old: dict[str, object]) -> dict[str, object]:
    """Return the wanted data with booleans and numbers as they were given, so that they are written bare."""
    typed = change_paths(wanted, {path: value for path, value in changes.items() if value is not None})
    return {name: typed[name] if old.get(name) != wanted[name] else wanted[name] for name in wanted}


def _changed(old: dict[str, object], changes: Changes, keep_empty: bool, *, ignore_case: bool) -> dict[str, object]:
    real: dict[str | tuple[str | int, ...], object] = {}
    for path, value in changes.items():
        steps = (path,) if isinstance(path, str) else tuple(path)
        if ignore_case:
            steps = spelled_as_in(old, steps)
        if _reads_the_same(_at(old, steps), plain(value), str(steps[-1])):
            continue
        empty = value in ("", None) or (isinstance(value, list | tuple | Mapping) and not value)
        real[steps] = None if empty and not keep_empty else value
    return change_paths(old, real)


def spelled_as_in(data: object, steps: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the path with its keys as the file spells them, where names match ignoring case."""
    found: list[str | int] = []
    for step in steps:
        if isinstance(data, dict) and isinstance(step, str) and step not in data:
            step = next((key for key in data if fold(key) == fold(step)), step)
        found.append(step)
        data = _at(data, (step,))
    return tuple(found)


def _at(data: object, steps: tuple[str | int, ...]) -> object:
    for step in steps:
        if isinstance(data, dict) and isinstance(step, str):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
            data = data[step]
        else:
            return None
    return data


def _reads_the_same(old: object, new: object, name: str) -> bool:
    """Whether a field already has the value, as the loader normalises it (formats §4.1)."""
    if isinstance(old, str) and isinstance(new, str):
        return trim(old).replace("\r\n", "\n") == trim(new).replace("\r\n", "\n")
    if isinstance(old, list) and isinstance(new, list):
        left = [trim(one) if isinstance(one, str) else one for one in old]
        right = [trim(one) if isinstance(one, str) else one for one in new]
        if name in _DEDUPED and all(isinstance(one, str) for one in left + right):
            left, right = list(dict.fromkeys(left)), list(dict.fromkeys(right))
        return fingerprint(left) == fingerprint(right)
    return old is not None and fingerprint(old) == fingerprint(new)


def replace_body(text: str, body: str) -> str:
    """Put a new prompt below the header; lines that stay keep their endings, as do the blanks around the prompt.

    Raises:
        EditRefused: the text does not begin with a header.
    """
    parts = Parts(text)
    old = text[parts.body :]
    prompt = trim(old)
    if prompt.replace("\r\n", "\n") == trim(body).replace("\r\n", "\n"):
        return text
    start = parts.body + (old.index(prompt) if prompt else len(old))
    tail = text[start + len(prompt) :]
    newline = line_break(text, 0)
    lead = "" if prompt or text[parts.body - 1] != "\n" else ("" if old else newline)
    if text[parts.body - 1] != "\n":
        lead = newline
    new = _merged_lines(prompt, trim(body).replace("\r\n", "\n"), newline)
    return text[:start] + lead + new + (tail if prompt else newline)


def _merged_lines(old: str, new: str, newline: str) -> str:
    """Return the new lines, each unchanged one with the ending it had."""
    old_lines = old.split("\n")
    new_lines = new.split("\n")
    bare = [line.removesuffix("\r") for line in old_lines]
    endings = ["\r\n" if line.endswith("\r") else "\n" for line in old_lines]
    endings[-1] = newline
    result = [newline] * len(new_lines)
    if max(len(bare), len(new_lines)) <= _MAX_COMPARED_LINES:
        for block in SequenceMatcher(None, bare, new_lines, autojunk=False).get_matching_blocks():
            result[block.b : block.b + block.size] = endings[block.a : block.a + block.size]
    return "".join(line + ending for line, ending in zip(new_lines[:-1], result, strict=False)) + new_lines[-1]
