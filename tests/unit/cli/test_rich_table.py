"""A table on a narrow terminal: what a person copies stays whole."""

import pytest

from compozy.cli.rich_table import draw

SESSION = "sess-0123456789abcdef"
TITLES = ("ID", "NAME", "AGENT", "STATE", "UPDATED")
ROWS = ((SESSION, "", "code-scout", "stopped", "18 minutes ago"), (SESSION, "", "general", "active", "just now"))


def drawn(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    draw(TITLES, ROWS, colour=False)
    return capsys.readouterr().out.splitlines()


def test_a_wide_terminal_shows_every_column_two_spaces_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = drawn(80, monkeypatch, capsys)
    assert lines[0].split() == list(TITLES) and len(lines) == 4
    assert lines[2].rstrip() == f"{SESSION}        code-scout  stopped  18 minutes ago"


def test_a_narrow_one_leaves_out_what_is_empty_and_keeps_the_id_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = drawn(50, monkeypatch, capsys)
    assert "NAME" not in lines[0] and "UPDATED" in "".join(lines[:2])
    assert sum(line.startswith(f"{SESSION} ") for line in lines) == 2
    assert max(map(len, lines)) <= 50


def test_where_even_that_has_no_room_everything_is_folded_and_nothing_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = drawn(24, monkeypatch, capsys)
    first = "".join(line[: line.index(" ")] for line in lines if not line.startswith(("ID", "─", " ")))
    assert first == SESSION * 2
    assert max(map(len, lines)) <= 24
