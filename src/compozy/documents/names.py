"""Agent names: grammar, reserved words, a slug to suggest (formats §5)."""

import re
import unicodedata

from compozy.documents.problems import Fix, Path, Problem
from compozy.documents.text import shown, trim
from compozy.model.definition import RESERVED_AGENT_NAMES

# The longest name whose folder and sidecar names stay within what file systems take.
MAX_NAME = 106
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,105}")
_SEPARATORS = re.compile(r"[^a-z0-9_-]+")


def is_reserved(name: str) -> bool:
    """Whether a folder or declared name is reserved, in any case and padding."""
    return trim(name).lower() in RESERVED_AGENT_NAMES


def name_problem(name: str, *, authored: bool = False, path: Path = ("name",)) -> Problem | None:
    """Check a name; `authored` (create, update, duplicate, digest) refuses reserved names too."""
    wanted = trim(name)
    if not wanted:
        return Problem(code="name-required", message="agent name is required", path=path)
    if not _NAME.fullmatch(wanted):
        return _grammar_problem(wanted, path)
    if authored and is_reserved(wanted):
        message = f"agent name is reserved: {shown(wanted)}; choose another name"
        return Problem(code="name-reserved", message=message, path=path)
    return None


def slug(name: str) -> str:
    """The nearest legal name, or "" when the text holds no ASCII letter to start with."""
    decomposed = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c)).lower()
    words = _SEPARATORS.sub("-", plain).strip("-_")
    return words.lstrip("0123456789-_")[:MAX_NAME].rstrip("-_")


def _grammar_problem(name: str, path: Path) -> Problem:
    message = (
        f"agent name {shown(name)} must start with a lowercase letter, contain only lowercase letters, digits, "
        f'"-" and "_", and have at most {MAX_NAME} characters'
    )
    offending = "".join(dict.fromkeys(c for c in name if not re.fullmatch(r"[a-z0-9_-]", c)))
    cause = ""
    if offending:
        cause = f"not allowed in a name: {shown(offending)}"
    elif len(name) > MAX_NAME:
        cause = f"the name has {len(name)} characters"
    suggestion = slug(name)
    fix = Fix(title=f"rename it to {suggestion}", kind="set_value", text=suggestion) if suggestion else None
    if not suggestion:
        # No letter to keep: the characters' numbers at least tell two such names apart.
        suggestion = "-".join(["agent", *(f"{ord(c):x}" for c in name[:8])])
    problem = Problem(code="name-invalid", message=message, path=path, suggestion=suggestion, fix=fix)
    problem.cause = f"{cause}; a free title belongs into the prompt" if cause else ""
    return problem
