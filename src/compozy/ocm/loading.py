"""Loading manifests and native entries from files, all problems of all files at once (OCM §3; decisions O6, P28).

A single manifest, a catalogue (a list, or a mapping with `targets`) in file order, streams, folders, globs. One bad
entry never hides another. What a manifest may say is for `validate`.
"""

import gc
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.problems import Path
from compozy.documents.source import SourceText
from compozy.model.diagnostic import Severity
from compozy.ocm.entries import CatalogueError, Entry, Loaded, line_of
from compozy.ocm.native import from_native, validate_native
from compozy.ocm.places import span_of_field
from compozy.ocm.problems import Problem, TextProblem
from compozy.ocm.sources import STDIN, STDIN_NAME, YAML_SUFFIXES, Source, find_sources, is_yaml, read_text
from compozy.ocm.target import Target, from_manifest
from compozy.ocm.validate import validate
from compozy.ocm.yaml_text import YamlText

if TYPE_CHECKING:
    from compozy.ocm.json_text import JsonText

Check = Callable[[object], list[Problem]]
# The entry of a catalogue that a field path leads into.
_ENTRY = re.compile(r"(?:targets)?\[[0-9]+\]")
_KEY_CODES = frozenset(("unknown-field", "unknown-endpoint-key", "merge-key"))


def load(paths: Iterable[str | os.PathLike[str]], *, stdin: bytes | None = None) -> list[Entry]:
    """Load every entry at the given paths, in file order.

    Raises:
        CatalogueError: with all problems of all files.
    """
    found = read(paths, stdin=stdin, folders_hold_single=True)
    problems = found.all_problems()
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise CatalogueError(problems)
    return found.entries


def load_targets(paths: Iterable[str | os.PathLike[str]], *, stdin: bytes | None = None) -> list[Target]:
    """Load every entry as a target of the selector.

    Raises:
        CatalogueError: with all problems of all files.
    """
    return [target_of(entry) for entry in load(paths, stdin=stdin)]


def target_of(entry: Entry) -> Target:
    """Convert one valid entry."""
    document = entry.document
    assert isinstance(document, Mapping)
    convert = from_native if entry.is_native else from_manifest
    return convert(document, source=entry.place)


def read(
    paths: Iterable[str | os.PathLike[str]],
    *,
    stdin: bytes | None = None,
    folders_hold_single: bool = False,
    advise: Check | None = None,
) -> Loaded:
    """Read everything at the given paths ("-" is `stdin`) and report what is wrong; never raises for content.

    `folders_hold_single`: a catalogue under the name of a manifest inside a folder is an error, as when loading.
    `advise`: what else to look for in each manifest.
    """
    # Thousands of small values without one cycle: looking for garbage among them would cost as much as reading.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return _read(paths, stdin, folders_hold_single, advise)
    finally:
        if was_collecting:
            gc.enable()


def _read(
    paths: Iterable[str | os.PathLike[str]], stdin: bytes | None, folders_hold_single: bool, advise: Check | None
) -> Loaded:
    loaded = Loaded()
    for source in find_sources(os.fspath(path) for path in paths):
        if isinstance(source, Problem):
            loaded.problems.append(source)
            continue
        loaded.files += 1
        loaded.order[STDIN_NAME if source.path == STDIN else source.path] = len(loaded.order)
        text = read_text(source.path, stdin)
        if isinstance(text, Problem):
            loaded.problems.append(text)
        else:
            _read_file(loaded, source, text, single=folders_hold_single and source.in_folder, advise=advise)
    _find_duplicates(loaded)
    return loaded


def read_document(text: str, name: str = STDIN_NAME) -> Loaded:
    """Read one text as a file of that name would be read; for programs and editors."""
    loaded = Loaded(files=1)
    _read_file(loaded, Source(path=name), SourceText(text), single=False)
    _find_duplicates(loaded)
    return loaded


