"""The capability catalog of one agent folder in its four layouts (formats §9.1, §9.2).

The layout is judged before anything is parsed. Works on an open folder; records belong to `capability_records`.
"""

import os
import stat
from pathlib import Path

import msgspec

from compozy.documents.capability_records import FileFormat, read_catalog, read_record
from compozy.documents.digests import capabilities_digest
from compozy.documents.files import FileProblem, component_problem, open_child_folder, open_folder, read_file
from compozy.documents.problems import DefinitionError, diagnostic, has_errors
from compozy.documents.sidecars import FileStamp, file_diagnostic, read_source
from compozy.documents.text import shown
from compozy.model.capability import Capability
from compozy.model.diagnostic import Diagnostic

TOML_FILE, JSON_FILE, FOLDER = "capabilities.toml", "capabilities.json", "capabilities"
_WHAT = "capability catalog"


class CapabilitiesReport(msgspec.Struct, frozen=True, kw_only=True):
    """One folder's catalog: None when there is none, and every finding; `stamps` are the files it was read from."""

    capabilities: tuple[Capability, ...] | None
    diagnostics: tuple[Diagnostic, ...]
    stamps: tuple[FileStamp, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the catalog loads."""
        return not has_errors(self.diagnostics)

    @property
    def digest(self) -> str:
        """The digest over the whole list."""
        return capabilities_digest(self.capabilities)


def load_capabilities(folder: Path) -> tuple[Capability, ...] | None:
    """Load the catalog of an agent folder: None when it has none.

    Raises:
        DefinitionError: with everything that is wrong.
    """
    report = check_capabilities(folder)
    if not report.ok:
        raise DefinitionError(report.diagnostics)
    return report.capabilities


def check_capabilities(folder: Path) -> CapabilitiesReport:
    """Read the catalog of an agent folder and report everything that is wrong; never raises for its content."""
    try:
        handle = open_folder(folder, "open agent directory")
    except FileProblem as problem:
        return CapabilitiesReport(capabilities=None, diagnostics=(file_diagnostic(problem),))
    try:
        return read_catalog_folder(handle, str(folder))
    finally:
        os.close(handle)


def read_catalog_folder(handle: int, shown_folder: str) -> CapabilitiesReport:
    """Read the catalog of an open agent folder."""
    try:
        found = _layout(handle, shown_folder)
        if not found:
            return CapabilitiesReport(capabilities=None, diagnostics=())
        if len(found) > 1:
            return CapabilitiesReport(capabilities=None, diagnostics=(_layout_conflict(found, shown_folder),))
        if found[0] == FOLDER:
            return _read_folder(handle, f"{shown_folder}/{FOLDER}")
        return _read_file(handle, found[0], f"{shown_folder}/{found[0]}")
    except FileProblem as problem:
        return CapabilitiesReport(capabilities=None, diagnostics=(file_diagnostic(problem),))


def _layout(handle: int, shown_folder: str) -> list[str]:
    """Which candidates exist, each of the right type."""
    found = []
    for name in (TOML_FILE, JSON_FILE, FOLDER):
        try:
            mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            reason = (error.strerror or "cannot be read").lower()
            path = f"{shown_folder}/{name}"
            raise FileProblem("unreadable", f"{_WHAT}: could not read {path}: {reason}", path) from None
        path = f"{shown_folder}/{name}"
        wanted = "directory" if name == FOLDER else "file"
        if stat.S_ISLNK(mode):
            raise FileProblem("symlink-rejected", f"{_WHAT} {path}: must be a {wanted}, not a symlink", path)
        if name == FOLDER and not stat.S_ISDIR(mode):
            raise FileProblem("not-directory", f"{_WHAT} {path}: must be a directory", path)
        if name != FOLDER and not stat.S_ISREG(mode):
            raise FileProblem("not-regular-file", f"{_WHAT} {path}: must be a file", path)
        found.append(name)
    return found


def _layout_conflict(found: list[str], shown_folder: str) -> Diagnostic:
    names = ", ".join(found)
    path = f"{shown_folder}/{found[-1]}"
    if FOLDER in found:
        message = f"{_WHAT} {shown_folder}: mixed capability catalog layouts: {names}; keep one of them"
        return diagnostic("catalog-mixed-layouts", message, path)
    message = f"{_WHAT} {shown_folder}: multiple capability catalog files: {names}; keep one of them"
    return diagnostic("catalog-multiple-files", message, path)


def _read_file(handle: int, name: str, path: str) -> CapabilitiesReport:
    data, state = read_file(handle, name, _WHAT, path)
    source = read_source(data, path, f"decode capability {name.rsplit('.', 1)[1].upper()}")
    if isinstance(source, Diagnostic):
        return CapabilitiesReport(capabilities=None, diagnostics=(source,))
    outcome = read_catalog(source, path, "json" if name == JSON_FILE else "toml")
    return CapabilitiesReport(
        capabilities=outcome.capabilities,
        diagnostics=outcome.diagnostics,
        stamps=(FileStamp.of(name, state, data),),
    )


def _read_folder(parent: int, path: str) -> CapabilitiesReport:
    handle = open_child_folder(parent, FOLDER, _WHAT, path)
    try:
        before = os.fstat(handle)
        report = _read_entries(handle, path)
        return msgspec.structs.replace(report, stamps=(*report.stamps, FileStamp.of(FOLDER, before, b"")))
    finally:
        os.close(handle)


def _read_entries(handle: int, path: str) -> CapabilitiesReport:
    names, diagnostics = _entries(handle, path)
    formats = {_extension(name) for name in names}
    if len(formats) > 1 and not has_errors(diagnostics):
        message = f"{_WHAT} {path}: mixed capability file formats: keep .toml or .json, not both"
        return CapabilitiesReport(
            capabilities=None, diagnostics=(diagnostic("catalog-mixed-formats", message, path),)
        )
    records: list[Capability] = []
    stamps: list[FileStamp] = []
    owners: dict[str, str] = {}
    for name in names:
        entry = f"{path}/{name}"
        try:
            data, state = read_file(handle, name, f"{_WHAT} entry", entry)
        except FileProblem as problem:
            diagnostics.append(file_diagnostic(problem))
            continue
        stamps.append(FileStamp.of(f"{FOLDER}/{name}", state, data))
        source = read_source(data, entry, "decode capability")
        if isinstance(source, Diagnostic):
            diagnostics.append(source)
            continue
        file_format: FileFormat = "json" if _extension(name) == ".json" else "toml"
        outcome = read_record(source, entry, file_format, name[: -len(_extension(name))])
        diagnostics.extend(outcome.diagnostics)
        for record in outcome.capabilities or ():
            if record.id in owners:
                message = f"duplicate capability id {shown(record.id)} in {owners[record.id]} and {entry}"
                diagnostics.append(diagnostic("capability-duplicate-id", message, entry))
            owners.setdefault(record.id, entry)
            records.append(record)
    failed = has_errors(diagnostics)
    return CapabilitiesReport(
        capabilities=None if failed else tuple(records), diagnostics=tuple(diagnostics), stamps=tuple(stamps)
    )


def _entries(handle: int, path: str) -> tuple[list[str], list[Diagnostic]]:
    """The record files in byte order of their names, and what is wrong with the names."""
    names: list[str] = []
    diagnostics: list[Diagnostic] = []
    for name in sorted(os.listdir(handle), key=os.fsencode):
        if name.startswith(".") or _extension(name) not in (".toml", ".json"):
            continue
        entry = f"{path}/{name}"
        try:
            mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
        except OSError:
            # Gone since the listing: it was never part of this catalog.
            continue
        if stat.S_ISLNK(mode):
            message = f"{_WHAT} entry {entry}: is a symlink, not a symlink's target; put the file itself there"
            diagnostics.append(diagnostic("symlink-rejected", message, entry))
        elif stat.S_ISREG(mode):
            reason = component_problem(name)
            if reason:
                message = f"{_WHAT} entry {shown(name)} {reason}; rename the file"
                diagnostics.append(diagnostic("path-component-invalid", message, entry))
            else:
                names.append(name)
    return names, diagnostics


def _extension(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""
