"""Capability records: normalising, the checks in their fixed order, and whole texts (formats §9.3).

One text holds a catalog or, in folder mode, one bare record. Layouts and folders belong to `capabilities`.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import msgspec

from compozy.documents.decoding import JSON, TOML, Decoder, rows_in, text_in, texts_in
from compozy.documents.digests import capability_digest
from compozy.documents.fields import CAPABILITY, CAPABILITY_CATALOG, Table
from compozy.documents.json_document import JsonDocument
from compozy.documents.limits import MAX_CAPABILITIES
from compozy.documents.mending import Attempts
from compozy.documents.problems import Fix, Locator, Path, Problem, has_errors, to_diagnostics
from compozy.documents.source import SourceText
from compozy.documents.text import shown, shown_path, trim
from compozy.documents.toml_guesses import guess_toml
from compozy.documents.toml_places import TomlPlaces
from compozy.documents.toml_reader import TomlProblem, read_toml
from compozy.model.capability import Capability
from compozy.model.diagnostic import Diagnostic

FileFormat = Literal["toml", "json"]
# What a list of agents can show on one line (decisions D5); advice, not a rule.
SUMMARY_TARGET = 160
_SLUG = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_LISTS = ("context_needed", "artifacts_expected", "execution_outline", "constraints", "examples")
_MAX_MENDS = 25
# Each repair reads the text again, so large ones get fewer.
_MENDABLE = 200_000
_FEW_MENDS = 3


class CapabilitiesOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The capabilities of one text when nothing is wrong, and every finding."""

    capabilities: tuple[Capability, ...] | None
    diagnostics: tuple[Diagnostic, ...]


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    fields: dict[str, object]
    problems: list[Problem]
    failed: set[Path]
    locate: Callable[[], Locator]
    source: SourceText
    earlier: tuple[Diagnostic, ...]


def read_catalog(source: SourceText, path: str, file_format: FileFormat) -> CapabilitiesOutcome:
    """Read capabilities.toml or capabilities.json."""
    read = _decode(source, path, file_format, CAPABILITY_CATALOG)
    if isinstance(read, CapabilitiesOutcome):
        return read
    problems = list(read.problems)
    rows = rows_in(read.fields, "capabilities")
    records: list[Capability] = []
    if len(rows) > MAX_CAPABILITIES:
        message = f"the catalog lists {len(rows)} capabilities; the limit is {MAX_CAPABILITIES}"
        problems.append(Problem(code="list-too-long", message=message, path=("capabilities",), part="key"))
        rows = []
    seen: dict[str, int] = {}
    for i, row in enumerate(rows):
        at: Path = ("capabilities", i)
        record, found = _record(row, at, f"capabilities[{i}]", read.failed)
        problems += found
        if record.id and record.id in seen:
            message = f"duplicate capability id {shown(record.id)} at indexes {seen[record.id]} and {i}"
            problems.append(Problem(code="capability-duplicate-id", message=message, path=(*at, "id")))
        seen.setdefault(record.id, i)
        records.append(record)
    return _finish(read, path, problems, records)


def read_record(source: SourceText, path: str, file_format: FileFormat, stem: str) -> CapabilitiesOutcome:
    """Read one file of a `capabilities/` folder: a bare record whose id is the file's stem."""
    read = _decode(source, path, file_format, CAPABILITY)
    if isinstance(read, CapabilitiesOutcome):
        return read
    where = f"config: validate capability {shown_path(path)}"
    record, found = _record(read.fields, (), where, read.failed, stem=trim(stem))
    return _finish(read, path, read.problems + found, [record])


def _finish(read: _Read, path: str, problems: list[Problem], records: list[Capability]) -> CapabilitiesOutcome:
    found = read.earlier + to_diagnostics(problems, path, read.source, read.locate)
    if has_errors(found):
        return CapabilitiesOutcome(capabilities=None, diagnostics=found)
    return CapabilitiesOutcome(capabilities=tuple(records), diagnostics=found)


def _decode(source: SourceText, path: str, file_format: FileFormat, table: Table) -> _Read | CapabilitiesOutcome:
    return _decode_json(source, path, table) if file_format == "json" else _decode_toml(source, path, table)


def _decode_json(source: SourceText, path: str, table: Table) -> _Read | CapabilitiesOutcome:
    document = JsonDocument(source.normal, f"decode capability JSON {shown_path(path)}")
    if document.broken:
        found = to_diagnostics(document.problems, path, source, document.places)
        return CapabilitiesOutcome(capabilities=None, diagnostics=found)
    decoder = Decoder(JSON)
    fields = decoder.table(table, document.value, ())
    _name_file(decoder.problems, path, table)
    return _Read(
        fields=fields,
        problems=document.problems + decoder.problems,
        failed=decoder.failed,
        locate=document.places,
        source=source,
        earlier=(),
    )


