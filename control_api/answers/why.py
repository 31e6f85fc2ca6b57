"""Why an instant of a trigger fired, did not, or is not decided: facts to one sentence. Pure."""

from collections.abc import Callable, Iterator
from typing import Final

from control_api.answers.why_facts import Answer, Edit, WhyFacts
from control_api.answers.why_fire import fire_answer
from control_api.answers.zone_times import local_text, span_text, wall_time
from ports.records import FireRecord
from scheduling.instants import SECOND_US
from scheduling.vocabulary import TriggerState

__all__ = ["Answer", "Edit", "WhyFacts", "why"]

_JUST_DUE_US: Final = 2 * SECOND_US
_AHEAD_US: Final = SECOND_US  # two clocks that agree well enough may differ by less


def why(facts: WhyFacts) -> Answer:
    """One sentence about one instant, and which kind of answer it is."""
    row = facts.row
    if row is not None and (facts.is_instant or row.instant_count == 0 or row.through_us is None):
        answer = fire_answer(facts, row)
    else:
        answer = next(iter(_reasons(facts)))
    sentence = answer.sentence
    if sentence.startswith("the "):
        sentence = sentence[:1].upper() + sentence[1:]
    if facts.others:
        sentence = f"{sentence[:-1]}; there is also {_others(facts)}."
    return answer._replace(sentence=sentence)


def _reasons(facts: WhyFacts) -> Iterator[Answer]:
    """The reasons for no row, the deepest first."""
    for reason in _REASONS:
        answer = reason(facts)
        if answer is not None:
            yield answer


def _before_the_trigger(facts: WhyFacts) -> Answer | None:
    created_us = facts.trigger.created_us
    if facts.instant_us > created_us:
        return None
    return Answer(
        "not_due",
        f"{facts.subject} did not exist at {facts.when}: it was created at "
        f"{facts.full(created_us)}{_first_after(facts)}.",
    )


def _deleted(facts: WhyFacts) -> Answer | None:
    trigger = facts.trigger
    if trigger.state is not TriggerState.DELETED or facts.instant_us <= trigger.decided_through_us:
        return None
    when = "" if facts.change is not None else f" at {facts.moment(trigger.decided_through_us)}"
    return Answer(
        "not_due",
        f"{facts.subject} {_is_not(facts)} due at {facts.when}: it was deleted"
        f"{facts.by_whom()}{when}.",
    )


def _edited(facts: WhyFacts) -> Answer | None:
    edit = facts.edit
    if edit is None:
        return None
    who = f"{edit.actor} edited it at {facts.moment(edit.at_us)} (version {edit.version})"
    if edit.took_it_away:
        reason = f"{who}, and its schedule has not had that instant since"
    else:
        reason = f"its schedule has that instant only since {who}"
    return Answer("not_due", f"{facts.subject} {_is_not(facts)} due at {facts.when}: {reason}.")


def _no_instant(facts: WhyFacts) -> Answer | None:
    if facts.is_instant:
        return None
    if facts.is_excluded:
        day = wall_time(facts.zone, facts.instant_us).date()
        return Answer(
            "not_due",
            f"{facts.subject} {_is_not(facts)} due at {facts.when}: {day} is excluded from its "
            "schedule.",
        )
    nearest = [
        f"{facts.full(us)} {word}"
        for us, word in ((facts.before_us, "before"), (facts.after_us, "after"))
        if us is not None
    ]
    beside = f"the nearest are {' and '.join(nearest)}"
    if len(nearest) < 2:
        beside = f"the nearest is {nearest[0]}" if nearest else "it has no instant at all"
    return Answer(
        "not_due", f"{facts.when} is not an instant of {facts.subject}'s schedule: {beside}."
    )


def _planned_later(facts: WhyFacts) -> Answer | None:
    if facts.gap is None:
        return None
    gap = facts.gap
    left = gap.instant_count - gap.planned_count
    return Answer(
        "undecided",
        f"{_not_decided(facts)} yet: it is one of {left:,} missed instants through "
        f"{facts.moment(gap.through_us)} that will all fire at the catch-up rate, and is still to "
        f"be planned{facts.idle()}.",
    )


def _decided_without(facts: WhyFacts) -> Answer | None:
    """The cursor is past it, and every instant that was due has a row."""
    if facts.instant_us > facts.trigger.decided_through_us:
        return None
    limit = None if facts.definition is None else facts.definition.max_fires
    if limit is not None:
        reason = f"it had fired its {_times(limit)}"
    else:
        reason = (
            f"everything through {facts.moment(facts.trigger.decided_through_us)} is decided, and "
            "no row tells of that instant"
        )
    return Answer("not_due", f"{facts.subject} was not due at {facts.when}: {reason}.")


