"""From a definition to a compiled recurrence, or to the reason why it is refused."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeVar

from scheduling.calendars import ExclusionCalendar
from scheduling.cron_engine import CronEngine
from scheduling.day_set import day_set
from scheduling.engine import Engine, MemberEngine
from scheduling.errors import InvalidRecurrence
from scheduling.excluding_engine import ExcludedSpans, ExcludingEngine, excluded_spans
from scheduling.fields import parse_field
from scheduling.grammar import AtForm, CronForm, EveryForm, Form, read_expression
from scheduling.instants_engine import InstantsEngine
from scheduling.interval_engine import IntervalEngine
from scheduling.limits import EXCLUSION_DATES_MAX, UNION_MEMBERS_MAX
from scheduling.recurrence import Recurrence, RecurrenceClass
from scheduling.union_engine import UnionEngine
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import ClockSource, WallClock, wall_clock
from scheduling.wall_pattern import WallPattern
from scheduling.zones import refuse_shapeless_name

_Rule = TypeVar("_Rule", GapRule, FoldRule)
_GAP_RULES = {str(rule): rule for rule in GapRule}
_FOLD_RULES = {str(rule): rule for rule in FoldRule}


def compile_recurrence(
    expression: str | Sequence[str],
    zone: str,
    *,
    gap: GapRule | str = GapRule.SHIFT_FORWARD,
    fold: FoldRule | str = FoldRule.FIRST,
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
    exclusions: Iterable[date] = (),
    calendars: Iterable[ExclusionCalendar] = (),
    identity: tuple[str, str] | None = None,
    clocks: ClockSource = wall_clock,
) -> Recurrence:
    """Compile an expression, or a list of them as a union, in an IANA zone.

    gap, fold:          what becomes of wall times the clock skips or repeats
    starts_at, ends_at: aware datetimes, both inclusive
    exclusions:         local dates in the zone on which nothing is due
    calendars:          more of them, under the names of their calendars
    identity:           (tenant, trigger name), which `H` is derived from
    clocks:             the zones; those of the pinned tzdata unless data sets are compared
    Raises InvalidRecurrence naming the field.
    """
    refuse_shapeless_name(zone)
    gap_rule = _rule("gap", gap, _GAP_RULES)
    fold_rule = _rule("fold", fold, _FOLD_RULES)
    place = _Place(zone, gap_rule, fold_rule, clocks)
    if isinstance(expression, str):
        form = read_expression(expression, identity)
        engine: Engine = _engine(form, place, expression)
        kind = _class_of(form)
    else:
        expression = _members(expression)
        engine, kind = _union(expression, place, identity)
    own = _dates(exclusions) if exclusions else ()
    named = tuple(calendars)
    if own or named:
        spans = _excluded_spans(clocks(zone, GapRule.SKIP, FoldRule.BOTH), own, named)
        engine = ExcludingEngine(engine, spans)
    recurrence = Recurrence(
        engine,
        expression,
        zone=zone,
        gap=gap_rule,
        fold=fold_rule,
        starts_at=_moment("starts_at", starts_at),
        ends_at=_moment("ends_at", ends_at),
        exclusions=own,
        calendars=named,
        identity=identity,
        recurrence_class=kind,
        clocks=clocks,
    )
    if starts_at is not None or ends_at is not None or own or named:
        _refuse_empty(recurrence)
    return recurrence


def recompile(
    expression: str | tuple[str, ...],
    zone: str,
    gap: GapRule,
    fold: FoldRule,
    starts_at: datetime | None,
    ends_at: datetime | None,
    exclusions: tuple[date, ...],
    calendars: tuple[ExclusionCalendar, ...],
    identity: tuple[str, str] | None,
    clocks: ClockSource,
) -> Recurrence:
    """Compile again what a pickled recurrence carries."""
    return compile_recurrence(
        expression,
        zone,
        gap=gap,
        fold=fold,
        starts_at=starts_at,
        ends_at=ends_at,
        exclusions=exclusions,
        calendars=calendars,
        identity=identity,
        clocks=clocks,
    )


class _Place(NamedTuple):
    """Where and by which rules wall times are read."""

    zone: str
    gap: GapRule
    fold: FoldRule
    clocks: ClockSource

    def clock(self) -> WallClock:
        return self.clocks(self.zone, self.gap, self.fold)


def _engine(form: Form, place: _Place, text: str) -> MemberEngine:
    if isinstance(form, CronForm):
        if form.is_interval:
            place = place._replace(gap=GapRule.SKIP, fold=FoldRule.BOTH)
        clock = place.clock()
        times = _times(form.second, form.minute, form.hour)
        days = day_set(form.day_of_month, form.month, form.day_of_week)
        return CronEngine(WallPattern(*times, days), clock)
    if isinstance(form, EveryForm):
        if form.from_wall is None:
            place.clock()  # refuses an unknown zone
            return IntervalEngine(form.period_s, 0)
        if place.fold is FoldRule.BOTH:
            place = place._replace(fold=FoldRule.FIRST)
        return IntervalEngine(form.period_s, _instants(form.from_wall, place, text)[0])
    return InstantsEngine(_instants(form.wall, place, text))


@lru_cache(maxsize=8192)
def _times(second: str, minute: str, hour: str) -> tuple[int, int, int]:
    return (
        parse_field("second", second).bits,
        parse_field("minute", minute).bits,
        parse_field("hour", hour).bits,
    )


def _instants(wall: int, place: _Place, text: str) -> tuple[int, ...]:
    found = tuple(place.clock().instants_of(wall))
    if not found:
        reason = f"the clock in {place.zone} skips this local time, and the gap rule is skip"
        raise InvalidRecurrence("gap", text, reason)
    return found


def _class_of(form: Form) -> RecurrenceClass:
    if isinstance(form, CronForm):
        return "interval" if form.is_interval else "wall"
    return "wall" if isinstance(form, AtForm) else "interval"


def _members(expression: object) -> tuple[str, ...]:
    if not isinstance(expression, (list, tuple)):
        reason = "must be text, or a list of texts"
        raise InvalidRecurrence("expression", type(expression).__name__, reason)
    if not 1 <= len(expression) <= UNION_MEMBERS_MAX:
        reason = f"a list has 1 to {UNION_MEMBERS_MAX} expressions, this one has {len(expression)}"
        raise InvalidRecurrence("expression", "", reason)
    return tuple(expression)


def _union(
    texts: tuple[str, ...], place: _Place, identity: tuple[str, str] | None
) -> tuple[Engine, RecurrenceClass]:
    members: list[MemberEngine] = []
    kinds: set[RecurrenceClass] = set()
    for number, text in enumerate(texts, 1):
        try:
            form = read_expression(text, identity)
            members.append(_engine(form, place, text))
        except InvalidRecurrence as error:
            reason = f"{error.reason} (expression {number} of {len(texts)})"
            raise InvalidRecurrence(error.field, error.item, reason) from None
        kinds.add(_class_of(form))
    kind: RecurrenceClass = "wall" if "wall" in kinds else "interval"
    return members[0] if len(members) == 1 else UnionEngine(tuple(members)), kind


def _rule(field: str, value: object, rules: dict[str, _Rule]) -> _Rule:
    rule = rules.get(value) if isinstance(value, str) else None
    if rule is None:
        item = value if isinstance(value, str) else type(value).__name__
        raise InvalidRecurrence(field, item, "must be one of " + ", ".join(rules))
    return rule


def _moment(field: str, value: object) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidRecurrence(field, type(value).__name__, "must be a datetime")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidRecurrence(field, value.isoformat(), "is naive; add an offset or a zone")
    return value


def _dates(exclusions: Iterable[date]) -> tuple[date, ...]:
    found = list(islice(exclusions, EXCLUSION_DATES_MAX + 1))
    if len(found) > EXCLUSION_DATES_MAX:
        raise InvalidRecurrence("exclusions", "", f"at most {EXCLUSION_DATES_MAX} dates")
    for one in found:
        if not isinstance(one, date) or isinstance(one, datetime):
            reason = "must be dates (without a time of day)"
            raise InvalidRecurrence("exclusions", type(one).__name__, reason)
    return _shared(tuple(sorted(set(found))))


@lru_cache(maxsize=256)
def _shared(dates: tuple[date, ...]) -> tuple[date, ...]:
    """One tuple for all who exclude the same dates: there may be many of both."""
    return dates


@lru_cache(maxsize=256)
def _excluded_spans(
    clock: WallClock, own: tuple[date, ...], calendars: tuple[ExclusionCalendar, ...]
) -> ExcludedSpans:
    found = set(own).union(*(calendar.dates for calendar in calendars))
    if len(found) > EXCLUSION_DATES_MAX:
        reason = f"with its calendars {len(found)} dates; at most {EXCLUSION_DATES_MAX}"
        raise InvalidRecurrence("calendars", "", reason)
    return excluded_spans(clock, tuple(sorted(found)))


def _refuse_empty(recurrence: Recurrence) -> None:
    starts_at, ends_at = recurrence.starts_at, recurrence.ends_at
    if starts_at is not None and ends_at is not None and starts_at > ends_at:
        raise InvalidRecurrence("ends_at", ends_at.isoformat(), "lies before starts_at")
    if recurrence.next_after_us(-(10**18)) is not None:
        return
    if recurrence.exclusions or recurrence.calendars:
        field = "calendars" if recurrence.calendars else "exclusions"
        raise InvalidRecurrence(field, "", "with these dates excluded it would never fire")
    field, moment = ("ends_at", ends_at) if ends_at is not None else ("starts_at", starts_at)
    item = "" if moment is None else moment.isoformat()
    raise InvalidRecurrence(field, item, "no instant lies inside this window: it would never fire")
