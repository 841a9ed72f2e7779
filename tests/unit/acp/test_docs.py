"""The page on agent programs names the figures the code has."""

from pathlib import Path

import pytest

from compozy.acp import child, notes, terminals
from compozy.acp.contract import StopBounds, WireLimits

PAGE = (Path(__file__).parents[3] / "docs" / "agent-programs.md").read_text()
MIB = 1024 * 1024


@pytest.mark.parametrize(
    "sentence",
    [
        f"last {terminals.DEFAULT_OUTPUT_LIMIT // 1024} KiB of output",
        f"up to {terminals.MOST_OUTPUT // MIB} MiB",
        f"{terminals.MOST_TERMINALS} terminals at most",
        f"error {terminals.NOT_FOUND}",
        f"the first {notes.MOST_PER_KIND} as notes",
        f"a line of more than {WireLimits().line // MIB} MiB",
        f"keeps the last {child.STDERR_TAIL // 1024} KiB",
        f"ends after {WireLimits().write_stall:g} s; with {WireLimits().unread // MIB} MiB unread",
        f"{StopBounds().cancel:g} s for the turn",
        f"SIGTERM, {StopBounds().term:g} s later SIGKILL",
    ],
)
def test_a_figure_of_the_page_is_the_one_in_the_code(sentence: str) -> None:
    assert sentence in PAGE
