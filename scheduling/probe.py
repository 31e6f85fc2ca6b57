"""A second opinion on a recurrence: croniter's next three instants beside the compiler's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scheduling.compiler import compile_recurrence
from scheduling.errors import InvalidRecurrence
from scheduling.fields import parse_field
from scheduling.grammar import CronForm, read_expression
from scheduling.instants import EPOCH, SECOND_US, to_text
from scheduling.known_differences import Comparison, explanations, is_sparse
from scheduling.recurrence import Recurrence
from scheduling.zones import END_S, START_S, zone_info

if TYPE_CHECKING:
    from croniter import croniter

_INSTANTS = 3
_SEARCH_YEARS_MAX = 14
_STEPS_MAX = 16  # three instants take fewer than ten, changes of the clock included


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the two said about the next three instants, windows and exclusions left aside.

    ours_us, theirs_us: microseconds since the epoch; theirs is None where croniter was not asked
                        or cannot read the expression
    explained_by:       names of known_differences, empty where the two agree
    """

    ours_us: tuple[int, ...]
    theirs_us: tuple[int, ...] | None
    explained_by: tuple[str, ...]


def probe(
    expression: str | Sequence[str], zone: str, recurrence: Recurrence, after_us: int
) -> ProbeResult:
    """Compare each expression's next instants later than `after_us`.

    InvalidRecurrence(expression) shows both answers where no known difference explains them.
    The cost is bounded: croniter is asked only where three instants lie within 13 years.
    """
    texts = [expression] if isinstance(expression, str) else list(expression)
    ours: set[int] = set()
    theirs: set[int] | None = set()
    names: dict[str, None] = {}
    for text in texts:
        comparison = _compare(text, zone, recurrence, after_us)
        ours.update(comparison.ours)
        if comparison.theirs is None:
            theirs = None
        elif theirs is not None:
            theirs.update(comparison.theirs)
        if comparison.ours != comparison.theirs:
            found = explanations(comparison)
            if not found:
                raise InvalidRecurrence("expression", text, _disagreement(comparison))
            names.update(dict.fromkeys(found))
    return ProbeResult(_first_us(ours), None if theirs is None else _first_us(theirs), tuple(names))


def _compare(text: str, zone: str, recurrence: Recurrence, after_us: int) -> Comparison:
    gap, fold, identity = recurrence.gap, recurrence.fold, recurrence.identity
    bare = compile_recurrence(text, zone, gap=gap, fold=fold, identity=identity)
    form = read_expression(text, identity)
    after = min(max(after_us // SECOND_US, START_S), END_S - 1)
    instants = bare.between_us(after * SECOND_US, END_S * SECOND_US, _INSTANTS)
    ours = tuple(instant // SECOND_US for instant in instants)
    theirs, gave_up = None, False
    if isinstance(form, CronForm) and not is_sparse(after, ours):
        try:
            theirs = _ask_croniter(form, zone, after)
        except _SearchTooLong:
            gave_up = True
    differing = set(ours) ^ set(theirs or ())
    first = min(differing, default=None) if theirs is not None else None
    return Comparison(form, zone, after, ours, theirs, first, gave_up)


class _SearchTooLong(Exception):
    """croniter was stopped."""


def _ask_croniter(form: CronForm, zone: str, after: int) -> tuple[int, ...] | None:
    """Its next instants, fewer where it finds no more, None where it cannot read the form."""
    from croniter import CroniterBadDateError, CroniterError  # slow to import

    found: list[int] = []
    start = (EPOCH + timedelta(0, after)).astimezone(zone_info(zone))
    try:
        search = _bounded_croniter()(
            _croniter_text(form),
            start,
            implement_cron_bug=True,
            max_years_between_matches=_SEARCH_YEARS_MAX,
        )
        for _ in range(_INSTANTS):
            instant: datetime = search.get_next(datetime)
            found.append((instant - EPOCH) // timedelta(seconds=1))
    except CroniterBadDateError:
        return tuple(found)
    except CroniterError:
        return None
    return tuple(found)


@lru_cache(maxsize=1)
def _bounded_croniter() -> "type[croniter]":
    """croniter with a bound on its steps: it would take a skipped day second by second."""
    from croniter import croniter

    class Bounded(croniter):  # type: ignore[misc]  # croniter has no types
        _steps = 0

        def _calc(self, *arguments: Any) -> Any:
            self._steps += 1
            if self._steps > _STEPS_MAX:
                raise _SearchTooLong
            return super()._calc(*arguments)

    return Bounded


def _croniter_text(form: CronForm) -> str:
    """Seconds come last there, and the last Friday is L5 instead of 5L."""
    parts = [form.minute, form.hour, form.day_of_month, form.month, _weekdays(form.day_of_week)]
    return " ".join(parts if form.second == "0" else [*parts, form.second])


def _weekdays(text: str) -> str:
    items = text.split(",")
    for at, item in enumerate(items):
        specials = parse_field("day_of_week", item).specials
        if specials and specials[0].kind == "last_of":
            items[at] = f"L{specials[0].weekday}"
    return ",".join(items)


def _first_us(seconds: set[int]) -> tuple[int, ...]:
    return tuple(second * SECOND_US for second in sorted(seconds)[:_INSTANTS])


def _disagreement(comparison: Comparison) -> str:
    return (
        f"the second opinion disagrees: here {_texts(comparison.ours)}, "
        f"croniter {_texts(comparison.theirs)}; write it in another way"
    )


def _texts(seconds: tuple[int, ...] | None) -> str:
    if seconds is None:
        return "refuses it"
    return ", ".join(to_text(second * SECOND_US) for second in seconds) or "finds nothing"
