"""Change a TOML text in place: statements, tables and arrays of tables (decisions D3).

Compares old and new data path by path and touches only the statements that differ. The result is read again and
must say exactly what was asked for; comments, order, quoting and line endings of all other lines stay.
"""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import rtoml

from compozy.documents.edits.nodes import (
    CannotEdit,
    apply_edits,
    fingerprint,
    line_break,
    line_end,
    line_start,
    plain,
)
from compozy.documents.edits.splice import Splicer, refuse_fixed
from compozy.documents.edits.toml_nodes import Section, TomlPath, locate_toml
from compozy.documents.edits.toml_text import TomlDialect, key_text, value_text
from compozy.model.diagnostic import TextEdit


def read_toml(text: str) -> dict[str, object]:
    """Return the plain data of a TOML text.

    Raises:
        CannotEdit: it does not parse.
    """
    try:
        data = plain(rtoml.loads(text))
    except (rtoml.TomlParsingError, ValueError) as error:
        raise CannotEdit(f"the TOML does not parse: {str(error).splitlines()[0]}") from error
    assert isinstance(data, dict)
    return data


def set_toml(text: str, start: int, end: int, new: Mapping[str, object], order: Sequence[str] = ()) -> str:
    """Return `text` with text[start:end] changed so that it reads as `new`.

    Raises:
        CannotEdit: the change cannot be made in place.
    """
    old = read_toml(text[start:end])
    wanted = plain(new)
    assert isinstance(wanted, dict)
    editor = _TomlEditor(text, start, end, order)
    editor.walk((), old, wanted)
    result = apply_edits(text, editor.edits())
    if fingerprint(read_toml(result[start : len(result) - (len(text) - end)])) != fingerprint(wanted):
        raise CannotEdit("the TOML would not read as asked after the edit")
    return result


