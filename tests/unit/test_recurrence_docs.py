"""docs/recurrence.md says what the code does: its tables are computed here."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scheduling import compile_recurrence
from scheduling.fields import FIELDS, parse_field
from scheduling.instants import SECOND_US, from_us
from scheduling.known_differences import KNOWN_DIFFERENCES
from scheduling.zones import load_zone

DOCS = Path(__file__).resolve().parents[2] / "docs" / "recurrence.md"


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def _block(name: str) -> str:
    text = DOCS.read_text(encoding="utf-8")
    return text.partition(f"<!-- {name} -->\n\n")[2].partition("\n\n<!-- end -->")[0]


def _section(title: str) -> str:
    return DOCS.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


ODD_NIGHTS = _rows(_block("odd nights"))


@pytest.mark.parametrize("row", ODD_NIGHTS, ids=lambda row: " ".join(row[:3]))
def test_docs_odd_night_row_is_what_the_compiler_gives(row: list[str]) -> None:
    place, expression, rules, expected = row
    zone, change = re.split(r", (?=\d)", place)
    before, after = change.split(" → ")
    changed = [_wall(before), _wall(after if " " in after else f"{before[:10]} {after}")]
    assert changed in _changes(zone)
    recurrence = compile_recurrence(
        expression.strip("`"),
        zone,
        gap="skip" if rules == "skip" else "shift_forward",
        fold=rules if rules in ("last", "both") else "first",
    )
    # From midnight to midnight on the wall: the day before the change to the day after it.
    days = [_wall(before[:10]) + timedelta(days=ahead) for ahead in (-1, 2)]
    first, end = (_instant_of(zone, day) for day in days)
    found = recurrence.between(first - timedelta(seconds=1), end - timedelta(seconds=1), 99)
    assert ", ".join(f"{instant:%m-%d %H:%M}" for instant in found) == expected


def _wall(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _changes(zone: str) -> list[list[datetime]]:
    """What the clock shows, as if it were UTC, before and after each change."""
    table = load_zone(zone)
    return [
        [from_us((at + offset) * SECOND_US) for offset in table.offsets[number : number + 2]]
        for number, at in enumerate(table.starts[1:-1])
    ]


def _instant_of(zone: str, wall: datetime) -> datetime:
    once = compile_recurrence(f"at {wall:%Y-%m-%dT%H:%M}", zone)
    instant = once.next_after_us(-(10**18))
    assert instant is not None
    return from_us(instant)


@pytest.mark.parametrize(
    "example", [row[1].strip("`") for row in _rows(_section("Forms")) if row[1].startswith("`")]
)
def test_docs_form_example_is_accepted(example: str) -> None:
    recurrence = compile_recurrence(example, "Europe/London", identity=("acme", "report"))
    assert recurrence.next_after(datetime(2020, 1, 1, tzinfo=UTC)) is not None


@pytest.mark.parametrize("row", _rows(_section("Fields")), ids=lambda row: row[0])
def test_docs_field_example_is_accepted_by_a_field(row: list[str]) -> None:
    for example in re.findall(r"`([^`]+)`", row[1]):
        assert any(_accepts(field.name, example) for field in FIELDS), example


def _accepts(name: str, text: str) -> bool:
    try:
        parse_field(name, text)
    except ValueError:
        return False
    return True


def test_docs_known_differences_are_the_codes() -> None:
    lines = ["| name | example | reason |", "|---|---|---|"]
    lines += [f"| {one.name} | {_code(one.example)} | {one.reason} |" for one in KNOWN_DIFFERENCES]
    assert _block("known differences") == "\n".join(lines)


def _code(example: str) -> str:
    """The expression as code, and the words after it as words."""
    expression, words, rest = example.partition(" on ")
    return f"`{expression}`{words}{rest}"
