"""A table on a terminal, drawn by rich. Imported only when one is drawn: rich costs more than the whole rest."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

# What a column needs beside a whole first one: a few letters and the space around it.
_LEAST = 7
_GAP = 2


def draw(titles: Sequence[str], rows: Sequence[Sequence[str]], *, colour: bool) -> None:
    """Draw on standard output, folded to the terminal's width; cells are plain text, never markup.

    Where not everything has room, columns without a value go first. The first column stays whole as long as the
    others get a little: it holds what a person copies, a name or an id.
    """
    console = Console(no_color=not colour, highlight=False)
    kept = _that_have_room(titles, rows, console.width)
    widest = max((cell_len(line[0]) for line in (titles, *rows)), default=0)
    stays_whole = widest + _LEAST * (len(kept) - 1) <= console.width
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, _GAP - 1, 0, 0),
        header_style="bold" if colour else "",
    )
    for number in kept:
        table.add_column(titles[number], overflow="fold", no_wrap=stays_whole and number == 0)
    for row in rows:
        table.add_row(*(Text(row[number]) for number in kept))
    console.print(table)


def _that_have_room(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the columns to draw: all that fit side by side, else those that say something."""
    columns = range(len(titles))
    needed = sum(max(cell_len(line[n]) for line in (titles, *rows)) + _GAP for n in columns) - _GAP
    if needed <= width:
        return list(columns)
    return [n for n in columns if n == 0 or any(row[n] for row in rows)]