def _decode_toml(source: SourceText, path: str, table: Table) -> _Read | CapabilitiesOutcome:
    earlier: list[Diagnostic] = []
    attempts = Attempts()
    for _ in range(_MAX_MENDS if len(source.normal) < _MENDABLE else _FEW_MENDS):
        try:
            value = read_toml(source.normal)
        except TomlProblem as error:
            problem = _toml_problem(source.normal, error, path)
            mended = attempts.next(source, [problem], earlier, path)
            if mended is None:
                break
            source = mended
            continue
        decoder = Decoder(TOML)
        fields = decoder.table(table, value, ())
        _name_file(decoder.problems, path, table)
        return _Read(
            fields=fields,
            problems=decoder.problems,
            failed=decoder.failed,
            locate=partial(TomlPlaces, source.normal),
            source=source,
            earlier=tuple(earlier),
        )
    return CapabilitiesOutcome(capabilities=None, diagnostics=tuple(earlier))


def _toml_problem(text: str, error: TomlProblem, path: str) -> Problem:
    message = f"decode capability TOML {shown_path(path)}: {error.message}"
    problem = Problem(code=error.code, message=message, span=error.span)
    guess = guess_toml(text, error)
    if guess is not None:
        problem.cause, problem.suggestion, problem.span = guess.cause, guess.line, guess.span
        if guess.edits:
            problem.fix = Fix(title=guess.title, kind="edits", edits=guess.edits)
    return problem


def _name_file(problems: list[Problem], path: str, table: Table) -> None:
    """In folder mode every message names its file, because the catalog has many."""
    if table is CAPABILITY:
        for problem in problems:
            problem.message = f"config: validate capability {shown_path(path)}: {problem.message}"


def _record(
    fields: Mapping[str, object], at: Path, where: str, failed: set[Path], *, stem: str | None = None
) -> tuple[Capability, list[Problem]]:
    """Normalise and check one record; `stem` is the file's in folder mode."""
    joint = "." if stem is None else ": "
    problems: list[Problem] = []
    texts = {name: trim(text_in(fields, name)) for name in ("id", "summary", "outcome")}
    for name, text in texts.items():
        if not text and (*at, name) not in failed:
            message = f"{where}{joint}{name} is required"
            problems.append(Problem(code=f"capability-{name}-required", message=message, path=(*at, name)))
    identity = texts["id"]
    if stem is not None and identity and stem != identity:
        message = f"{where}: file basename {shown(stem)} must equal the id {shown(identity)}"
        fix = Fix(title=f"set the id to {stem}", kind="set_value", text=stem)
        problems.append(
            Problem(code="capability-basename-mismatch", message=message, path=(*at, "id"), suggestion=stem, fix=fix)
        )
    version = text_in(fields, "version")
    if version and not trim(version):
        message = f"{where}{joint}version must not be blank; remove it or fill it in"
        fix = Fix(title="remove the blank version", kind="drop")
        problems.append(Problem(code="capability-version-blank", message=message, path=(*at, "version"), fix=fix))
    requirements, found = _requirements(texts_in(fields, "requirements"), (*at, "requirements"), where, joint, failed)
    problems += found
    problems += _advice(texts, at, where, joint)
    lists = {name: tuple(filter(None, map(trim, texts_in(fields, name)))) for name in _LISTS}
    record = Capability(
        id=identity,
        summary=texts["summary"],
        outcome=texts["outcome"],
        version=trim(version),
        context_needed=lists["context_needed"],
        artifacts_expected=lists["artifacts_expected"],
        execution_outline=lists["execution_outline"],
        constraints=lists["constraints"],
        examples=lists["examples"],
        requirements=requirements,
    )
    if all(problem.code in _ADVICE for problem in problems):
        record = msgspec.structs.replace(record, digest=capability_digest(record))
    return record, problems


def _requirements(
    values: tuple[str, ...], at: Path, where: str, joint: str, failed: set[Path]
) -> tuple[tuple[str, ...], list[Problem]]:
    problems = []
    seen: dict[str, int] = {}
    for i, value in enumerate(map(trim, values)):
        if (*at, i) in failed:
            continue
        if not value:
            message = f"{where}{joint}requirements[{i}] is required; remove the blank entry"
            problems.append(Problem(code="requirement-required", message=message, path=(*at, i)))
        elif value in seen:
            message = f"{where}{joint}requirements duplicate value {shown(value)}"
            problems.append(Problem(code="requirement-duplicate", message=message, path=(*at, i)))
        seen.setdefault(value, i)
    return tuple(sorted(seen, key=str.encode)), problems


_ADVICE = ("capability-summary-long", "capability-summary-multiline", "capability-id-style")


def _advice(texts: Mapping[str, str], at: Path, where: str, joint: str) -> list[Problem]:
    """Warnings about what loads but serves people badly (decisions D5)."""
    problems = []
    summary, identity = texts["summary"], texts["id"]
    if len(summary) > SUMMARY_TARGET:
        message = f"{where}{joint}summary has {len(summary)} characters; lists show {SUMMARY_TARGET}"
        problems.append(Problem(code="capability-summary-long", message=message, path=(*at, "summary")))
    if "\n" in summary:
        message = f"{where}{joint}summary has more than one line; lists show one"
        problems.append(Problem(code="capability-summary-multiline", message=message, path=(*at, "summary")))
    if identity and not _SLUG.fullmatch(identity):
        message = f"{where}{joint}id {shown(identity)} is no slug (lower-case words joined by -, _ or .)"
        problems.append(Problem(code="capability-id-style", message=message, path=(*at, "id")))
    return problems
