"""What went wrong in TOML that does not parse, and the edit that mends it (decisions D5)."""

import re

from compozy.documents.guesses import Guess
from compozy.documents.toml_reader import TomlProblem

_TOML_LINE = re.compile(r"^\s*(?:[\w\"'.-]+\s*=|\[\[?[^\]\n]+\]?\]?\s*(?:#.*)?$)")
_YAML_LINE = re.compile(r"^\s*(?:- )?[\w\"'-]+:(?:\s|$)")


def looks_like_toml(text: str) -> bool:
    """Whether more lines read like TOML than like YAML."""
    lines = text.split("\n", 500)[:500]
    toml = sum(1 for line in lines if _TOML_LINE.match(line))
    yaml = sum(1 for line in lines if _YAML_LINE.match(line))
    return toml > yaml


def guess_toml(text: str, problem: TomlProblem) -> Guess | None:
    """The likely cause of a TOML error."""
    return None
