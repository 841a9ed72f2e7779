"""A table on a terminal, drawn by rich. Imported only when one is drawn: rich costs more than the whole rest."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def draw(titles: Sequence[str], rows: Sequence[Sequence[str]], *, colour: bool) -> None:
    """Draw on standard output, folded to the terminal's width; cells are plain text, never markup."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold" if colour else "")
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(no_color=not colour, highlight=False).print(table)
