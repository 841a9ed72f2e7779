"""The list of promises is true: every named test exists, every deferral says why, every id is used once."""

import ast
from pathlib import Path

from tests.requirements import all_promises

ROOT = Path(__file__).resolve().parents[2]


def _test_names(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def test_every_promise_names_an_existing_test_or_says_why_it_waits() -> None:
    problems: list[str] = []
    for promise in all_promises():
        if bool(promise.test) == bool(promise.deferred):
            problems.append(f"{promise.id}: give either a test or a deferral")
        if promise.test:
            file, _, name = promise.test.partition("::")
            path = ROOT / file
            if not path.is_file():
                problems.append(f"{promise.id}: no such file {file}")
            elif name and not set(name.split("::")) <= _test_names(path):
                problems.append(f"{promise.id}: {file} has no {name}")
    assert problems == []


def test_every_promise_id_is_used_once() -> None:
    ids = [promise.id for promise in all_promises()]
    assert sorted(ids) == sorted(set(ids))
