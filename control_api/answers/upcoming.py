"""What is due next, of one trigger or of a tenant, by the rules and spans of the decision."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice
from typing import Final, NamedTuple

from control_api.answers.expand import Versions
from ports.history import HistoryPort
from ports.records import TriggerRecord
from ports.registry import RegistryPort
from scheduling.instants import to_text
from scheduling.rules import Rules, Segment, Span, due_us, segments
from scheduling.vocabulary import SpanKind, TriggerState

UPCOMING_MAX: Final = 1_000
_TRIGGERS_MAX: Final = 1_000  # of a tenant, by next due time; more are not merged


class Upcoming(NamedTuple):
    """One instant that is still to be decided."""

    due_us: int
    instant_us: int
    tenant_id: str
    trigger_id: str
    name: str


@dataclass(frozen=True, slots=True)
class UpcomingAnswer:
    """The next instants in order of due times.

    reason:       why there are none, where a trigger's state or rule says so
    is_complete:  False where more triggers are due than were merged, so that fewer are told
    """

    instants: tuple[Upcoming, ...]
    reason: str | None = None
    is_complete: bool = True


def upcoming_of_trigger(
    registry: RegistryPort, trigger: TriggerRecord, *, from_us: int, count: int
) -> UpcomingAnswer:
    """The first `count` (at most UPCOMING_MAX) instants due after `from_us`."""
    reason = reason_for_none(trigger)
    if reason is not None:
        return UpcomingAnswer((), reason)
    versions = Versions(registry)
    walk = _of_stored(registry, versions, trigger, from_us=from_us)
    found = tuple(islice(walk, min(count, UPCOMING_MAX)))
    key = (trigger.tenant_id, trigger.trigger_id, trigger.version)
    if not found and versions.rules(key, trigger.name) is None:
        return UpcomingAnswer((), "its rule cannot be evaluated: it is about to be quarantined")
    if found:
        return UpcomingAnswer(found)
    if trigger.next_due_us is not None and trigger.next_due_us <= from_us:
        return UpcomingAnswer((), f"nothing is due after {to_text(from_us)}")
    return UpcomingAnswer((), "nothing lies ahead: it has fired its last")


def upcoming_of_tenant(
    registry: RegistryPort,
    history: HistoryPort,
    tenant_id: str,
    *,
    now_us: int,
    count: int,
    through_us: int | None = None,
    triggers_max: int = _TRIGGERS_MAX,
) -> UpcomingAnswer:
    """A tenant's first `count` instants due after `now_us`, through `through_us` if given."""
    triggers = history.upcoming(tenant_id, through_us=through_us, limit=triggers_max)
    versions = Versions(registry)
    walks = (
        (each.next_due_us or now_us, _of_stored(registry, versions, each, from_us=now_us))
        for each in triggers
    )
    found = list(islice(_merged(walks), min(count, UPCOMING_MAX)))
    if through_us is not None:
        found = [each for each in found if each.due_us <= through_us]
    if len(triggers) < triggers_max:
        return UpcomingAnswer(tuple(found))
    # The triggers left out are due no earlier than the last of these, so up to it all is known.
    known_us = triggers[-1].next_due_us or 0
    certain = tuple(each for each in found if each.due_us <= known_us)
    return UpcomingAnswer(certain, is_complete=len(certain) == len(found))


def reason_for_none(trigger: TriggerRecord) -> str | None:
    """Why a trigger that is not live has nothing ahead; None for a live one."""
    if trigger.state is TriggerState.PAUSED:
        note = f" ({trigger.pause_note})" if trigger.pause_note else ""
        return f"paused{note}: nothing is due until it is resumed"
    if trigger.state is TriggerState.QUARANTINED:
        return f"quarantined ({trigger.quarantine_error}): nothing is due until it is resumed"
    if trigger.state is TriggerState.FINISHED:
        return "finished: nothing lies ahead"
    if trigger.state is TriggerState.DELETED:
        return "deleted: nothing is due any more"
    return None


def upcoming_instants(
    trigger: TriggerRecord,
    spans: Sequence[Span],
    versions: Mapping[int, Rules],
    *,
    from_us: int,
) -> Iterator[Upcoming]:
    """A trigger's undecided instants due after `from_us`, ascending, computed as asked for. Pure.

    What a pause or its like covers is left out, and what `max_fires` no longer allows.
    """
    fired = trigger.fired_count
    for segment in segments(spans, trigger.decided_through_us):
        if segment.span.kind is not SpanKind.LIVE:
            if segment.ended_us is None:
                return
            continue
        rules = versions[segment.span.version]
        skipped_us = max(segment.after_us, from_us - rules.smear_us)
        if rules.max_fires is not None:
            fired += rules.recurrence.count_between_us(segment.after_us, skipped_us)
        for instant_us, instant_due_us in _of_segment(rules, segment, skipped_us):
            if rules.max_fires is not None and fired >= rules.max_fires:
                return
            fired += 1
            if instant_due_us > from_us:
                names = (trigger.tenant_id, trigger.trigger_id, trigger.name)
                yield Upcoming(instant_due_us, instant_us, *names)


def _merged(walks: Iterable[tuple[int, Iterator[Upcoming]]]) -> Iterator[Upcoming]:
    """By due time; a walk is begun when its turn comes: none of it is due before its number."""
    waiting = iter(walks)
    ahead = next(waiting, None)
    begun: list[tuple[Upcoming, int, Iterator[Upcoming]]] = []
    order = 0
    while begun or ahead is not None:
        while ahead is not None and (not begun or ahead[0] <= begun[0][0].due_us):
            order += 1
            _push(begun, ahead[1], order)
            ahead = next(waiting, None)
        if begun:
            found, number, walk = heappop(begun)
            yield found
            _push(begun, walk, number)


def _push(
    begun: list[tuple[Upcoming, int, Iterator[Upcoming]]], walk: Iterator[Upcoming], order: int
) -> None:
    found = next(walk, None)
    if found is not None:
        heappush(begun, (found, order, walk))


def _of_segment(rules: Rules, segment: Segment, after_us: int) -> Iterator[tuple[int, int]]:
    """(instant, due time) of one live segment from `after_us` on."""
    instant_us = rules.recurrence.next_after_us(after_us)
    while instant_us is not None:
        if segment.through_us is not None and instant_us > segment.through_us:
            return
        next_us = rules.recurrence.next_after_us(instant_us)
        yield instant_us, due_us(rules, instant_us, next_us)
        instant_us = next_us


def _of_stored(
    registry: RegistryPort, versions: Versions, trigger: TriggerRecord, *, from_us: int
) -> Iterator[Upcoming]:
    """The same of a stored trigger; nothing where one of its rules cannot be evaluated."""
    key = (trigger.tenant_id, trigger.trigger_id)
    spans = [
        Span(each.from_us, each.kind, each.version, each.resume_rule)
        for each in registry.spans(*key)
    ]
    rules: dict[int, Rules] = {}
    for segment in segments(spans, trigger.decided_through_us):
        version = segment.span.version
        found = versions.rules((*key, version), trigger.name)
        if found is None:
            return
        rules[version] = found
    yield from upcoming_instants(trigger, spans, rules, from_us=from_us)
