"""Splitting AGENT.md into header and body: fences, CRLF, byte-order mark, tab guard (formats §2, §3.1).

Line based on purpose: a fence inside a block scalar or a TOML string ends the header too. Knows nothing of YAML or
TOML, and nothing of fields.
"""

import re

import msgspec

from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.problems import Fix, Problem
from compozy.documents.text import trim

FENCE = "---"
BOM = "\ufeff"
_TAB_INDENT = "  "
_FENCE_LIKE = re.compile(r"^[ \t]*-{3,}[ \t]*$|^---[ \t]*(?:ya?ml|toml)[ \t]*$", re.IGNORECASE)


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """Header text with its offset in the normalised text, and where the body begins."""

    header: str
    header_start: int
    body_start: int


def split(text: str) -> tuple[Split | None, list[Problem]]:
    """Split normalised text at its fences; on failure return the one problem that hides all others."""
    if text.startswith(BOM):
        fix = Fix(title="remove the byte-order mark", kind="edits", edits=((0, 1, ""),))
        problem = Problem(code="frontmatter-bom", message="config: UTF-8 BOM before YAML frontmatter", span=(0, 1))
        problem.fix = fix
        return None, [problem]
    if not (text.startswith(FENCE + "\n") or text == FENCE):
        return None, [_missing(text)]
    start = len(FENCE) + 1
    end = start if text.startswith(FENCE + "\n", start) or text[start:] == FENCE else _closing_fence(text, start)
    if end < 0:
        return None, [_unterminated(text, start)]
    return Split(header=text[start:end], header_start=start, body_start=min(end + len(FENCE) + 1, len(text))), []


def _closing_fence(text: str, start: int) -> int:
    """Offset of the first later line that is exactly the fence, or -1."""
    at = text.find("\n" + FENCE + "\n", start - 1 if start else 0)
    if at >= 0:
        return at + 1
    if len(text) > start and text.endswith("\n" + FENCE):
        return len(text) - len(FENCE)
    return -1


def body_of(text: str, found: Split) -> str:
    """The prompt: everything after the closing fence, trimmed at both ends."""
    return trim(text[found.body_start :])


def tab_problems(found: Split) -> list[Problem]:
    """Lines with a tab before their first colon (formats §3.1); a tab around the key can be mended."""
    if "\t" not in found.header:
        return []
    problems = []
    offset = found.header_start
    for line in found.header.split("\n"):
        stripped = trim(line)
        key, colon, _ = line.partition(":")
        if stripped and not stripped.startswith("#") and colon and "\t" in key:
            at = offset + key.index("\t")
            problem = Problem(
                code="frontmatter-invalid-key",
                message="config: invalid YAML frontmatter key: a tab stands before the first `:` of the line",
                span=(at, at + 1),
            )
            problem.fix = _spaces_for_tabs(key, offset)
            problems.append(problem)
            if len(problems) > MAX_PROBLEMS:
                break
        offset += len(line) + 1
    return problems


def _spaces_for_tabs(key: str, offset: int) -> Fix | None:
    """Mend tabs before a key and between it and its colon; one inside of it is nobody's to take out."""
    begin = len(key) - len(key.lstrip(" \t"))
    end = max(begin, len(key.rstrip(" \t")))
    if "\t" in key[begin:end]:
        return None
    places = [(0, begin, key[:begin].replace("\t", _TAB_INDENT)), (end, len(key), key[end:].replace("\t", " "))]
    edits = tuple((offset + at, offset + to, new) for at, to, new in places if new != key[at:to])
    title = "indent with spaces" if "\t" in key[:begin] else "put a space in place of the tab"
    return Fix(title=title, kind="edits", edits=edits)


def _missing(text: str) -> Problem:
    message = "config: missing YAML frontmatter"
    problem = Problem(code="frontmatter-missing", message=message, span=(0, max(text.find("\n"), 0)))
    lines = text.split("\n", 200)[:200]
    number = next((i for i, line in enumerate(lines) if _FENCE_LIKE.match(line)), None)
    if number is None:
        return problem
    start = sum(len(line) + 1 for line in lines[:number])
    found = lines[number]
    if number == 0:
        problem.message = f"{message}: the first line must be exactly `---`, found {found!r}"
        edits: tuple[tuple[int, int, str], ...] = ((start, start + len(found), FENCE),)
        problem.fix = Fix(title="write the fence as `---`", kind="edits", edits=edits)
        return problem
    problem.message = f"{message}: found a fence on line {number + 1}; it must be the first line"
    if not "".join(lines[:number]).strip():
        edits = ((0, start, ""),) if found == FENCE else ((0, start + len(found), FENCE),)
        problem.fix = Fix(title="remove the blank lines before the fence", kind="edits", edits=edits)
    return problem


def _unterminated(text: str, start: int) -> Problem:
    message = "config: unterminated YAML frontmatter"
    problem = Problem(code="frontmatter-unterminated", message=message, span=(0, len(FENCE)))
    offset = start
    for number, line in enumerate(text[start:].split("\n", 2000)[:2000], 2):
        if _FENCE_LIKE.match(line):
            problem.message = f"{message}: line {number} must be exactly `---`, found {line!r}"
            problem.span = (offset, offset + len(line))
            edits = ((offset, offset + len(line), FENCE),)
            problem.fix = Fix(title="write the closing fence as `---`", kind="edits", edits=edits)
            return problem
        offset += len(line) + 1
    problem.message = f"{message}: no line that is exactly `---` closes the header"
    return problem
