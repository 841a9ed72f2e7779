"""What an author most likely meant by text that does not parse, in one record (decisions D5)."""

import msgspec

from compozy.documents.problems import Span


class Guess(msgspec.Struct, frozen=True, kw_only=True):
    """A cause in one sentence, the corrected line, and the edits that write it; spans count from the text's start."""

    cause: str
    span: Span
    title: str = ""
    line: str = ""
    edits: tuple[tuple[int, int, str], ...] = ()
