"""Where croniter and this dialect disagree by a documented rule; all other differences are errors.

Each entry says when it applies, so that a difference it does not explain is never excused by it.
docs/recurrence.md shows the table, and a test compares the two.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduling.fields import FieldSet, parse_field
from scheduling.grammar import CronForm, Form
from scheduling.vocabulary import FoldRule, GapRule
from scheduling.wall_clock import wall_clock

_NEAR_S = 26 * 3_600  # a change moves what is due on its own local day, and on the one after
_SPARSE_S = 13 * 366 * 86_400  # so that 29 February is still compared


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is being compared: `theirs` is None where croniter was not asked or cannot read it.

    first_difference: the earliest epoch second that only one of the two names, if any
    gave_up:          croniter was stopped because it searched for too long
    """

    form: Form
    zone: str
    after: int
    ours: tuple[int, ...]
    theirs: tuple[int, ...] | None
    first_difference: int | None
    gave_up: bool


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A named rule with its reason, and the test that says whether it applies to a comparison."""

    name: str
    example: str
    reason: str
    applies: Callable[[Comparison], bool]


def explanations(comparison: Comparison) -> tuple[str, ...]:
    """The names of the entries that apply."""
    return tuple(entry.name for entry in KNOWN_DIFFERENCES if entry.applies(comparison))


def is_sparse(after: int, ours: Sequence[int]) -> bool:
    """Whether three instants lie so far apart that croniter would search for too long."""
    return not ours or ours[-1] - after > _SPARSE_S


def _fields(form: Form) -> list[str]:
    if not isinstance(form, CronForm):
        return []
    days_and_months = [form.day_of_month, form.month, form.day_of_week]
    return [form.second, form.minute, form.hour, *days_and_months]


def _days(comparison: Comparison) -> tuple[FieldSet, FieldSet] | None:
    form = comparison.form
    if not isinstance(form, CronForm):
        return None
    weekdays = parse_field("day_of_week", form.day_of_week)
    return parse_field("day_of_month", form.day_of_month), weekdays


def _unread(comparison: Comparison, kinds: tuple[str, ...]) -> bool:
    days = _days(comparison)
    if days is None or comparison.theirs is not None:
        return False
    return any(special.kind in kinds for field in days for special in field.specials)


def _own_form(comparison: Comparison) -> bool:
    return not isinstance(comparison.form, CronForm)


def _sparse(comparison: Comparison) -> bool:
    return is_sparse(comparison.after, comparison.ours)


def _workday_list(comparison: Comparison) -> bool:
    days = _days(comparison)
    if days is None or comparison.theirs is not None:
        return False
    kinds = [special.kind for special in days[0].specials]
    return "workday" in kinds and (days[0].bits != 0 or len(kinds) > 1)


def _mixed_weekdays(comparison: Comparison) -> bool:
    days = _days(comparison)
    if days is None or comparison.theirs is not None:
        return False
    return days[1].bits != 0 and len(days[1].specials) > 0


def _workday_missing(comparison: Comparison) -> bool:
    days = _days(comparison)
    specials = days[0].specials if days else ()
    return any(special.kind == "workday" and special.n > 28 for special in specials)


def _special_day_or(comparison: Comparison) -> bool:
    days = _days(comparison)
    if days is None or days[0].starred or days[1].starred:
        return False
    return bool(days[1].specials) or any(one.kind == "workday" for one in days[0].specials)


_RANGE = re.compile(r"(?:^|,)([0-9A-Za-z]+)-([0-9A-Za-z]+)(/[0-9]+)?(?=,|$)")
_NAMES = ("second", "minute", "hour", "day_of_month", "month", "day_of_week")


def _ranges(comparison: Comparison) -> list[tuple[int, int, bool]]:
    """(first, last, has a step) of every range, weekday 7 read as 0 where it begins one."""
    found = []
    for name, text in zip(_NAMES, _fields(comparison.form), strict=False):
        for first, last, step in _RANGE.findall(text.upper()):
            if not first.startswith("L"):
                ends = [parse_field(name, one).bits.bit_length() - 1 for one in (first, last)]
                found.append((ends[0], ends[1], bool(step)))
    return found


def _wrapped_step(comparison: Comparison) -> bool:
    return any(step and first > last for first, last, step in _ranges(comparison))


def _single_range(comparison: Comparison) -> bool:
    return any(first == last for first, last, _ in _ranges(comparison))


def _late_star(comparison: Comparison) -> bool:
    fields = _fields(comparison.form)
    return any(",*" in text or ",?" in text for text in fields[3::2])


def _changes_near(comparison: Comparison, forward: bool) -> bool:
    at = comparison.first_difference
    if at is None:
        return False
    clock = wall_clock(comparison.zone, GapRule.SKIP, FoldRule.BOTH)
    for segment in clock.uneven:
        shift = clock.offsets[segment] - clock.offsets[segment - 1]
        near = abs(at - clock.starts[segment]) <= _NEAR_S + abs(shift)
        if near and (shift > 0) is forward:
            return True
    return False


KNOWN_DIFFERENCES: tuple[KnownDifference, ...] = (
    KnownDifference(
        "own_form",
        "every 15m",
        "`every` and `at` are forms of this dialect; croniter has nothing to compare",
        _own_form,
    ),
    KnownDifference(
        "sparse",
        "0 0 * 2 MON#5",
        "three instants span more than 13 years; croniter would search month by month, "
        "so it is not asked",
        _sparse,
    ),
    KnownDifference(
        "long_search",
        "* * * * DEC FRI#5 on a day that the clock skips",
        "croniter walks through skipped time step by step, so it is stopped",
        lambda comparison: comparison.gave_up,
    ),
    KnownDifference(
        "skipped_time",
        "*/20 2 * * * on the night the clock goes forward",
        "a fixed time that is skipped fires once, at the first instant after the gap (or not at "
        "all under gap rule skip), an elapsed-time expression makes up for nothing; croniter "
        "makes up for both, and keeps the seconds of the skipped time",
        lambda comparison: _changes_near(comparison, True),
    ),
    KnownDifference(
        "repeated_time",
        "30 1 * * * on the night the clock goes back",
        "a repeated time counts in the pass that the fold rule says; croniter fires a fixed time "
        "in both passes",
        lambda comparison: _changes_near(comparison, False),
    ),
    KnownDifference(
        "wrapped_step",
        "0 0 1 Apr-Mar/2 *",
        "a step counts on across the wrap of a range; croniter begins it anew after the wrap",
        _wrapped_step,
    ),
    KnownDifference(
        "single_range",
        "0 0 * * SUN-SUN",
        "`a-a` is the one value a; croniter reads the whole field",
        _single_range,
    ),
    KnownDifference(
        "late_star",
        "0 0 13,* * FRI",
        "the day fields combine by AND only where one starts with `*` or `?`; croniter looks "
        "at the values, not at the text",
        _late_star,
    ),
    KnownDifference(
        "last_day_forms",
        "0 0 L-3 * *",
        "croniter cannot read L-n and LW",
        lambda comparison: _unread(comparison, ("last", "last_workday")),
    ),
    KnownDifference(
        "workday_list",
        "0 9 1,15W * *",
        "croniter reads nW only alone in its field",
        _workday_list,
    ),
    KnownDifference(
        "workday_missing",
        "0 9 31W * *",
        "the day must exist in the month; croniter takes the month's last day instead",
        _workday_missing,
    ),
    KnownDifference(
        "special_day_or",
        "0 9 15W * MON",
        "two restricted day fields combine by OR; croniter combines nW, d#n and dL with the "
        "other field by AND",
        _special_day_or,
    ),
    KnownDifference(
        "mixed_weekdays",
        "0 0 * * MON#2,TUE",
        "croniter refuses lists of plain weekdays with d#n or dL",
        _mixed_weekdays,
    ),
)
