"""Checking one authored file: which reader judges which kind, over bytes that were opened without following links.

The readers live in `documents`; nothing about formats is decided here.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from compozy.catalog.checking.targets import Kind, Target
from compozy.documents.files import FileProblem, open_folder, read_file
from compozy.documents.sidecars import file_diagnostic, read_source
from compozy.documents.source import SourceText
from compozy.model.diagnostic import Diagnostic

TextCheck = Callable[[str], tuple[Diagnostic, ...]]


class CheckedFile(NamedTuple):
    """One file that was looked at: its text (None when it could not be read) and what was found."""

    path: str
    text: str | None
    diagnostics: tuple[Diagnostic, ...]


def text_check(path: Path) -> TextCheck:
    """Return the check of a file's text, chosen by its name and place; the file itself is not touched."""
    shown = str(path)
    if path.suffix == ".md":
        return _markdown_check(path.name, shown)
    if path.stem != "capabilities" and path.parent.name != "capabilities":
        from compozy.documents.mcp_json import read_mcp_json  # noqa: PLC0415 - start-up cost

        return lambda text: read_mcp_json(SourceText(text), shown).diagnostics
    from compozy.documents.capability_records import read_catalog, read_record  # noqa: PLC0415 - start-up cost

    is_json = path.suffix == ".json"
    if path.parent.name == "capabilities":
        return lambda text: read_record(SourceText(text), shown, "json" if is_json else "toml", path.stem).diagnostics
    return lambda text: read_catalog(SourceText(text), shown, "json" if is_json else "toml").diagnostics


def _markdown_check(name: str, shown: str) -> TextCheck:
    if name == "SKILL.md":
        from compozy.documents.skill_file import read_skill  # noqa: PLC0415 - start-up cost

        return lambda text: read_skill(text.encode("utf-8", "surrogatepass"), shown)[1]
    if name == "SOUL.md":
        from compozy.documents.soul import read_soul  # noqa: PLC0415 - start-up cost

        return lambda text: read_soul(text.encode("utf-8", "surrogatepass"), shown)[1]
    if name == "HEARTBEAT.md":
        from compozy.documents.heartbeat import read_heartbeat  # noqa: PLC0415 - start-up cost

        return lambda text: read_heartbeat(text.encode("utf-8", "surrogatepass"), shown)[1]
    from compozy.documents.agent_header import read_header  # noqa: PLC0415 - start-up cost

    return lambda text: read_header(SourceText(text), shown).diagnostics


def check_target(target: Target) -> list[CheckedFile]:
    """Check one target; a capability catalog may be several files."""
    if target.kind is not Kind.CATALOG:
        return [check_file(target.path)]
    from compozy.documents.capabilities import check_capabilities  # noqa: PLC0415 - start-up cost

    report = check_capabilities(target.path)
    by_path: dict[str, list[Diagnostic]] = {}
    names = [stamp.name for stamp in report.stamps]
    for name in names:
        by_path[str(target.path / name)] = []
    for diagnostic in report.diagnostics:
        by_path.setdefault(diagnostic.path, []).append(diagnostic)
    return [CheckedFile(path, read_text(Path(path)), tuple(found)) for path, found in by_path.items()]


def check_file(path: Path) -> CheckedFile:
    """Check one file."""
    try:
        data = _read(path)
    except FileProblem as problem:
        return CheckedFile(str(path), None, (file_diagnostic(problem),))
    source = read_source(data, str(path), f"read {path.name}")
    if isinstance(source, Diagnostic):
        return CheckedFile(str(path), None, (source,))
    return CheckedFile(str(path), source.text, text_check(path)(source.text))


def read_text(path: Path) -> str | None:
    """Return a file's text, or None when it cannot be read or is not UTF-8."""
    try:
        return _read(path).decode("utf-8")
    except (FileProblem, UnicodeDecodeError):
        return None


def _read(path: Path) -> bytes:
    handle = open_folder(path.parent, f"open {path.name}")
    try:
        return read_file(handle, path.name, f"read {path.name}", str(path))[0]
    finally:
        os.close(handle)
