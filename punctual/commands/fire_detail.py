"""`punctual fires show`: one fire in full."""

from typing import Any, Final

from control_api.answers.zone_times import local_text, span_text, wall_text
from punctual.commands.facts import print_facts
from punctual.commands.fire_texts import cause_text, late_text, range_text
from punctual.commands.moments import clock_of, us_of
from punctual.commands.tables import Cell, Column, print_table
from punctual.saying import say
from scheduling.instants import from_text

_HANDS: Final = {"manual": "run by hand"}


def print_fire(found: Any) -> None:
    """A fire's facts, its attempts, and the fires that it was coalesced into."""
    fire, attempts, chain = found["fire"], found["attempts"], found["chain"]
    print_facts(_facts(fire))
    if attempts:
        say()
        _print_attempts(attempts, fire["zone"])
    for link in chain:
        became = cause_text(link) or link["state"]
        say()
        say(f"Coalesced into the fire of {link['scheduled_local']}: {became}.")
        say(f"  {link['fire_key']}")


def _facts(fire: Any) -> list[tuple[str, str | None]]:
    zone = fire["zone"]
    told = ": ".join(part for part in (fire["state"], range_text(fire), cause_text(fire)) if part)
    late = late_text(fire)
    return [
        ("fire", fire["fire_key"]),
        ("trigger", f"{fire['tenant']}/{fire['trigger']}, version {fire['version']}"),
        ("scheduled", f"{_moment(zone, fire['scheduled_instant'])} in {zone}"),
        ("state", told),
        ("worker said", fire["outcome_cause"]),
        ("lane", ", ".join(filter(None, (fire["lane"], _HANDS.get(fire["origin"]))))),
        ("due", _moment(zone, fire["due_at"])),
        ("decided", _moment(zone, fire["decided_at"])),
        ("first sent", _moment(zone, fire["first_dispatched_at"]) + (late and f", late {late}")),
        ("changed", _moment(zone, fire["changed_at"])),
        ("tzdata", fire["tzdata_version"]),
    ]


def _moment(zone: str, instant: str | None) -> str:
    return "" if instant is None else local_text(zone, from_text(instant), weekday=True)


def _print_attempts(attempts: list[Any], zone: str) -> None:
    clock = clock_of([zone])
    columns = [
        Column("try", right=True),
        Column(clock.title("sent")),
        Column("took", right=True),
        Column("result"),
        Column("HTTP", right=True),
        Column("error", flexible=16),
    ]
    if not any(each["error"] for each in attempts):
        columns.pop()
    print_table(columns, [_cells(each, zone)[: len(columns)] for each in attempts])


def _cells(attempt: Any, zone: str) -> list[str | Cell]:
    sent_us, finished_us = from_text(attempt["dispatched_at"]), us_of(attempt["finished_at"])
    return [
        str(attempt["n"]),
        wall_text(zone, sent_us),
        "" if finished_us is None else span_text(finished_us - sent_us),
        attempt["transport_result"] or "under way",
        str(attempt["http_status"] or ""),
        attempt["error"] or "",
    ]
