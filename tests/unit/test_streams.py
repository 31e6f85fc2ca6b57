"""Long lists as they come: in a pipe, on a terminal, and as JSON."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from punctual.commands import streams, tables
from punctual.commands.moments import clock_of
from punctual.commands.reading import Part, parts_of
from punctual.commands.streams import FixedTable, print_json_items, print_parts, watched
from punctual.commands.tables import Column
from scheduling.instants import from_text

TABLE = FixedTable(
    (Column("name"), Column("n", right=True)), lambda row: (row["name"], str(row["n"]))
)
FIRST = [{"name": "first", "n": 1}, {"name": "second", "n": 20}]
LATER = [{"name": "a name that is longer", "n": 3}, {"name": "x\x1b[2J", "n": 4_000}]


def parts() -> Iterator[Part]:
    yield Part([], is_last=False)
    yield Part(FIRST, is_last=False)
    yield Part(LATER, is_last=True)


def test_parts_in_a_pipe_have_one_header_and_the_widths_of_the_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert print_parts(parts(), lambda first: TABLE) == 4
    assert capsys.readouterr().out.splitlines() == [
        "name     n",
        "first    1",
        "second  20",
        "a name that is longer   3",
        r"x\x1b[2J  4000",
    ]


def test_parts_on_a_terminal_have_a_header_each(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda: True)
    monkeypatch.setattr(tables, "use_colours", lambda: False)
    assert print_parts(parts(), lambda first: TABLE) == 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "name     n"
    assert lines[3] == "name                      n"


def test_part_is_printed_before_the_next_one_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen: list[str] = []

    def asked() -> Iterator[Part]:
        yield Part(FIRST, is_last=False)
        seen.append(capsys.readouterr().out)
        yield Part(LATER, is_last=True)

    print_parts(asked(), lambda first: TABLE)
    assert seen[0].splitlines()[1] == "first    1"


def test_items_as_json_are_one_array_like_that_of_the_library(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_json_items(parts())
    assert capsys.readouterr().out == f"{json.dumps(FIRST + LATER, indent=2)}\n"
    print_json_items([Part([], is_last=True)])
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("is_terminal", [True, False])
def test_watched_parts_are_all_of_them(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda: is_terminal)
    rows = [row for part in watched(parts(), noun="things") for row in part.rows]
    assert rows == FIRST + LATER


class Pages:
    """An API that gives these pages one after the other."""

    def __init__(self, *pages: list[int]) -> None:
        self.pages = list(pages)
        self.asked: list[dict[str, Any]] = []

    def get(self, path: str, **params: Any) -> Any:
        self.asked.append(params)
        cursor = str(len(self.asked)) if len(self.pages) > 1 else None
        return {"items": self.pages.pop(0)[: params["limit"]], "cursor": cursor}


@pytest.mark.parametrize(
    ("limit", "found", "asked"),
    [
        (10, [([1, 2], False), ([], False), ([3], True)], [10, 8, 8]),
        (2, [([1, 2], True)], [2]),
        (3, [([1, 2], False), ([], False), ([3], True)], [3, 1, 1]),
    ],
)
def test_parts_of_a_list_end_with_it_or_at_the_limit(
    limit: int, found: list[tuple[list[int], bool]], asked: list[int]
) -> None:
    api: Any = Pages([1, 2], [], [3])
    told = parts_of(api, "/v1/x", limit=limit, params={"tenant": "acme"})
    assert [tuple(part) for part in told] == found
    assert [params["limit"] for params in api.asked] == asked
    assert [params["cursor"] for params in api.asked] == [None, "1", "2"][: len(asked)]


@pytest.mark.parametrize(
    ("zones", "title", "text"),
    [
        (["Asia/Tokyo"], "due (Asia/Tokyo)", "2026-06-01 18:00:00"),
        (["Asia/Tokyo", "UTC"], "due (own zone)", "2026-06-01 18:00:00 +09:00"),
        (["UTC"], "due (UTC)", "2026-06-01 18:00:00 +09:00 Asia/Tokyo"),
    ],
)
def test_clock_of_a_table_says_its_zone_in_the_header_or_beside_the_time(
    zones: list[str], title: str, text: str
) -> None:
    clock = clock_of(zones)
    assert clock.title("due") == title
    assert clock.text("Asia/Tokyo", from_text("2026-06-01T09:00:00Z")) == text
