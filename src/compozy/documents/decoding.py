"""Plain values to typed fields: one decoder for YAML, TOML and JSON, told apart by a dialect (formats §3, §7.6).

Reports every unknown key, wrong type and duplicate in document order; trims nothing and checks no content. Paths
name fields by their own spelling, whatever case the author used.
"""

import re
from collections.abc import Mapping

import msgspec

from compozy.documents.durations import DurationProblem, parse_duration
from compozy.documents.fields import Field, Kind, Table
from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.problems import Fix, Path, Problem
from compozy.documents.text import fold, nearest, shown, trim
from compozy.documents.yaml_reader import MergedMapping
from compozy.documents.yaml_scalars import text_of

_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = re.compile(r"[+-]?[0-9]{1,20}")
# A list somebody wrote as one string: separated by commas, or else by blanks (reports P12).
_LIST_SEPARATOR = re.compile(r"\s*,\s*")
_BLANKS = re.compile(r"\s+")


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How a format's values are read.

    `coerces`: scalars become text where text is wanted (YAML). `folds`: field names match ignoring case.
    `dotted`: unknown fields are named with their whole path (TOML).
    """

    name: str
    coerces: bool = False
    folds: bool = False
    dotted: bool = False


YAML = Dialect(name="YAML", coerces=True)
TOML = Dialect(name="TOML", folds=True, dotted=True)
JSON = Dialect(name="JSON", folds=True)
# The top level of mcp.json matches its two names exactly (formats §7.6).
JSON_EXACT = Dialect(name="JSON")


class Decoder:
    """Decodes one document; `problems` lists what was wrong, `failed` the paths whose values are unusable."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.problems: list[Problem] = []
        self.failed: set[Path] = set()

    @property
    def is_full(self) -> bool:
        """Whether so much is wrong that more of it is not worth describing."""
        return len(self.problems) > MAX_PROBLEMS

    def table(self, table: Table, value: object, path: Path) -> dict[str, object]:
        """Decode a mapping of known fields: present, non-null ones by their own name."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._mismatch(path, "a mapping", value)
            return {}
        result: dict[str, object] = {}
        spelled: dict[str, str] = {}
        if isinstance(value, MergedMapping) and value.overridden:
            self._overridden(value, path)
        for key, item in value.items():
            field = table.fields.get(key) or (self._folded(table, key) if self.dialect.folds else None)
            if field is None:
                # A near miss is read as the field it will be after its repair, so that its value is judged too.
                field = self._unknown(table, key, path, value)
                if field is None:
                    continue
            if field.name in spelled:
                self._twice(spelled[field.name], key, path)
                continue
            spelled[field.name] = key
            if item is not None:
                decoded = self._field(field, item, (*path, field.name))
                if decoded is not None:
                    result[field.name] = decoded
        return result

    def _folded(self, table: Table, key: str) -> Field | None:
        folded = fold(key)
        return next((field for field in table.fields.values() if fold(field.name) == folded), None)

    def _field(self, field: Field, value: object, path: Path) -> object:
        kind = field.kind
        if kind is Kind.TEXT:
            return self.text(value, path)
        if kind is Kind.TEXTS:
            return self._texts(value, path)
        if kind is Kind.TEXT_MAP:
            return self._text_map(value, path)
        if kind is Kind.TABLE and field.table is not None:
            return self.table(field.table, value, path) if self._is(dict, value, path, kind.value) else None
        if kind is Kind.TABLES and field.table is not None:
            if not self._is(list, value, path, kind.value) or not isinstance(value, list):
                return None
            return [self.table(field.table, item, (*path, i)) for i, item in enumerate(value)]
        if kind is Kind.TABLE_MAP and field.table is not None:
            if not self._is(dict, value, path, kind.value) or not isinstance(value, dict):
                return None
            return {self.clean(key): self.table(field.table, item, (*path, key)) for key, item in value.items()}
        if kind is Kind.FLAG:
            return self._flag(value, path)
        if kind is Kind.WHOLE:
            return self._whole(value, path)
        return self._duration(value, path)

    def text(self, value: object, path: Path) -> str | None:
        """A string; in YAML any scalar, reprinted (formats §3.3)."""
        if isinstance(value, str):
            return self.clean(value)
        if value is None:
            return ""
        if self.dialect.coerces and isinstance(value, bool | int | float):
            return text_of(value)
        if isinstance(value, bool | int | float):
            self._mismatch(path, Kind.TEXT.value, value, fix=_as_text(value), suggestion=f'"{text_of(value)}"')
            return text_of(value)
        self._mismatch(path, Kind.TEXT.value, value)
        return None

    def clean(self, text: str) -> str:
        """Replace lone surrogates of JSON escapes by U+FFFD."""
        return text if text.isascii() else _SURROGATE.sub("\ufffd", text)

    def _flag(self, value: object, path: Path) -> bool | None:
        word = _FLAG_WORDS.get(value.lower()) if isinstance(value, str) else None
        if word is not None:
            fix = Fix(title=f"write {word}", kind="set_literal", text=word)
            self._mismatch(path, Kind.FLAG.value, value, fix=fix, suggestion=word)
            return word == "true"
        return value if self._is(bool, value, path, Kind.FLAG.value) and isinstance(value, bool) else None

    def _texts(self, value: object, path: Path) -> list[str] | None:
        if isinstance(value, str) and value.strip():
            separator = _LIST_SEPARATOR if "," in value else _BLANKS
            items = tuple(part for part in separator.split(trim(value)) if part)
            fix = Fix(title="write it as a list", kind="set_list", items=items)
            self._mismatch(path, Kind.TEXTS.value, value, fix=fix, suggestion="[" + ", ".join(items) + "]")
            return list(items)
        if not self._is(list, value, path, Kind.TEXTS.value) or not isinstance(value, list):
            return None
        result = []
        for i, item in enumerate(value):
            text = item if type(item) is str and item.isascii() else self.text(item, (*path, i))
            # A place holder keeps later indexes right; the failed path keeps checks away from it.
            result.append("" if text is None else text)
        return result

    def _text_map(self, value: object, path: Path) -> dict[str, str] | None:
        if not self._is(dict, value, path, Kind.TEXT_MAP.value) or not isinstance(value, dict):
            return None
        result = {}
        for key, item in value.items():
            text = self.text(item, (*path, key))
            if text is not None:
                result[self.clean(key)] = text
        return result

    def _whole(self, value: object, path: Path) -> int | None:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if self.dialect.coerces:
            # Established habit: fractions are cut, numeric text counts (formats §3.3).
            if isinstance(value, float) and abs(value) < 2**63:
                return int(value)
            if isinstance(value, str) and _DIGITS.fullmatch(value):
                return int(value)
        self._mismatch(path, Kind.WHOLE.value, value)
        return None

    def _duration(self, value: object, path: Path) -> int | None:
        """Nanoseconds; text with units, or in TOML a whole number of nanoseconds (formats §8.2)."""
        if isinstance(value, str):
            try:
                return parse_duration(value)
            except DurationProblem as error:
                return self._bad_duration(path, value, str(error))
        if isinstance(value, int) and not isinstance(value, bool) and not self.dialect.coerces:
            if abs(value) < 2**63:
                return value
            return self._bad_duration(path, str(value), "longer than 292 years:")
        self._mismatch(path, Kind.DURATION.value, value, "time.Duration: write it as text with a unit")
        return None

    def _bad_duration(self, path: Path, value: str, reason: str) -> int | None:
        message = f'{dotted(path)}: time: {reason} {shown(value)}; write for example "90s", "1m30s" or "250ms"'
        fix = None
        if _DIGITS.fullmatch(trim(value)) and len(trim(value)) < 9:
            seconds = f"{trim(value)}s"
            fix = Fix(title=f"write {seconds}", kind="set_value", text=seconds)
        else:
            self.failed.add(path)
        self.problems.append(Problem(code="duration-invalid", message=message, path=path, fix=fix))
        return None if fix is None else parse_duration(fix.text)

    def expect_mapping(self, value: object, path: Path) -> bool:
        """Report a value that is no mapping."""
        return self._is(dict, value, path, "a mapping")

    def _is(self, wanted: type, value: object, path: Path, words: str) -> bool:
        if isinstance(value, wanted):
            return True
        self._mismatch(path, words, value)
        return False

    def _mismatch(
        self, path: Path, wanted: str, value: object, note: str = "", *, fix: Fix | None = None, suggestion: str = ""
    ) -> None:
        """Report a wrong type; without a repair the value is unusable."""
        if fix is None:
            self.failed.add(path)
        if self.is_full:
            return
        message = f"{dotted(path) or 'the document'} must be {wanted}, found {describe(value)}"
        if note:
            message = f"{message} ({note})"
        self.problems.append(
            Problem(code="type-mismatch", message=message, path=path, suggestion=suggestion, fix=fix)
        )

    def _unknown(self, table: Table, key: str, path: Path, siblings: Mapping[str, object]) -> Field | None:
        """Report an unknown field; the field it is a misspelling of, when that is plain."""
        if self.is_full:
            return None
        name = dotted_names((*path, key)) if self.dialect.dotted else self.clean(key)
        close = nearest(key, table.fields)
        hint = table.hints.get(key, "")
        message = f"unknown field {shown(name)}"
        if hint:
            message = f"{message}: {hint}"
        elif close:
            message = f"{message}: did you mean {shown(close)}?"
        fix = None
        if close and not hint and not self._has(siblings, close):
            fix = Fix(title=f"rename it to {close}", kind="rename_key", text=close)
        self.problems.append(
            Problem(
                code="unknown-field",
                message=message,
                path=(*path, key),
                part="key",
                suggestion=hint or close,
                fix=fix,
            )
        )
        return table.fields[close] if fix is not None else None

    def _has(self, siblings: Mapping[str, object], name: str) -> bool:
        if not self.dialect.folds:
            return name in siblings
        return any(fold(sibling) == fold(name) for sibling in siblings)

    def _twice(self, first: str, second: str, path: Path) -> None:
        if self.is_full:
            return
        message = f"key {shown(second)} repeats {shown(first)}, which names the same field"
        self.problems.append(Problem(code="duplicate-key", message=message, path=(*path, second), part="key"))

    def _overridden(self, value: MergedMapping, path: Path) -> None:
        for key in value.overridden[:MAX_PROBLEMS]:
            message = f"duplicate key {shown(key)}: it is already merged in by `<<`; remove one of them"
            self.problems.append(Problem(code="duplicate-key", message=message, path=(*path, key), part="key"))


_FLAG_WORDS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}


def _as_text(value: bool | float) -> Fix:
    return Fix(title="write it as a string", kind="set_value", text=text_of(value))


def describe(value: object) -> str:
    """Name a value's type for a message, with the value when short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {'true' if value else 'false'}"
    if isinstance(value, int | float):
        return f"the number {text_of(value)}"
    if isinstance(value, str):
        return f"the string {shown(value)}"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    return "a date or time"


def dotted(path: Path) -> str:
    """A path as messages write it: ``hooks[1].matcher.tool_id``."""
    words = ""
    for step in path:
        words += f"[{step}]" if isinstance(step, int) else (f".{step}" if words else step)
    return words


def dotted_names(path: Path) -> str:
    """The names of a path without list positions, as TOML's messages write it."""
    return ".".join(step for step in path if isinstance(step, str))


def text_in(fields: Mapping[str, object], name: str) -> str:
    """A decoded string field, "" when absent."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def texts_in(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    """A decoded list of strings, empty when absent."""
    value = fields.get(name)
    return tuple(value) if isinstance(value, list) else ()


def map_in(fields: Mapping[str, object], name: str) -> dict[str, str]:
    """A decoded mapping of strings, empty when absent."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def flag_in(fields: Mapping[str, object], name: str) -> bool | None:
    """A decoded boolean, None when absent."""
    value = fields.get(name)
    return value if isinstance(value, bool) else None


def rows_in(fields: Mapping[str, object], name: str) -> list[dict[str, object]]:
    """A decoded list of mappings, empty when absent."""
    value = fields.get(name)
    return value if isinstance(value, list) else []
