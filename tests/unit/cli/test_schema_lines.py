"""`compozy schema -o jsonl` is one line, as everything in that format."""

import json

import pytest
from click.testing import CliRunner

from compozy.cli.commands.schema import command
from compozy.cli.invocation import Invocation


@pytest.mark.parametrize("name", ["agent", "ocm"])
def test_a_schema_is_one_line_of_jsonl(name: str) -> None:
    printed = CliRunner().invoke(command, [name], obj=Invocation(format="jsonl")).output
    assert printed.count("\n") == 1 and json.loads(printed)["$schema"]
