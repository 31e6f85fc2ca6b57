"""The busiest seconds of the next day, before and after smear, who crowds them, and what helps."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final, NamedTuple

from control_api.answers.expand import rules_of
from control_api.answers.hot_load import HotBounds, HotLoad, Load
from control_api.answers.smear_advice import SmearAdvice, advise_smear
from ports.records import TriggerRecord
from ports.registry import RegistryPort
from scheduling.errors import RuleError
from scheduling.instants import SECOND_US
from scheduling.rules import Rules
from scheduling.vocabulary import TriggerState

DAY_S: Final = 86_400
SECONDS_SHOWN_MAX: Final = 100
_BOUNDS: Final = HotBounds()
_CROWDS_SHOWN: Final = 3
_NAMES_SHOWN: Final = 3
_PAGE_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class Crowd:
    """The triggers of one second that were written alike."""

    schedule: tuple[str, ...]
    zone: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HotSecond:
    """A second's fires, and the largest crowds in it."""

    at_us: int
    count: int
    crowds: tuple[Crowd, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSeconds:
    """A forecast from `from_us` until `until_us`, which is less than asked for where it is large.

    before, after:  the busiest seconds by instants, and by due times under the present smears
    triggers:       how many were counted; `unreadable` have a rule that cannot be evaluated
    is_complete:    all triggers were counted, for all of the time asked for
    """

    from_us: int
    until_us: int
    triggers: int
    unreadable: int
    instants: int
    before: tuple[HotSecond, ...]
    after: tuple[HotSecond, ...]
    advice: SmearAdvice
    is_complete: bool


class Subject(NamedTuple):
    """A live trigger and its rules; None for a rule that cannot be evaluated."""

    trigger: TriggerRecord
    rules: Rules | None


def hot_seconds(
    subjects: Iterable[Subject],
    *,
    now_us: int,
    seconds_shown: int = 10,
    level: int | None = None,
    window_s: int = DAY_S,
    bounds: HotBounds = _BOUNDS,
) -> HotSeconds:
    """The forecast of some live triggers for `window_s` from now on. Pure.

    level:  fires a second that are wanted at most; None = a tenth of the peak
    """
    load = HotLoad(now_us, window_s, bounds)
    unreadable = 0
    is_cut = False
    for number, subject in enumerate(subjects):
        if number >= bounds.triggers:
            is_cut = True
            break
        unreadable += not _add(load, subject)
    shown = min(seconds_shown, SECONDS_SHOWN_MAX)
    before, after = load.before(), load.after()
    return HotSeconds(
        from_us=load.start_us,
        until_us=load.start_us + load.window_s * SECOND_US,
        triggers=len(load.loads),
        unreadable=unreadable,
        instants=before.total(),
        before=_busiest(load, before, shown=shown, is_smeared=False),
        after=_busiest(load, after, shown=shown, is_smeared=True),
        advice=advise_smear(load, after, level=level),
        is_complete=not is_cut and load.window_s == window_s,
    )


def live_subjects(registry: RegistryPort, tenant_id: str | None = None) -> Iterator[Subject]:
    """A tenant's live triggers, or all, with their rules: one definition read for each."""
    after: tuple[str, str] | None = None
    states = (TriggerState.LIVE,)
    while page := registry.triggers(tenant_id, states=states, after=after, limit=_PAGE_ROWS):
        for trigger in page:
            key = (trigger.tenant_id, trigger.trigger_id, trigger.version)
            definition = registry.definition(*key[:2], version=key[2])
            rules = None if definition is None else rules_of(definition, key, name=trigger.name)
            yield Subject(trigger, rules)
        after = (page[-1].tenant_id, page[-1].name)


def _add(load: HotLoad, subject: Subject) -> bool:
    trigger, rules = subject
    if rules is None:
        return False
    left = None if rules.max_fires is None else max(rules.max_fires - trigger.fired_count, 0)
    try:
        name = f"{trigger.tenant_id}/{trigger.name}"
        load.add(name, rules, cursor_us=trigger.decided_through_us, fires_left=left)
    except RuleError:
        return False
    return True


def _busiest(
    load: HotLoad, counts: Counter[int], *, shown: int, is_smeared: bool
) -> tuple[HotSecond, ...]:
    busiest = nsmallest(shown, counts.items(), key=lambda item: (-item[1], item[0]))
    crowds = _crowds(load.loads, [second for second, _ in busiest], is_smeared=is_smeared)
    return tuple(
        HotSecond(load.start_us + second * SECOND_US, count, crowds[second])
        for second, count in busiest
    )


def _crowds(
    loads: list[Load], seconds: list[int], *, is_smeared: bool
) -> dict[int, tuple[Crowd, ...]]:
    """Who is due in some seconds; lists that triggers share are searched once."""
    found: dict[int, dict[tuple[tuple[str, ...], str], list[str]]] = {each: {} for each in seconds}
    hits: dict[int, list[int]] = {}
    for load in loads:
        due = load.due if is_smeared else load.schedule.seconds
        inside = hits.get(id(due))
        if inside is None:
            inside = hits[id(due)] = [each for each in seconds if _has(due, each)]
        for second in inside:
            label = (load.schedule.texts, load.schedule.zone)
            found[second].setdefault(label, []).append(load.name)
    return {second: _largest(crowds) for second, crowds in found.items()}


def _largest(crowds: dict[tuple[tuple[str, ...], str], list[str]]) -> tuple[Crowd, ...]:
    largest = nsmallest(_CROWDS_SHOWN, crowds.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        Crowd(texts, zone, len(names), tuple(names[:_NAMES_SHOWN]))
        for (texts, zone), names in largest
    )


def _has(due: Sequence[int], second: int) -> bool:
    at = bisect_left(due, second)
    return at < len(due) and due[at] == second
