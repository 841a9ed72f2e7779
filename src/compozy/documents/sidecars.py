"""Between files and texts: decoding bytes, file problems as diagnostics, and the stamp of what was read.

Knows no format.
"""

import os

import msgspec

from compozy.documents.files import FileProblem, stamp
from compozy.documents.problems import diagnostic
from compozy.documents.source import InvalidUtf8, SourceText
from compozy.model.diagnostic import Diagnostic, Position


class FileStamp(msgspec.Struct, frozen=True):
    """Which state of a file was read: its name below the agent folder, its identity, its content's hash."""

    name: str
    identity: tuple[int, int, int, int, int]
    content: bytes

    @classmethod
    def of(cls, name: str, state: os.stat_result, data: bytes) -> "FileStamp":
        """Stamp what was just read."""
        from hashlib import sha256  # noqa: PLC0415 - start-up cost

        return cls(name, stamp(state), sha256(data).digest())


def read_source(data: bytes, path: str, what: str) -> SourceText | Diagnostic:
    """Decode a file's bytes; text that is not UTF-8 is one diagnostic with the byte's place."""
    try:
        return SourceText.decode(data)
    except InvalidUtf8 as error:
        message = f"{what}: invalid UTF-8 at byte {error.offset} of {path}; save the file as UTF-8"
        position = Position(line=error.line, column=error.column, length=1)
        return diagnostic("invalid-utf8", message, path, position=position)


def file_diagnostic(problem: FileProblem) -> Diagnostic:
    """A path that cannot be opened or read, as a diagnostic."""
    return diagnostic(problem.code, problem.message, problem.path)
