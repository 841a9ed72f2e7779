"""AGENT.md to a definition: header, prompt, and every check in its fixed order (formats §3.2, §4).

Works on one text; sidecars, digests and folders belong to `agents`.
"""

import msgspec

from compozy.documents import frontmatter
from compozy.documents.agent_checks import check_agent_fields
from compozy.documents.decoding import TOML, YAML, Decoder
from compozy.documents.fields import AGENT, AGENT_NAMES
from compozy.documents.mending import Attempts
from compozy.documents.problems import Fix, Locator, Path, Problem, has_errors, to_diagnostics
from compozy.documents.source import SourceText
from compozy.documents.toml_reader import TomlProblem, read_toml
from compozy.documents.yaml_compose import YamlProblem
from compozy.documents.yaml_guesses import comment_warnings, guess_yaml
from compozy.documents.yaml_reader import YamlDocument
from compozy.model.definition import AgentDefinition
from compozy.model.diagnostic import Diagnostic, Severity


class HeaderOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one AGENT.md says: the definition when nothing is wrong, and every finding in check order."""

    definition: AgentDefinition | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep the definition from loading."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)


class _Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One header read in one language: decoded fields, what was wrong, and where everything lies."""

    fields: dict[str, object]
    problems: list[Problem]
    failed: set[Path]
    locator: Locator

    def locate(self) -> Locator:
        """Where everything lies."""
        return self.locator


class _Broken(Exception):
    """Neither language could read the header; `problem` says so, with a repair when one is known."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


# One broken place may hide the next; more repairs than this in one header are no accident but another format.
_MAX_MENDS = 25
# Each repair reads the text again, so large ones get fewer.
_MENDABLE = 200_000
_FEW_MENDS = 3


def read_header(source: SourceText, path: str) -> HeaderOutcome:
    """Read AGENT.md's text: all problems, or the definition without sidecars.

    A problem with a repair does not end the reading: it goes on as if the repair were made.
    """
    diagnostics: list[Diagnostic] = []
    attempts = Attempts()
    tabs_told = False
    for _ in range(_MAX_MENDS if len(source.normal) < _MENDABLE else _FEW_MENDS):
        found, problems = frontmatter.split(source.normal)
        tabs = frontmatter.tab_problems(found) if found is not None and not tabs_told else []
        if found is not None and not tabs:
            try:
                reading = _read(found)
            except _Broken as broken:
                problems = [broken.problem]
            else:
                definition, problems = _check(reading, source.normal, found)
                diagnostics += to_diagnostics(problems, path, source, reading.locate)
                return _outcome(definition, diagnostics)
        problems += tabs
        mended = attempts.next(source, problems, diagnostics, path)
        if mended is not None:
            source = mended
        elif tabs and found is not None:
            # Tabs that cannot be mended are no hindrance to reading what else there is.
            tabs_told = True
        else:
            break
    return _outcome(None, diagnostics)


def _outcome(definition: AgentDefinition | None, diagnostics: list[Diagnostic]) -> HeaderOutcome:
    return HeaderOutcome(definition=None if has_errors(diagnostics) else definition, diagnostics=tuple(diagnostics))


def _read(found: frontmatter.Split) -> _Reading:
    """Read the header as YAML, and on any error as TOML (formats §3.2)."""
    yaml_reading: _Reading | None = None
    yaml_problem: YamlProblem | None = None
    try:
        document = YamlDocument(found.header, base=found.header_start, first_line=2)
    except YamlProblem as problem:
        yaml_problem = problem
    else:
        value = document.value
        if value is None or isinstance(value, dict):
            yaml_reading = _decode_yaml(document)
            if not yaml_reading.problems:
                return yaml_reading
        else:
            kind = "sequence" if isinstance(value, list) else "string"
            end = len(found.header.rstrip())
            message = f"{kind} was used where mapping is expected"
            yaml_problem = YamlProblem(message, (0, end), code="frontmatter-decode")
    return read_both_failed(found, yaml_reading, yaml_problem)


def _decode_yaml(document: YamlDocument) -> _Reading:
    decoder = Decoder(YAML)
    fields = decoder.table(AGENT, document.value, ())
    problems = document.duplicates + decoder.problems
    return _Reading(fields=fields, problems=problems, failed=decoder.failed, locator=document)


def read_both_failed(
    found: frontmatter.Split, yaml_reading: _Reading | None, yaml_problem: YamlProblem | None
) -> _Reading:
    """Try TOML after YAML failed; when that fails too, report in the language the author most likely meant."""
    try:
        value = read_toml(found.header)
    except TomlProblem as problem:
        if yaml_reading is not None:
            return yaml_reading
        assert yaml_problem is not None
        raise _Broken(_neither(found, yaml_problem, problem)) from None
    from compozy.documents.toml_places import TomlPlaces  # noqa: PLC0415 - start-up cost: most headers are YAML

    decoder = Decoder(TOML)
    fields = decoder.table(AGENT, value, ())
    reading = _Reading(
        fields=fields,
        problems=decoder.problems,
        failed=decoder.failed,
        locator=TomlPlaces(found.header, base=found.header_start),
    )
    if not decoder.failed:
        return reading
    if yaml_reading is not None:
        return yaml_reading
    if yaml_problem is not None and not yaml_problem.message.startswith("string was used"):
        # The established parser names YAML's complaint first, although the header is TOML (formats §15).
        first = decoder.problems[0]
        first.code = "frontmatter-decode"
        first.message = f"decode agent frontmatter: yaml: {yaml_problem.message}; toml: {first.message}"
    return reading


def _neither(found: frontmatter.Split, yaml: YamlProblem, toml: TomlProblem) -> Problem:
    """One problem for a header that is neither YAML nor TOML, placed in the likelier of the two."""
    is_scalar = yaml.message.startswith("string was used")
    from compozy.documents.toml_guesses import (  # noqa: PLC0415 - start-up cost: most headers parse
        guess_toml,
        looks_like_toml,
    )

    means_toml = looks_like_toml(found.header)
    code = yaml.code
    if is_scalar and toml.code != "toml-syntax":
        code = toml.code
    message = f"decode agent frontmatter: yaml: {yaml.message}; toml: {toml.message}"
    at = toml.span if means_toml else yaml.span
    base = found.header_start
    problem = Problem(code=code, message=message, span=(at[0] + base, at[1] + base))
    guess = (
        guess_toml(found.header, toml, first_line=2) if means_toml else guess_yaml(found.header, yaml, AGENT_NAMES)
    )
    if guess is not None:
        problem.cause = guess.cause
        problem.suggestion = guess.line
        problem.span = (guess.span[0] + base, guess.span[1] + base)
        edits = tuple((start + base, end + base, text) for start, end, text in guess.edits)
        problem.fix = Fix(title=guess.title, kind="edits", edits=edits) if edits else None
    return problem


def _check(reading: _Reading, text: str, found: frontmatter.Split) -> tuple[AgentDefinition, list[Problem]]:
    """All checks on decoded fields, after what decoding found."""
    at = found.body_start
    prompt = frontmatter.body_of(text, found)
    definition, problems = check_agent_fields(reading.fields, reading.failed, prompt, (at, at))
    nul = text.find("\0", at)
    if nul >= 0:
        problem = Problem(code="prompt-nul", message="the prompt holds a NUL character", span=(nul, nul + 1))
        problem.fix = Fix(title="remove it", kind="edits", edits=((nul, nul + 1, ""),))
        problems.append(problem)
    if isinstance(reading.locator, YamlDocument) and " #" in found.header:
        problems += comment_warnings(reading.locator, found.header_start)
    return definition, reading.problems + problems
