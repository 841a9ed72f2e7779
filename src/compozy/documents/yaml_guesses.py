"""What went wrong in YAML that does not parse, and the edit that mends it (decisions D5, reports P01-P06)."""

from compozy.documents.guesses import Guess
from compozy.documents.problems import Problem
from compozy.documents.yaml_reader import YamlProblem


def guess_yaml(text: str, problem: YamlProblem) -> Guess | None:
    """The likely cause of a YAML error."""
    return None


def comment_warnings(header: str, base: int) -> list[Problem]:
    """Values cut short by ` #` that read like text, not like a remark (reports P16)."""
    return []
