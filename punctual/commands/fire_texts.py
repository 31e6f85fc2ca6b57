"""Fires of the API as people read them: what became of one in a few words."""

from typing import Any, Final

from control_api.answers.zone_times import local_text, span_text, utc_text
from punctual.commands.moments import clock_of
from punctual.commands.reading import Part
from punctual.commands.tables import Cell, Column
from scheduling.instants import from_text

_STYLES: Final = {
    "accepted": "green",
    "succeeded": "green",
    "failed": "red",
    "refused": "red",
    "unknown": "red",
    "undelivered": "red",
    "held": "yellow",
}


def state_style(state: str) -> str:
    """The colour of a state on a terminal."""
    return _STYLES.get(state, "")


def late_text(fire: Any) -> str:
    """How late its first attempt was, or nothing."""
    late_ms = fire["lateness_ms"]
    return "" if late_ms is None else span_text(round(late_ms * 1_000))


def cause_text(fire: Any) -> str:
    """`overlap`, `held: lane_rate until ...`, `coalesced into ... (accepted)`, or nothing."""
    zone = fire["zone"]
    if fire["state"] == "held" and fire["held_reason"] is not None:
        until = fire["not_before"]
        told = "" if until is None else f" until {local_text(zone, from_text(until))}"
        return f"{fire['held_reason']}{told}"
    if fire["cause"] is None:
        return ""
    if fire["coalesced_into"] is not None:
        last = fire["became"]
        into = fire["coalesced_into"] if last is None else last["scheduled_instant"]
        became = "" if last is None else f" ({last['cause'] or last['state']})"
        return f"coalesced into {local_text(zone, from_text(into))}{became}"
    return f"{fire['cause']}" + (f": {fire['cause_detail']}" if fire["cause_detail"] else "")


def range_text(fire: Any) -> str:
    """`59 instants through ...`, or nothing for a row of one instant."""
    count = fire["instant_count"]
    if fire["through_instant"] is None or count == 1:
        return ""
    told = "a span without instants" if count == 0 else f"{count:,} instants"
    return f"{told} through {local_text(fire['zone'], from_text(fire['through_instant']))}"


class FireTable:
    """Which columns a table of fires needs, by its first rows, and the cells of a fire in them."""

    def __init__(self, first: Part, *, is_one_trigger: bool) -> None:
        clock = self._clock = clock_of(each["zone"] for each in first.rows)
        is_utc = clock.zone == "UTC"
        columns = (
            (Column("trigger"), not is_one_trigger),
            (Column(clock.title("scheduled")), True),
            (Column("UTC", droppable=3 if clock.zone is None else 0), not is_utc),
            (Column("zone", droppable=5), clock.zone is None),
            (Column("state"), True),
            (Column("cause", flexible=16), not first.is_last or any(map(_told, first.rows))),
            (Column("lane", droppable=1), True),
            (Column("late", right=True, droppable=4), True),
            (Column("tries", droppable=2, right=True), True),
        )
        self._shown = [at for at, (_, is_shown) in enumerate(columns) if is_shown]
        self.columns = [columns[at][0] for at in self._shown]

    def cells(self, fire: Any) -> list[str | Cell]:
        """One row of the table."""
        zone, instant_us = fire["zone"], from_text(fire["scheduled_instant"])
        local = self._clock.text(zone, instant_us)
        cells = (
            f"{fire['tenant']}/{fire['trigger']}",
            local,
            utc_text(instant_us, beside=local),
            zone,
            Cell(fire["state"], state_style(fire["state"])),
            _told(fire),
            fire["lane"],
            late_text(fire),
            str(fire["attempts"] or ""),
        )
        return [cells[at] for at in self._shown]


def _told(fire: Any) -> str:
    return ": ".join(part for part in (range_text(fire), cause_text(fire)) if part)