class _File:
    """One text being read: where its entries go, and where things lie in it."""

    def __init__(
        self, loaded: Loaded, path: str, source: SourceText, text: "YamlText | JsonText", advise: "Check | None"
    ) -> None:
        self.advise = advise
        self.loaded = loaded
        self.path = path
        self.source = source
        self.text = text
        self.errors = 0
        self._notes: dict[int, list[TextProblem]] = defaultdict(list)
        for note in text.problems:
            self._notes[note.document].append(note)
        self._of_entries: dict[int, dict[str, list[TextProblem]]] = {}

    def placed(self, problem: Problem, value: object, base: Path) -> Problem:
        span = span_of_field(value, problem.field, base, self.text, of_key=problem.code in _KEY_CODES)
        return self.at(problem, span)

    def at(self, problem: Problem, span: tuple[int, int] | None) -> Problem:
        self.loaded.texts.setdefault(self.path, self.source.text)
        position = None
        if span is not None:
            position = self.source.position(self.source.to_file(span[0]), self.source.to_file(span[1]))
        return msgspec.structs.replace(problem, path=self.path, position=position)

    def refuse(self, code: str, message: str, base: Path = ()) -> None:
        self.errors += 1
        problem = Problem(code=code, field="", message=message)
        self.loaded.problems.append(self.at(problem, self.text.value_span(base) if base else (0, 0)))

    def add(self, value: object, base: Path, *, is_native: bool = False, prefix: str = "") -> None:
        """Judge one entry; problems of the text inside it count as its own."""
        span = self.text.value_span(base)
        found = validate_native(value) if is_native else validate(value)
        if self.advise is not None and not is_native:
            found = [*found, *self.advise(value)]
        problems = [self.placed(problem, value, base) for problem in found]
        for note in self._take_notes(base[0], prefix):
            field = note.problem.field.removeprefix(prefix).removeprefix(".")
            problems.append(self.at(msgspec.structs.replace(note.problem, field=field), note.span))
        position = None
        if span is not None:
            position = self.source.position(self.source.to_file(span[0]))
        problems.sort(key=line_of)
        self.errors += sum(problem.severity is Severity.ERROR for problem in problems)
        self.loaded.entries.append(
            Entry(document=value, path=self.path, position=position, is_native=is_native, problems=tuple(problems))
        )

    @property
    def is_hopeless(self) -> bool:
        """Whether more is wrong than helps anybody; what comes after it is not judged."""
        return self.errors >= MAX_PROBLEMS

    def give_up(self, base: Path) -> None:
        message = f"more than {MAX_PROBLEMS} problems in this file; what follows is not judged"
        self.refuse("too-large", message, base)

    def left_notes(self) -> list[TextProblem]:
        """The problems of the text that lie in no entry."""
        of_entries = (notes for entries in self._of_entries.values() for notes in entries.values())
        return [note for notes in (*self._notes.values(), *of_entries) for note in notes]

    def _take_notes(self, document: object, prefix: str) -> list[TextProblem]:
        if not self._notes and not self._of_entries:
            return []
        assert isinstance(document, int), "paths begin with the document's number"
        if not prefix:
            return [*self._notes.pop(document, ()), *self._notes.pop(-1, ())]
        if document not in self._of_entries:
            entries: dict[str, list[TextProblem]] = defaultdict(list)
            for note in self._notes.pop(document, ()):
                found = _ENTRY.match(note.problem.field)
                entries[found.group() if found else ""].append(note)
            self._of_entries[document] = entries
        return self._of_entries[document].pop(prefix, [])


def _read_file(
    loaded: Loaded, source: Source, text: SourceText, *, single: bool, advise: Check | None = None
) -> None:
    path = STDIN_NAME if source.path == STDIN else source.path
    reads_yaml = is_yaml(source.path, text.normal)
    parsed = YamlText(text.normal) if reads_yaml else _json(text.normal)
    file = _File(loaded, path, text, parsed, advise)
    for index, value in enumerate(parsed.values):
        if file.is_hopeless:
            file.give_up((index,))
            break
        _read_value(file, value, (index,), single=single)
    left = file.left_notes()
    if parsed.is_broken and not reads_yaml and source.path != STDIN and not path.lower().endswith(".json"):
        left = [_hint_at_yaml(note) for note in left]
    loaded.problems.extend(file.at(note.problem, note.span) for note in left)


def _hint_at_yaml(note: TextProblem) -> TextProblem:
    problem = note.problem
    told = f"{problem.message}; files are read as YAML when they end in {' or '.join(YAML_SUFFIXES)}"
    return msgspec.structs.replace(note, problem=msgspec.structs.replace(problem, message=told))


def _json(text: str) -> "JsonText":
    from compozy.ocm.json_text import JsonText  # noqa: PLC0415 - start-up cost

    return JsonText(text)


def _read_value(file: _File, value: object, base: Path, *, single: bool) -> None:
    if isinstance(value, Mapping) and _is_meant_as_manifest(value):
        file.add(value, base)
        return
    if value is None:
        file.refuse("no-manifest", "the file is empty; write a manifest into it", base)
        return
    if single:
        message = "not a manifest: the field 'ocm' is missing; a list of capabilities belongs into a file of its own"
        file.refuse("catalogue-in-folder", message, base)
        return
    prefix = ""
    entries = value
    if isinstance(value, Mapping):
        entries = value.get("targets")
        base, prefix = (*base, "targets"), "targets"
    if not isinstance(entries, list):
        message = "neither a manifest (no field 'ocm') nor a catalogue (a list, or a list under 'targets')"
        file.refuse("no-manifest", message, base[:1])
        return
    for index, entry in enumerate(entries):
        if file.is_hopeless:
            file.give_up((*base, index))
            break
        is_native = isinstance(entry, Mapping) and "ocm" not in entry
        file.add(entry, (*base, index), is_native=is_native, prefix=f"{prefix}[{index}]")


def _is_meant_as_manifest(value: Mapping[object, object]) -> bool:
    """Whether a mapping is judged as one manifest: so that one whose version is missing or misspelled is told so."""
    return "ocm" in value or ("targets" not in value and (not value or "id" in value or "OCM" in value))


def _find_duplicates(loaded: Loaded) -> None:
    first: dict[str, Entry] = {}
    for index, entry in enumerate(loaded.entries):
        identity = entry.id
        if identity is None:
            continue
        if identity not in first:
            first[identity] = entry
            continue
        message = f"the id {identity[:80]!r} is already used at {first[identity].place}; ids name one capability each"
        problem = Problem(code="duplicate-id", field="id", message=message, path=entry.path, position=entry.position)
        loaded.entries[index] = msgspec.structs.replace(entry, problems=(*entry.problems, problem))
