"""`punctual triggers show`: one trigger in full."""

from typing import Any, Final

from control_api.answers.zone_times import local_text, span_text
from punctual.commands.facts import print_facts
from punctual.commands.moments import us_of
from punctual.saying import say
from scheduling.instants import from_text

_DEFINITION: Final = (
    "target",
    "missed",
    "overlap",
    "gap",
    "fold",
    "retry",
    "run_timeout",
    "outcome_window",
)
_ONLY_IF_SET: Final = ("smear_s", "exclude", "calendars", "max_fires", "starts_at", "ends_at")


def print_trigger(trigger: Any, upcoming: Any, *, at_us: int) -> None:
    """State and definition, the next instants, and the odd nights."""
    definition = trigger["definition"]
    zone = definition["zone"]
    print_facts(_facts(trigger, zone, at_us))
    say()
    print_facts(_definition(trigger))
    say()
    say(f"Next, in {zone}:")
    for each in upcoming["items"]:
        say(f"  {_next(each, zone, at_us)}")
    if not upcoming["items"]:
        say(f"  {upcoming['reason'] or 'none'}")
    say()
    for line in _nights(trigger["odd_nights"]):
        say(line)


def _facts(trigger: Any, zone: str, at_us: int) -> list[tuple[str, str | None]]:
    fire = trigger["newest_fire"]
    note = trigger["quarantine_error"] or trigger["pause_note"]
    return [
        ("trigger", f"{trigger['tenant']}/{trigger['name']}"),
        ("says", trigger["says"]),
        ("state", trigger["state"] + (f": {note}" if note else "")),
        ("newest", "no fire yet" if fire is None else _newest(fire, zone)),
        ("decided", f"through {local_text(zone, from_text(trigger['decided_through']))}"),
        ("fired", f"{trigger['fired_count']:,}"),
        ("id", trigger["trigger_id"]),
        ("version", f"{trigger['version']}, revision {trigger['revision']}"),
        ("created", _ago(trigger["created_at"], zone, at_us)),
    ]


def _definition(trigger: Any) -> list[tuple[str, str | None]]:
    definition = trigger["definition"]
    source = trigger["horizon_source"]
    return [
        ("schedule", "; ".join(definition["schedule"])),
        ("zone", definition["zone"]),
        *((key, _shown(definition[key])) for key in _DEFINITION),
        ("horizon", f"{definition['horizon']} ({source})"),
        *((key, _shown(definition[key])) for key in _ONLY_IF_SET if definition[key]),
        ("payload", "yes, never shown" if trigger["has_payload"] else ""),
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _newest(fire: Any, zone: str) -> str:
    last = fire["through_instant"] or fire["scheduled_instant"]
    return f"{local_text(zone, from_text(last))} {fire['cause'] or fire['state']}"


def _next(instant: Any, zone: str, at_us: int) -> str:
    due_us, instant_us = from_text(instant["due_at"]), from_text(instant["scheduled_instant"])
    smeared = "" if due_us == instant_us else f", sent {span_text(due_us - instant_us)} later"
    away_us = due_us - at_us
    away = f"in {span_text(away_us)}" if away_us >= 0 else f"due {span_text(-away_us)} ago"
    return f"{local_text(zone, instant_us, weekday=True)} ({away}{smeared})"


def _ago(instant: str, zone: str, at_us: int) -> str:
    created_us = us_of(instant) or at_us
    return f"{local_text(zone, created_us)} ({span_text(max(0, at_us - created_us))} ago)"


def _nights(nights: list[Any]) -> list[str]:
    if not nights:
        return ["No odd night in the next 12 months: no clock change touches it."]
    return ["Odd nights of the next 12 months:", *(f"  {night['text']}" for night in nights)]
