"""Every command line that help texts and documents show is one the program understands."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from compozy.cli.app import root_command
from compozy.cli.command_table import COMMANDS, CommandEntry
from compozy.cli.groups import LazyGroup, load
from compozy.cli.invocation import Invocation

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```(?:console|sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELL = ("|", ">", ">>", "&&", "||", ";", "#", "2>", "<")


@pytest.fixture(autouse=True)
def files_of_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the files are that examples name."""
    (tmp_path / "screen.png").touch()
    monkeypatch.chdir(tmp_path)


def understand(line: str) -> None:
    """Parse a line without running anything; raises click.UsageError when it makes no sense."""
    words = shlex.split(line, comments=True)
    end = next((index for index, word in enumerate(words) if word in _SHELL), len(words))
    words, command = words[1:end], root_command()
    context = click.Context(command, info_name="compozy", obj=Invocation())
    while isinstance(command, LazyGroup):
        if words in ([], ["--help"], ["--version"]):
            return
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found  # type: ignore[assignment]
        if isinstance(found, LazyGroup):
            context = click.Context(found, info_name=found.name, parent=context)
    command.make_context(command.name, words, parent=context)


def shown_commands(text: str) -> Iterator[str]:
    for block in _BLOCK.findall(text):
        for line in block.splitlines():
            cleaned = line.strip().removeprefix("$ ")
            if cleaned.startswith("compozy "):
                yield cleaned


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.path)
def test_the_examples_of_a_command_are_understood_and_are_its_own(entry: CommandEntry) -> None:
    for example in getattr(load(entry), "examples", ()):
        assert example.startswith(f"compozy {entry.path}")
        understand(example)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_are_understood(path: Path) -> None:
    for line in shown_commands(path.read_text(encoding="utf-8")):
        try:
            understand(line)
        except click.UsageError as error:
            pytest.fail(f"{path.name}: {line!r}: {error.format_message()}")


# A sentence about the daemon, and a command put together; tests of trust run the latter as it is printed.
_NOT_YET = ("compozy daemon 1 is ready", "compozy trust grant1")


def _texts(tree: ast.AST) -> Iterator[str]:
    """Yield every text of a module but its docstrings, with 1 where a value is put in."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside | documentation
        ):
            yield node.value


def suggested_commands(text: str) -> Iterator[str]:
    yield from re.findall(r"`(compozy [a-z][^`…]*)`", text)
    if re.match(r"compozy [a-z]+( |$)", text):
        yield text.strip()


def test_every_command_that_a_message_suggests_is_understood() -> None:
    """P19: no message proposes a command or an option that does not exist."""
    problems, seen = [], 0
    for path in sorted((ROOT / "src" / "compozy").rglob("*.py")):
        for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            for line in suggested_commands(text):
                if line.startswith(_NOT_YET):
                    continue
                seen += 1
                try:
                    understand(line)
                except (click.UsageError, ValueError) as error:
                    problems.append(f"{path.relative_to(ROOT)}: {line!r}: {error}")
    assert problems == [] and seen > 50
