"""Replacing a manifest file by a changed one, unless somebody changed it meanwhile (issue 8 item 4; decisions D4)."""

from collections.abc import Callable, Sequence
from pathlib import Path

from compozy.cli.ocm.command import InvalidManifests
from compozy.documents.atomic import write_atomically
from compozy.documents.source import SourceText
from compozy.ocm.problems import Problem
from compozy.ocm.sources import STDIN, find_sources, read_text


def rewrite(paths: Sequence[str], change: Callable[[str, str], str]) -> list[str]:
    """Change every file by its text and name, all of them before the first is written; return those that changed."""
    changed: dict[Path, tuple[str, str]] = {}
    for source in find_sources(paths):
        text = source if isinstance(source, Problem) or source.path == STDIN else read_text(source.path)
        if isinstance(text, SourceText) and not isinstance(source, Problem):
            after = change(text.text, source.path)
            if after != text.text:
                changed[Path(source.path).resolve()] = (text.text, after)
    for path, (before, after) in changed.items():
        replace(path, before, after)
    return [str(path) for path in changed]


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
