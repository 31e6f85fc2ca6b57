"""Tables of text: aligned columns, no frames; colours and wrapping only on a terminal."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from shutil import get_terminal_size
from typing import Final, NamedTuple

import click

from punctual.saying import say
from schemas.printable import printable

_GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """How a column gives way where the line is too short.

    flexible:   wraps, down to about so many characters; 0 = never
    droppable:  left out before anything gets narrower than that, 1 first; 0 = never
    """

    title: str
    flexible: int = 0
    droppable: int = 0
    right: bool = False


class Cell(NamedTuple):
    """A text with a style, which only a terminal shows."""

    text: str
    style: str = ""


Row = Sequence[str | Cell]


def print_table(columns: Sequence[Column], rows: Sequence[Row], *, err: bool = False) -> None:
    """The table on stdout, or stderr; what did not fit is named on stderr."""
    styled = sys.stderr.isatty() if err else is_terminal()
    width = get_terminal_size().columns if styled else None
    text, left_out = render_table(columns, rows, width=width, styled=styled and use_colours())
    click.echo(text, err=err, color=True if styled else None)
    if left_out:
        names = ", ".join(left_out)
        say(f"({names}: left out; widen the terminal or use --json)", err=True)


def is_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def use_colours() -> bool:
    """No colours for a dumb terminal, nor where NO_COLOR asks for none (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render_table(
    columns: Sequence[Column], rows: Sequence[Row], *, width: int | None, styled: bool
) -> tuple[str, list[str]]:
    """The lines of a table, and the titles of columns that did not fit. Width None: no limit."""
    if width is None and not styled:
        plain = PlainTable(columns, rows)
        return "\n".join((plain.header(), *map(plain.line, rows))), []
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[_cell(each) for each in row] for row in rows]
    shown = _fitting(columns, cells, width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for at in shown:
        column = columns[at]
        table.add_column(
            column.title,
            no_wrap=not column.flexible,
            overflow="fold",
            justify="right" if column.right else "left",
        )
    for row in cells:
        table.add_row(*(Text(row[at].text, style=row[at].style) for at in shown))
    target = StringIO()
    console = Console(
        file=target,
        width=width or _natural_width(columns, cells, shown) + 1,
        force_terminal=styled,
        color_system="standard" if styled else None,
        no_color=not styled,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(table)
    lines = [line.rstrip() for line in target.getvalue().splitlines()]
    return "\n".join(lines), [column.title for at, column in enumerate(columns) if at not in shown]


class PlainTable:
    """Lines for a pipe: each column is as wide as these rows need it, for rows that follow too.

    Without the library, which takes longer to import than most commands to answer.
    """

    def __init__(self, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        self._columns = columns
        cells = [[_cell(each) for each in row] for row in rows]
        self._widths = [_column_width(columns, cells, at) for at in range(len(columns))]

    def header(self) -> str:
        return self.line([column.title for column in self._columns])

    def line(self, row: Row) -> str:
        """One row, without blanks at its end."""
        texts = []
        for given, width, column in zip(row, self._widths, self._columns, strict=True):
            text = _cell(given).text
            blanks = " " * (width - _text_width(text))
            texts.append(blanks + text if column.right else text + blanks)
        return (" " * _GAP).join(texts).rstrip()


def _cell(given: str | Cell) -> Cell:
    return (
        Cell(printable(given))
        if isinstance(given, str)
        else given._replace(text=printable(given.text))
    )


def _fitting(
    columns: Sequence[Column], cells: Sequence[Sequence[Cell]], width: int | None
) -> list[int]:
    """The columns to show: droppable ones go until the flexible ones have room."""
    shown = list(range(len(columns)))
    if width is None:
        return shown
    droppable = sorted(
        (at for at in shown if columns[at].droppable), key=lambda at: columns[at].droppable
    )
    for at in droppable:
        if _least_width(columns, cells, shown) <= width:
            break
        shown.remove(at)
    return shown


def _least_width(
    columns: Sequence[Column], cells: Sequence[Sequence[Cell]], shown: Sequence[int]
) -> int:
    widths = [
        min(columns[at].flexible, _column_width(columns, cells, at))
        if columns[at].flexible
        else _column_width(columns, cells, at)
        for at in shown
    ]
    return sum(widths) + _GAP * len(widths)


def _natural_width(
    columns: Sequence[Column], cells: Sequence[Sequence[Cell]], shown: Sequence[int]
) -> int:
    return sum(_column_width(columns, cells, at) + _GAP for at in shown)


def _column_width(columns: Sequence[Column], cells: Sequence[Sequence[Cell]], at: int) -> int:
    return max(_text_width(text) for text in [columns[at].title, *(row[at].text for row in cells)])


def _text_width(text: str) -> int:
    """In cells of a terminal: some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
