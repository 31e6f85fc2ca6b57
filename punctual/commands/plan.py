"""How the plan of an apply is shown: a line for each field that changes, before and after."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

from control_api.answers.zone_times import local_text
from punctual.commands.tables import Cell, Column, Row, print_table
from punctual.commands.wording import count_text
from punctual.saying import say
from scheduling.instants import from_text

_ENTRIES_SHOWN_MAX: Final = 200
_ITEMS_SHOWN_MAX: Final = 5
_STYLES: Final = {
    "created": "green",
    "edited": "yellow",
    "paused": "yellow",
    "resumed": "yellow",
    "deleted": "red",
}
_COLUMNS: Final = (
    Column("change"),
    Column("subject", flexible=16),
    Column("field", flexible=10),
    Column("before", flexible=16),
    Column("after", flexible=16),
)
_UNCHANGED: Final = "unchanged"
_ORDER: Final = ("created", "edited", "paused", "resumed", "deleted", _UNCHANGED)


def print_plan(entries: Sequence[Any]) -> None:
    """Everything that changes or is to be known; nothing where that is nothing."""
    told = [each for each in entries if each["change"] != _UNCHANGED or _is_spared(each)]
    if not told:
        return
    rows = [row for each in told[:_ENTRIES_SHOWN_MAX] for row in _rows(each)]
    print_table(_COLUMNS, rows)
    left = len(told) - _ENTRIES_SHOWN_MAX
    if left > 0:
        say(f"and {left:,} more; all of them with --json")


def losses_text(entries: Sequence[Any]) -> str:
    """`deletes 2 triggers and stops 3 waiting fires`, or nothing."""
    deleted = Counter(each["kind"] for each in entries if each["change"] == "deleted")
    stopped = sum(each["stopped_fires"] for each in entries)
    parts = []
    if deleted:
        kinds = [count_text(count, kind) for kind, count in deleted.items()]
        parts.append(f"deletes {', '.join(kinds)}")
    if stopped:
        parts.append(f"stops {count_text(stopped, 'waiting fire')}")
    return " and ".join(parts)


def summary_text(plan: Any) -> str:
    """`Applied: 1 created, 2 unchanged.`"""
    counts = Counter(each["change"] for each in plan["entries"])
    known = [f"{counts[change]:,} {change}" for change in _ORDER if counts[change]]
    told = ", ".join(known) or "the manifests hold nothing"
    if set(counts) <= {_UNCHANGED}:
        return f"Everything is as the manifests say: {told}."
    return f"Not applied, a dry run: {told}." if plan["dry_run"] else f"Applied: {told}."


def _is_spared(entry: Any) -> bool:
    """Not deleted although it should go, or a target that nobody may use yet."""
    return entry["warning"] is not None and entry["kind"] != "trigger"


def _rows(entry: Any) -> Iterator[Row]:
    """The first line names the subject."""
    name = entry["name"] if entry["kind"] == "tenant" else f"{entry['tenant']}/{entry['name']}"
    first: Row = (
        Cell(entry["change"], _STYLES.get(entry["change"], "")),
        f"{entry['kind']} {name}",
    )
    for line in _lines(entry) or [("", "", "")]:
        yield (*first, *line)
        first = ("", "")


def _lines(entry: Any) -> list[Row]:
    lines: list[Row] = [_field_line(each) for each in entry["fields"]]
    before, after = ([_moment(entry, each) for each in entry[key]] for key in _NEXT)
    title = "next"
    for old, new in zip_longest(before, after, fillvalue=""):
        style = "" if old == new else "bold"
        lines.append((title, old, Cell(new, style)))
        title = ""
    if entry["settled_rows"]:
        lines.append(("due by now", "", f"{count_text(entry['settled_rows'], 'row')} decided"))
    if entry["stopped_fires"]:
        stopped = count_text(entry["stopped_fires"], "waiting fire")
        lines.append(("fires", stopped, Cell("stopped", "red")))
    if entry["warning"]:
        lines.append((Cell("warning", "yellow"), "", Cell(entry["warning"], "yellow")))
    return lines


_NEXT: Final = ("next_before", "next_after")


def _field_line(field: Any) -> Row:
    prefix = "revision " if field["field"].startswith("calendars.") else ""
    before, after = (_value_text(field[key], prefix) for key in ("before", "after"))
    return field["field"], Cell(before, "red"), Cell(after, "green")


def _value_text(value: Any, prefix: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        left = len(value) - _ITEMS_SHOWN_MAX
        shown = "; ".join(str(each) for each in value[:_ITEMS_SHOWN_MAX])
        return f"{shown}; and {left:,} more" if left > 0 else shown or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return f"{prefix}{value}"


def _moment(entry: Any, instant: str) -> str:
    return local_text(entry["zone"] or "UTC", from_text(instant), weekday=True)
