"""Markdown files with an optional YAML header: what SOUL.md, HEARTBEAT.md and SKILL.md have in common (formats §14).

Splits, reads the header as YAML only, decodes a field table and keeps every finding with its place. What the fields
mean, and the codes of each format, belong to its own module.
"""

import re
from collections.abc import Collection, Mapping

import msgspec

from compozy.documents.decoding import YAML, Decoder
from compozy.documents.fields import Kind, Table
from compozy.documents.frontmatter import split, tab_problems
from compozy.documents.guesses import Guess
from compozy.documents.mending import Attempts
from compozy.documents.problems import Fix, Problem, to_diagnostics
from compozy.documents.source import InvalidUtf8, SourceText
from compozy.documents.text import WHITE_SPACE
from compozy.documents.yaml_compose import YamlProblem
from compozy.documents.yaml_guesses import comment_warnings, guess_yaml
from compozy.documents.yaml_reader import YamlDocument
from compozy.model.diagnostic import Diagnostic, Position

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCED = re.compile(r"^ {0,3}(```+|~~~+)")
# One broken place may hide the next; more repairs than this in one header are no accident but another format.
_MAX_MENDS = 25
_NOT_WORD = re.compile(r"[^a-z0-9]+")


class Companion(msgspec.Struct, kw_only=True):
    """One file taken apart: `fields` as decoded (None without a readable header), `body` right-trimmed."""

    path: str
    source: SourceText
    header: str = ""
    header_start: int = 0
    body: str = ""
    body_start: int = 0
    document: YamlDocument | None = None
    problems: list[Problem] = []
    earlier: list[Diagnostic] = []
    """What was found before the header could be read."""

    @property
    def value(self) -> object:
        """The header's plain value; an absent or unreadable header counts as empty."""
        return self.document.value if self.document is not None else None

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every problem found so far, placed in the file."""
        return (*self.earlier, *to_diagnostics(self.problems, self.path, self.source, lambda: self.document))


def take_apart(
    data: bytes, path: str, *, malformed: str, header_required: bool, known: Collection[str] = ()
) -> Companion:
    """Decode and split a file; `malformed` is the code of everything that keeps the header from being read.

    A problem with a repair does not end the reading: it goes on as if the repair were made, so that one run finds
    everything. `known` are the field names a misspelt line may have meant.
    """
    try:
        found = Companion(path=path, source=SourceText.decode(data))
    except InvalidUtf8 as error:
        found = Companion(path=path, source=SourceText(data.decode("utf-8", "replace")))
        found.problems.append(Problem(code=malformed, message=f"{error}; save the file as UTF-8", span=(0, 0)))
        return found
    attempts = Attempts()
    for _ in range(_MAX_MENDS):
        problems = _read(found, malformed, header_required, known)
        if not problems:
            break
        mended = attempts.next(found.source, problems, found.earlier, path)
        if mended is None:
            return found
        found.source = mended
    document = found.document
    if document is not None:
        found.problems.extend(_as(malformed, document.duplicates))
        found.problems.extend(comment_warnings(document, found.header_start))
        if document.value is not None and not isinstance(document.value, dict):
            message = "the header must be a mapping of fields, `key: value`"
            end = found.header_start + len(found.header.rstrip())
            found.problems.append(Problem(code=malformed, message=message, span=(found.header_start, end)))
            found.document = None
    return found


def _read(found: Companion, malformed: str, header_required: bool, known: Collection[str]) -> list[Problem]:
    """Split the text and read its header; return what keeps the header from being read."""
    # A lone CR is a line break here, unlike in AGENT.md; the lengths stay the same.
    text = found.source.normal.replace("\r", "\n")
    parts, problems = split(text)
    if parts is None:
        if problems[0].code == "frontmatter-missing" and not header_required:
            found.body = text.rstrip(WHITE_SPACE)
            return []
        return _as(malformed, problems)
    base = parts.header_start
    found.header, found.header_start, found.body_start = parts.header, base, parts.body_start
    found.body = text[parts.body_start :].rstrip(WHITE_SPACE)
    problems = _as(malformed, tab_problems(parts))
    if problems:
        return problems
    try:
        found.document = YamlDocument(parts.header, base=base, first_line=2)
    except YamlProblem as error:
        start, end = error.span
        message = f"the header is not valid YAML: {error.message}"
        problem = Problem(code=malformed, message=message, span=(start + base, end + base))
        _explain(problem, guess_yaml(parts.header, error, known), base)
        return [problem]
    return []


def _explain(problem: Problem, guess: Guess | None, base: int) -> None:
    """Say what the author most likely meant, with the edit that writes it."""
    if guess is None:
        return
    problem.cause, problem.suggestion = guess.cause, guess.line
    problem.span = (guess.span[0] + base, guess.span[1] + base)
    if guess.edits:
        edits = tuple((start + base, end + base, text) for start, end, text in guess.edits)
        problem.fix = Fix(title=guess.title, kind="edits", edits=edits)


def _as(code: str, problems: list[Problem]) -> list[Problem]:
    for problem in problems:
        problem.code = code
    return problems


def decode_fields(
    found: Companion, table: Table, *, unknown: str, mismatch: str, forbidden: Mapping[str, str], forbidden_code: str
) -> dict[str, object]:
    """Decode the header by a table; the problems get the format's own codes.

    A single string stands for a list of one. Names in `forbidden` say where they belong instead.
    """
    value = found.value
    decoder = Decoder(YAML)
    decoded = decoder.table(table, _with_lists(table, value) if isinstance(value, dict) else {}, ())
    for problem in decoder.problems:
        if problem.code == "unknown-field":
            key = str(problem.path[-1])
            if key in forbidden:
                problem.code = forbidden_code
                problem.message = f"field {key!r} is not allowed here: {forbidden[key]}"
                problem.fix = None
            else:
                problem.code = unknown
        elif problem.code == "type-mismatch":
            problem.code = mismatch
    found.problems.extend(decoder.problems)
    return decoded


def _with_lists(table: Table, value: dict[str, object]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, item in value.items():
        field = table.fields.get(key)
        if field is not None and field.kind is Kind.TEXTS and isinstance(item, str | int | float | bool):
            item = [item]
        elif field is not None and field.table is not None and isinstance(item, dict):
            item = _with_lists(field.table, item)
        result[key] = item
    return result


def body_lines(found: Companion) -> list[tuple[str, int]]:
    """The body's lines with their offsets in the file's normalised text, code blocks left out."""
    lines: list[tuple[str, int]] = []
    fence = ""
    offset = found.body_start
    for line in found.body.split("\n"):
        marker = _FENCED.match(line)
        if marker and (not fence or (marker.group(1).startswith(fence) and line.strip() == marker.group(1))):
            fence = "" if fence else marker.group(1)
        elif not fence and not marker:
            lines.append((line, offset))
        offset += len(line) + 1
    return lines


def heading_problems(found: Companion, owners: Mapping[str, str], code: str) -> list[Problem]:
    """Headings that name something another file owns."""
    problems = []
    for line, offset in body_lines(found):
        match = _HEADING.match(line)
        if match is None:
            continue
        name = _NOT_WORD.sub("_", match.group(1).lower()).strip("_")
        if name in owners:
            message = f"the section {match.group(1)!r} does not belong here: {owners[name]}"
            problems.append(Problem(code=code, message=message, span=(offset, offset + len(line))))
    return problems


def size_problems(found: Companion, limit: int, *, header: str, body: str) -> list[Problem]:
    """Header and body above the limit of bytes each."""
    problems = []
    for text, code, what, start in (
        (found.header, header, "header", found.header_start),
        (found.body, body, "body", found.body_start),
    ):
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > limit:
            message = f"the {what} has {size} bytes, the limit is {limit}; shorten it"
            problems.append(Problem(code=code, message=message, span=(start, start)))
    return problems


def start_of_file() -> Position:
    """The place of a problem of the file as a whole."""
    return Position(line=1, column=1)
