"""Writing agent folders and reading headers in tests."""

from pathlib import Path

from compozy.documents.agent_header import HeaderOutcome, read_header
from compozy.documents.source import SourceText
from compozy.model.diagnostic import Diagnostic

BODY = "Keep the tide tables current.\n"


def header(text: str, body: str = BODY) -> str:
    """An AGENT.md with this header."""
    return f"---\n{text}\n---\n\n{body}"


def read(text: str) -> HeaderOutcome:
    """Read a whole AGENT.md."""
    return read_header(SourceText(text), "AGENT.md")


def only(text: str) -> Diagnostic:
    """The one diagnostic of a whole AGENT.md."""
    found = read(text).diagnostics
    assert len(found) == 1, [(d.code, d.message) for d in found]
    return found[0]


def repaired(text: str, diagnostics: tuple[Diagnostic, ...]) -> str:
    """The text after the repairs, last first."""
    edits = [edit for found in diagnostics if found.repair is not None for edit in found.repair.edits]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text


def write_agent(folder: Path, name: str, *, prompt: str = BODY, extra: str = "", declared: str = "") -> Path:
    """Write `folder/name/AGENT.md` and return its path."""
    path = folder / name / "AGENT.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {declared or name}\n{extra}---\n\n{prompt}", "utf-8")
    return path
