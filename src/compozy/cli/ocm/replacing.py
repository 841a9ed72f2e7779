"""Replacing a manifest file by a changed one, unless somebody changed it meanwhile (issue 8 item 4; decisions D4)."""

from pathlib import Path

from compozy.cli.ocm.command import InvalidManifests
from compozy.documents.atomic import write_atomically
from compozy.documents.source import SourceText
from compozy.ocm.sources import read_text


def replace(path: Path, before: str, after: str) -> None:
    """Write `after` where `before` stands; links to the file are followed, its mode stays.

    Raises:
        InvalidManifests: something else stands there by now.
    """
    found = read_text(str(path))
    if not isinstance(found, SourceText) or found.text != before:
        raise InvalidManifests(
            f"{str(path)!r} was changed by somebody else meanwhile and is left alone; run it again"
        )
    write_atomically(path, after.encode("utf-8"), mode=path.stat().st_mode & 0o777)
