"""Fires as readers see them: what became of one in a few words, and its JSON."""

from typing import Any, Final

from control_api.answers.fire_rows import fire_out, lateness_us
from control_api.answers.zone_times import local_text, span_text
from ports.records import FireRecord
from scheduling.vocabulary import FireState

_STYLES: Final = {
    FireState.ACCEPTED: "green",
    FireState.SUCCEEDED: "green",
    FireState.FAILED: "red",
    FireState.REFUSED: "red",
    FireState.UNKNOWN: "red",
    FireState.UNDELIVERED: "red",
    FireState.HELD: "yellow",
}


def state_style(state: FireState) -> str:
    """The colour of a state on a terminal."""
    return _STYLES.get(state, "")


def lateness_text(row: FireRecord) -> str:
    late_us = lateness_us(row)
    return "" if late_us is None else span_text(late_us)


def cause_text(row: FireRecord, chain: list[FireRecord], zone: str) -> str:
    """`overlap`, `held: lane_rate until ...`, `coalesced into ... (accepted)`, or nothing."""
    if row.state is FireState.HELD and row.held_reason is not None:
        until = row.not_before_us
        return row.held_reason + ("" if until is None else f" until {local_text(zone, until)}")
    if row.cause is None:
        return ""
    if row.coalesced_into_us is not None:
        last_us = chain[-1].key.scheduled_us if chain else row.coalesced_into_us
        became = f" ({_fate(chain[-1])})" if chain else ""
        return f"coalesced into {local_text(zone, last_us)}{became}"
    return row.cause + (f": {row.cause_detail}" if row.cause_detail else "")


def range_text(row: FireRecord, zone: str) -> str:
    """`59 instants ... through ...`, or nothing for a row of one instant."""
    if row.through_us is None or row.instant_count == 1:
        return ""
    count = f"{row.instant_count:,} instants"
    if row.instant_count == 0:
        count = "a span without instants"
    return f"{count} through {local_text(zone, row.through_us)}"


def fire_json(row: FireRecord, zone: str, chain: list[FireRecord]) -> dict[str, Any]:
    """A row in the words of the API; durations in milliseconds."""
    return fire_out(row, zone, chain).model_dump(mode="json")


def _fate(row: FireRecord) -> str:
    return row.cause.value if row.cause is not None else row.state.value
