"""Which triggers another zone data set moves, from what to what, over the ports."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ports.records import TriggerDefinition, TriggerRecord
from ports.registry import RegistryPort
from scheduling import Recurrence
from scheduling.errors import RuleError
from scheduling.versions import recurrence_of
from scheduling.vocabulary import TriggerState
from scheduling.wall_clock import ClockSource
from scheduling.zone_moves import Moves, compare_recurrences, zone_differs

MOVED_TRIGGERS_SHOWN_MAX: Final = 1_000
MOVES_SHOWN_MAX: Final = 100
_PAGE_ROWS: Final = 500
_REMEMBERED_MAX: Final = 1_000  # results of equal definitions

ReportProgress = Callable[[float], None]


class ZoneSide(NamedTuple):
    """One data set: its IANA version, and its clocks."""

    version: str
    clocks: ClockSource


class MovedTrigger(NamedTuple):
    """A trigger that is not due as before; `fault` says why the other data cannot evaluate it."""

    trigger: TriggerRecord
    zone: str
    moves: Moves | None
    fault: str | None = None


@dataclass(slots=True)
class TzdataDiff:
    """What a data set moves between `now` and `through`, for all triggers of a store.

    triggers:    how many were looked at
    moved:       how many are due at other instants
    faulty:      how many the other data would quarantine
    unreadable:  how many the first data cannot evaluate either
    partial:     how many have too many instants for all of the window
    gone, new:   instants that only the first, only the other has
    shown:       the first of the moved and the faulty, by tenant and name
    """

    before: str
    after: str
    now_us: int
    through_us: int
    triggers: int = 0
    moved: int = 0
    faulty: int = 0
    unreadable: int = 0
    partial: int = 0
    gone: int = 0
    new: int = 0
    shown: list[MovedTrigger] = field(default_factory=list)


def tzdata_diff(
    registry: RegistryPort,
    before: ZoneSide,
    after: ZoneSide,
    *,
    now_us: int,
    through_us: int,
    triggers_shown: int = 20,
    moves_shown: int = 3,
    progress: ReportProgress = lambda done: None,
) -> TzdataDiff:
    """Compare every undeleted trigger's current version under both data sets.

    A live trigger is compared from its cursor on, as an adoption would decide it; any other from
    `now_us` on, as a resume might. Costs a definition a trigger, and two compilations where the
    data sets tell its zone apart. `progress` is told the part that is done, 0 to 1.
    """
    diff = TzdataDiff(before.version, after.version, now_us, through_us)
    comparison = _Comparison(before, after, now_us, through_us, moves_shown)
    total = sum(1 for _ in _all_triggers(registry))
    for trigger in _all_triggers(registry):
        _add(diff, comparison.of(registry, trigger), shown_max=triggers_shown)
        progress(min(diff.triggers / max(total, 1), 1.0))
    return diff


def _add(diff: TzdataDiff, found: MovedTrigger | None, *, shown_max: int) -> None:
    diff.triggers += 1
    if found is None:
        diff.unreadable += 1
        return
    moves = found.moves
    if moves is not None:
        diff.partial += moves.compared_through_us < diff.through_us
        diff.gone += moves.gone
        diff.new += moves.new
    moves_something = moves is not None and bool(moves.gone or moves.new)
    diff.moved += moves_something
    diff.faulty += found.fault is not None
    if (moves_something or found.fault is not None) and len(diff.shown) < shown_max:
        diff.shown.append(found)


class _Comparison:
    """Compares trigger by trigger, and remembers zones and equal definitions."""

    def __init__(
        self, before: ZoneSide, after: ZoneSide, now_us: int, through_us: int, moves_shown: int
    ) -> None:
        self._before = before.clocks
        self._after = after.clocks
        self._now_us = now_us
        self._through_us = through_us
        self._moves_shown = moves_shown
        self._nothing = Moves(0, 0, (), through_us)
        self._zones: dict[str, bool] = {}
        self._known: dict[object, MovedTrigger] = {}

    def of(self, registry: RegistryPort, trigger: TriggerRecord) -> MovedTrigger | None:
        """What becomes of a trigger; None where the first data cannot evaluate it."""
        definition = registry.definition(
            trigger.tenant_id, trigger.trigger_id, version=trigger.version
        )
        if definition is None:
            return None
        try:
            if not self._differs(definition.zone):
                return MovedTrigger(trigger, definition.zone, self._nothing)
        except RuleError as error:
            return self._lacking(trigger, definition, error)
        key = self._key(trigger, definition)
        found = self._known.get(key)
        if found is None:
            found = self._compare(trigger, definition)
            if found is None:
                return None
            if len(self._known) >= _REMEMBERED_MAX:
                self._known.clear()
            self._known[key] = found
        return found._replace(trigger=trigger)

    def _differs(self, zone: str) -> bool:
        known = self._zones.get(zone)
        if known is None:
            known = self._zones[zone] = zone_differs(zone, self._before, self._after)
        return known

    def _lacking(
        self, trigger: TriggerRecord, definition: TriggerDefinition, error: RuleError
    ) -> MovedTrigger | None:
        """A zone that one of the two does not have: a fault only where it is the other's."""
        try:
            self._compiled(trigger, definition, self._before)
        except RuleError:
            return None
        return MovedTrigger(trigger, definition.zone, None, str(error))

    def _compare(
        self, trigger: TriggerRecord, definition: TriggerDefinition
    ) -> MovedTrigger | None:
        try:
            before = self._compiled(trigger, definition, self._before)
        except RuleError:
            return None
        try:
            after = self._compiled(trigger, definition, self._after)
        except RuleError as error:
            return MovedTrigger(trigger, definition.zone, None, str(error))
        moves = compare_recurrences(
            before,
            after,
            after_us=self._from_us(trigger),
            through_us=self._through_us,
            first_max=self._moves_shown,
            fires_left=_fires_left(trigger, definition),
        )
        return MovedTrigger(trigger, definition.zone, moves)

    def _key(self, trigger: TriggerRecord, definition: TriggerDefinition) -> object:
        """Equal for triggers that one comparison serves: `H` makes every one its own."""
        name = trigger.name if any("H" in text for text in definition.recurrence) else None
        return (
            name and (trigger.tenant_id, name),
            definition.recurrence,
            definition.zone,
            definition.gap_rule,
            definition.fold_rule,
            definition.starts_us,
            definition.ends_us,
            definition.exclusions,
            definition.calendars and (trigger.tenant_id, definition.calendars),
            _fires_left(trigger, definition),
            self._from_us(trigger),
        )

    def _from_us(self, trigger: TriggerRecord) -> int:
        if trigger.state is not TriggerState.LIVE:
            return self._now_us
        return min(trigger.decided_through_us, self._now_us)

    @staticmethod
    def _compiled(
        trigger: TriggerRecord, definition: TriggerDefinition, clocks: ClockSource
    ) -> Recurrence:
        return recurrence_of(
            definition, tenant_id=trigger.tenant_id, name=trigger.name, clocks=clocks
        )


def _fires_left(trigger: TriggerRecord, definition: TriggerDefinition) -> int | None:
    if definition.max_fires is None:
        return None
    return max(definition.max_fires - trigger.fired_count, 0)


def _all_triggers(registry: RegistryPort) -> Iterator[TriggerRecord]:
    after: tuple[str, str] | None = None
    while page := registry.triggers(after=after, limit=_PAGE_ROWS):
        yield from page
        after = (page[-1].tenant_id, page[-1].name)