class _TomlEditor:
    def __init__(self, text: str, start: int, end: int, order: Sequence[str]) -> None:
        self.splicer = Splicer(text, TomlDialect(), order=order)
        self._tables: list[tuple[int, list[str]]] = []
        self._text = text
        self._end = end
        self._sections = locate_toml(text, start, end)
        self._statements = [one for section in self._sections for one in section.statements]

    def walk(self, path: TomlPath, old: object, new: object) -> None:
        if fingerprint(old) == fingerprint(new):
            return
        statement = next((one for one in self._statements if one.path == path), None)
        if statement is not None:
            self.splicer.update(statement.value, new)
        elif isinstance(old, dict) and isinstance(new, dict):
            self._walk_table(path, old, new)
        elif isinstance(old, list) and isinstance(new, list) and all(isinstance(one, dict) for one in new):
            self._walk_array(path, old, new)
        else:
            raise CannotEdit("a table changes its kind")

    def _walk_table(self, path: TomlPath, old: Mapping[str, object], new: Mapping[str, object]) -> None:
        for name in old:
            if name in new:
                self.walk((*path, name), old[name], new[name])
            else:
                self._remove((*path, name))
        for name, value in new.items():
            if name not in old:
                self._add(path, name, value)

    def _walk_array(self, path: TomlPath, old: list[object], new: list[object]) -> None:
        matcher = SequenceMatcher(None, list(map(fingerprint, old)), list(map(fingerprint, new)), autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                continue
            shared = min(i2 - i1, j2 - j1)
            for step in range(shared):
                self.walk((*path, i1 + step), old[i1 + step], new[j1 + step])
            for index in range(i1 + shared, i2):
                self._remove((*path, index))
            for index in range(j1 + shared, j2):
                self._add_element(path, i1 + shared - 1, new[index])

    def _remove(self, path: TomlPath) -> None:
        removed: list[tuple[int, int]] = []
        for section in self._sections:
            if section.path[: len(path)] == path and section.path:
                removed.append((section.start, line_end(self._text, section.end)))
        for statement in self._statements:
            start = line_start(self._text, statement.key.start)
            if statement.path[: len(path)] == path and not any(a <= start < b for a, b in removed):
                refuse_fixed(statement.value)
                removed.append((start, line_end(self._text, statement.value.end)))
        if not removed:
            raise CannotEdit("the value to remove was not found")
        for start, end in removed:
            self.splicer.cut(start, end)

    def _add(self, path: TomlPath, name: str, value: object) -> None:
        if isinstance(value, list) and value and not path and all(isinstance(one, dict) for one in value):
            for one in value:
                self._append_section(name, one)
            return
        if isinstance(value, dict) and value and all(isinstance(part, str) for part in path):
            self._append_table((*path, name), value)
            return
        section = next((one for one in self._sections if one.path == path), None)
        if section is not None:
            self._add_statement(section, f"{key_text(name)} = {value_text(value)}", name)
            return
        siblings = [one for one in self._statements if one.path[: len(path)] == path]
        if not siblings:
            raise CannotEdit("the table has no header of its own")
        last = siblings[-1]
        owner = next(one for one in self._sections if last in one.statements)
        dotted = ".".join(key_text(str(part)) for part in (*path[len(owner.path) :], name))
        place = line_end(self._text, last.value.end)
        indent = self._text[line_start(self._text, last.key.start) : last.key.start]
        self._insert_line(place, f"{indent}{dotted} = {value_text(value)}", line_break(self._text, last.value.end))

    def _add_statement(self, section: Section, line: str, name: str) -> None:
        depth = len(section.path)
        rank = self.splicer.rank
        before = [
            one
            for one in section.statements
            if depth or rank(name) == rank("") or rank(str(one.path[depth])) < rank(name)
        ]
        if before:
            anchor = before[-1]
            indent = self._text[line_start(self._text, anchor.key.start) : anchor.key.start]
            place = line_end(self._text, anchor.value.end)
            self._insert_line(place, indent + line, line_break(self._text, anchor.value.end))
        elif section.path:
            place = line_end(self._text, section.header_end)
            self._insert_line(place, line, line_break(self._text, section.header_end))
        else:
            first = section.statements[0].key.start if section.statements else section.start
            self._insert_line(line_start(self._text, first), line, line_break(self._text, first))

    def _insert_line(self, place: int, line: str, newline: str) -> None:
        missing = place > 0 and self._text[place - 1] != "\n" and place == len(self._text)
        self.splicer.cut(place, place, newline + line if missing else line + newline)

    def _add_element(self, path: TomlPath, after: int, value: object) -> None:
        element = (*path, after)
        sections = [one for one in self._sections if one.path[: len(element)] == element]
        if not sections or len(path) != 1 or not isinstance(value, dict):
            raise CannotEdit("a table cannot be inserted here")
        place = line_end(self._text, sections[-1].end)
        self._insert_section(place, str(path[0]), value)

    def _append_table(self, path: TomlPath, value: Mapping[str, object]) -> None:
        """Write a new table, and the tables in it, with headers of their own at the end."""
        inner = {name: item for name, item in value.items() if isinstance(item, dict) and item}
        own = {name: item for name, item in value.items() if name not in inner}
        if own or not inner:
            header = "[" + ".".join(key_text(str(part)) for part in path) + "]"
            self._insert_lines(
                self._end, [header, *(f"{key_text(key)} = {value_text(one)}" for key, one in own.items())]
            )
        for name, item in inner.items():
            self._append_table((*path, name), item)

    def _append_section(self, name: str, value: object) -> None:
        if not isinstance(value, dict):
            raise CannotEdit("a table cannot be inserted here")
        self._insert_section(self._end, name, value)

    def _insert_section(self, place: int, name: str, value: Mapping[str, object]) -> None:
        rows = (f"{key_text(key)} = {value_text(one)}" for key, one in value.items())
        self._insert_lines(place, [f"[[{key_text(name)}]]", *rows])

    def _insert_lines(self, place: int, lines: list[str]) -> None:
        self._tables.append((place, lines))

    def edits(self) -> list[TextEdit]:
        """Return all edits. New tables come after every statement at the same place, else it would become theirs."""
        edits = list(self.splicer.edits)
        for place, lines in self._tables:
            newline = line_break(self._text, max(0, place - 1))
            above = self._text[:place]
            begin = newline if above and not above.endswith("\n") else ""
            blank = newline if edits or (above.strip() and not above.endswith("---\n")) else ""
            block = begin + blank + newline.join(lines) + ("" if begin else newline)
            edits.append(TextEdit(start=place, end=place, replacement=block))
        return edits