def _stopped(facts: WhyFacts) -> Answer | None:
    trigger = facts.trigger
    if trigger.state is TriggerState.PAUSED:
        note = f" ({trigger.pause_note})" if facts.change is None and trigger.pause_note else ""
        return Answer(
            "undecided",
            f"{_not_decided(facts)}: the trigger is paused{facts.by_whom()}{note}, and its resume "
            "says what becomes of it.",
        )
    if trigger.state is TriggerState.QUARANTINED:
        return Answer(
            "undecided",
            f"{_not_decided(facts)}: the trigger is quarantined, because its rule failed with "
            f"{trigger.quarantine_error or 'an unrecorded error'}; a corrected definition or "
            "`punctual resume` ends that.",
        )
    if trigger.state is TriggerState.FINISHED:
        limit = None if facts.definition is None else facts.definition.max_fires
        is_full = limit is not None and trigger.fired_count >= limit
        why_so = f"it has fired its {_times(limit or 0)}" if is_full else "its schedule has ended"
        verb = "did" if facts.instant_us <= facts.now_us else "will"
        return Answer("not_due", f"{facts.subject} {verb} not fire at {facts.when}: {why_so}.")
    return None


def _over_limit(facts: WhyFacts) -> Answer | None:
    if not facts.is_over_limit or facts.definition is None:
        return None
    limit = facts.definition.max_fires or 0
    return Answer(
        "not_due",
        f"{facts.subject} will not fire at {facts.when}: by then it has fired its {_times(limit)}.",
    )


def _zone_data_differs(facts: WhyFacts) -> Answer | None:
    if facts.pinned_tzdata == facts.installed_tzdata:
        return None
    return Answer(
        "undecided",
        f"{_not_decided(facts)}: the store is pinned to tzdata {facts.pinned_tzdata} and this "
        f"program has {facts.installed_tzdata}, so it must not decide until `punctual tzdata "
        "adopt`.",
    )


def _in_the_future(facts: WhyFacts) -> Answer | None:
    if facts.due_us <= facts.now_us:
        return None
    ahead = f"it is due in {span_text(facts.due_us - facts.now_us)}"
    if facts.due_us != facts.instant_us:
        smear = span_text(facts.due_us - facts.instant_us)
        ahead += f", at {facts.moment(facts.due_us)} with its smear of {smear}"
    cursor_us = facts.trigger.decided_through_us
    if cursor_us > facts.now_us + _AHEAD_US:
        ahead += (
            f"; until then the trigger is silent, because everything through "
            f"{local_text(facts.zone, cursor_us)} was decided before the clock went back"
        )
    return Answer("undecided", f"{_not_decided(facts)} yet: {ahead}{facts.idle()}.")


def _overdue(facts: WhyFacts) -> Answer | None:
    late_us = facts.now_us - facts.due_us
    overdue = f"it was due {span_text(late_us)} ago"
    if facts.idle():
        return Answer("undecided", f"{_not_decided(facts)}: {overdue}{facts.idle()}.")
    owner = "" if facts.lease is None else f" {facts.lease.owner_id}"
    if late_us <= _JUST_DUE_US:
        ahead = f"and{owner} is about to decide it"
    else:
        ahead = f"and{owner} has not decided it: its log says why (a bad clock, a busy store)"
    return Answer("undecided", f"{_not_decided(facts)} yet: {overdue} {ahead}.")


_REASONS: Final[tuple[Callable[[WhyFacts], Answer | None], ...]] = (
    _before_the_trigger,
    _deleted,
    _edited,
    _no_instant,
    _planned_later,
    _decided_without,
    _stopped,
    _over_limit,
    _zone_data_differs,
    _in_the_future,
    _overdue,
)


def _not_decided(facts: WhyFacts) -> str:
    return f"{facts.subject} for {facts.when} is not decided"


def _times(limit: int) -> str:
    return "one time" if limit == 1 else f"{limit:,} times"


def _is_not(facts: WhyFacts) -> str:
    return "was not" if facts.instant_us <= facts.now_us else "will not be"


def _first_after(facts: WhyFacts) -> str:
    if facts.after_us is None:
        return ""
    return f", and its first instant after that is {facts.full(facts.after_us)}"


def _others(facts: WhyFacts) -> str:
    return ", ".join(_other(row) for row in facts.others)


def _other(row: FireRecord) -> str:
    kind = {"manual": "a manual run", "backfill": "a backfill"}.get(row.origin, "a run")
    return f"{kind} (sequence {row.key.sequence}: {row.state})"
