"""Long lists as they come: a table or JSON that begins before its end is known."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import click

from punctual.commands.reading import Part
from punctual.commands.tables import Column, PlainTable, Row, is_terminal, print_table
from punctual.progress import waiting
from punctual.saying import json_text, say


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
    plain: PlainTable | None = None
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
            plain = PlainTable(table.columns, rows)
            say(plain.header())
        say(*map(plain.line, rows))
    return count


def print_json_items(parts: Iterable[Part]) -> None:
    """The rows of all parts as one JSON array, written as they come."""
    count = 0
    for part in parts:
        for row in part.rows:
            text = json_text(row, indent=2).replace("\n", "\n  ")
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
