"""What a person reads of a tool call."""

import pytest

from compozy.cli.turn_printer import tool_text
from compozy.cli.turn_record import ToolCall


@pytest.mark.parametrize(
    ("title", "places", "text"),
    [
        ("Read a.py", ("/repo/a.py",), "Read a.py"),
        ("read", ("/repo/a.py:3",), "read (/repo/a.py:3)"),
        ("read", ("/r/x.py", "/r/y.py"), "read (/r/x.py, /r/y.py)"),
        ("Read 4 files", ("/r/1.py", "/r/2.py", "/r/3.py", "/r/4.py"), "Read 4 files (/r/1.py, /r/2.py, 2 more)"),
        ("", (), "execute"),
    ],
)
def test_a_tool_call_names_the_places_its_title_does_not_and_never_a_long_list(
    title: str, places: tuple[str, ...], text: str
) -> None:
    assert tool_text(ToolCall("c", title=title, kind="execute", places=places)) == text
