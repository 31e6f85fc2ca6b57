"""Tables: aligned, without frames, narrow where the terminal is, and safe to look at."""

import pytest

from punctual.commands.tables import Cell, Column, render_table
from schemas.printable import printable

COLUMNS = (
    Column("name"),
    Column("what it says", flexible=12),
    Column("lane", droppable=1),
    Column("n", right=True, droppable=2),
)
ROWS = [
    ("first", "a short text", "on_time", "1"),
    ("second", "a rather longer text that wraps", "catch_up", "12"),
]


def lines(width: int | None, *, styled: bool = False) -> tuple[list[str], list[str]]:
    text, left_out = render_table(COLUMNS, ROWS, width=width, styled=styled)
    return text.split("\n"), left_out


def test_table_without_a_limit_has_one_line_a_row_and_no_trailing_blanks() -> None:
    assert lines(None) == (
        [
            "name    what it says                     lane       n",
            "first   a short text                     on_time    1",
            "second  a rather longer text that wraps  catch_up  12",
        ],
        [],
    )


def test_table_wraps_flexible_columns_before_it_drops_any() -> None:
    shown, left_out = lines(40)
    assert left_out == []
    assert shown[2:4] == ["second  a rather longer     catch_up  12", "        text that wraps"]


def test_table_drops_columns_in_their_order_and_names_them() -> None:
    shown, left_out = lines(26)
    assert left_out == ["lane"]
    assert shown[0] == "name    what it says     n"
    assert lines(22)[1] == ["lane", "n"]


@pytest.mark.parametrize("width", [1, 8, 20])
def test_table_of_any_width_never_exceeds_it(width: int) -> None:
    assert max(map(len, lines(width)[0])) <= max(width, len(COLUMNS))


def test_table_with_styles_colours_cells_and_headers() -> None:
    text, _ = render_table([Column("state")], [[Cell("failed", "red")]], width=40, styled=True)
    assert "\x1b[1mstate" in text
    assert "\x1b[31mfailed" in text


def test_table_without_styles_holds_no_escape() -> None:
    text, _ = render_table([Column("state")], [[Cell("failed", "red")]], width=40, styled=False)
    assert text == "state\nfailed"


def test_table_shows_markup_as_it_is_and_control_characters_escaped() -> None:
    text, _ = render_table(
        [Column("note")], [["[red]:smile: a\x1b[2Jb\nc"]], width=None, styled=True
    )
    assert text.splitlines()[1] == r"[red]:smile: a\x1b[2Jb\nc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünï", "plain ünï"),
        ("a\x1b]0;x\x07b", r"a\x1b]0;x\x07b"),
        ("a\r\nb", r"a\r\nb"),
        ("a\xa0b\u3000c", "a b c"),
        ("\x9b\x7f", r"\x9b\x7f"),
        ("\ud800", r"\ud800"),
        ("\u202e\u2028", r"\u202e\u2028"),
    ],
)
def test_printable_escapes_what_steers_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_table_without_a_limit_counts_wide_characters_twice() -> None:
    columns = (Column("name"), Column("n", right=True))
    text, _ = render_table(columns, [("日本", "1"), ("ab", "2")], width=None, styled=False)
    assert text.splitlines() == ["name  n", "日本  1", "ab    2"]
