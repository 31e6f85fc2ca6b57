"""Long lists as they come: a table or JSON that begins before its end is known."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import click

from punctual.commands.reading import Part
from punctual.commands.tables import Column, Row, is_terminal, print_table
from punctual.progress import waiting
from schemas.printable import printable

_GAP: Final = "  "


class Table(Protocol):
    """The columns of a list, and a row's cells in them."""

    @property
    def columns(self) -> Sequence[Column]: ...

    def cells(self, row: Any, /) -> Row: ...


class FixedTable(NamedTuple):
    """A table whose columns do not depend on its rows."""

    columns: Sequence[Column]
    cells: Callable[[Any], Row]


def print_parts(parts: Iterable[Part], table_of: Callable[[Part], Table]) -> int:
    """Each part when it comes, and how many rows there were in the end.

    On a terminal each part has a header of its own; in a pipe there is one. The first part with
    rows says which columns all of them have.
    """
    table: Table | None = None
    plain: _PlainTable | None = None
    count = 0
    for part in parts:
        if not part.rows:
            continue
        count += len(part.rows)
        table = table or table_of(part)
        rows = list(map(table.cells, part.rows))
        if is_terminal():
            print_table(table.columns, rows)
            continue
        if plain is None:
            plain = _PlainTable(table.columns, rows)
            click.echo(plain.header())
        click.echo("\n".join(map(plain.line, rows)))
    return count


def print_json_items(parts: Iterable[Part]) -> None:
    """The rows of all parts as one JSON array, written as they come."""
    count = 0
    for part in parts:
        for row in part.rows:
            text = json.dumps(row, indent=2, ensure_ascii=False).replace("\n", "\n  ")
            click.echo(f"{',' if count else '['}\n  {text}", nl=False)
            count += 1
    click.echo("\n]" if count else "[]")


def watched(parts: Iterable[Part], *, noun: str) -> Iterator[Part]:
    """The parts; who waits for the first, or for a pipe to fill, sees that work goes on."""
    rest = iter(parts)
    if is_terminal():
        first = Part([], is_last=True)
        with waiting(f"Reading {noun}"):
            for first in rest:
                if first.rows or first.is_last:
                    break
        yield first
        yield from rest
        return
    count = 0
    with waiting(f"Reading {noun}") as tell:
        for part in rest:
            count += len(part.rows)
            tell(f"Reading {noun}: {count:,} so far")
            yield part


class _PlainTable:
    """Lines for a pipe: the columns are as wide as the first rows need them."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        self._columns = columns
        shown = [[printable(_text(each)) for each in row] for row in rows]
        self._widths = [
            max(len(text) for text in (column.title, *(row[at] for row in shown)))
            for at, column in enumerate(columns)
        ]

    def header(self) -> str:
        return self.line([column.title for column in self._columns])

    def line(self, row: Row) -> str:
        texts = (
            text.rjust(width) if column.right else text.ljust(width)
            for text, width, column in zip(
                (printable(_text(each)) for each in row),
                self._widths,
                self._columns,
                strict=True,
            )
        )
        return _GAP.join(texts).rstrip()


def _text(cell: str | tuple[str, str]) -> str:
    return cell if isinstance(cell, str) else cell[0]
