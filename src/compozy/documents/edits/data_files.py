"""Change values of a whole TOML or JSON file in place: capability catalogs, mcp.json, config.toml (decisions D3)."""

from collections.abc import Sequence

from compozy.documents.edits.header import Changes, spelled_as_in
from compozy.documents.edits.json_nodes import JsonDialect, locate_json
from compozy.documents.edits.nodes import (
    CannotEdit,
    EditRefused,
    EditResult,
    apply_edits,
    change_paths,
    fingerprint,
    plain,
    to_data,
)
from compozy.documents.edits.splice import Splicer
from compozy.documents.edits.toml_splice import read_toml, set_toml


def edit_toml(text: str, changes: Changes, *, order: Sequence[str] = (), ignore_case: bool = False) -> EditResult:
    """Set or remove values of a TOML file by path, for example ``{("http", "port"): 2124}``; None removes.

    `ignore_case` finds existing keys whatever their case, as capability catalogs and headers are read.

    Raises:
        EditRefused: the file does not parse, or the change cannot be made in place.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    source = text.removeprefix(mark)
    try:
        old = read_toml(source)
        wanted = change_paths(old, _spelled(old, changes) if ignore_case else changes)
        return EditResult(text=mark + set_toml(source, 0, len(source), wanted, order))
    except CannotEdit as reason:
        raise EditRefused(f"the TOML cannot be edited in place: {reason}; edit the file by hand") from reason


def edit_json(text: str, changes: Changes, *, order: Sequence[str] = (), ignore_case: bool = False) -> EditResult:
    """Set or remove values of a JSON file by path, for example ``{("mcpServers", "bell", "command"): "bell"}``.

    An empty file counts as ``{}``.

    Raises:
        EditRefused: the file does not parse, or the change cannot be made in place.
    """
    source = text if text.strip("\ufeff \t\r\n") else text + "{}\n"
    try:
        root = locate_json(source)
        old = to_data(root)
        if not isinstance(old, dict):
            raise CannotEdit("the file does not hold an object")
        wanted = change_paths(old, _spelled(old, changes) if ignore_case else changes)
        splicer = Splicer(source, JsonDialect(source), order=order)
        splicer.update(root, plain(wanted))
        result = apply_edits(source, splicer.edits)
        if fingerprint(to_data(locate_json(result))) != fingerprint(wanted):
            raise CannotEdit("the file would not read as asked after the edit")
    except CannotEdit as reason:
        raise EditRefused(f"the JSON cannot be edited in place: {reason}; edit the file by hand") from reason
    return EditResult(text=result)


def _spelled(data: object, changes: Changes) -> Changes:
    return {
        spelled_as_in(data, (path,) if isinstance(path, str) else tuple(path)): value
        for path, value in changes.items()
    }
