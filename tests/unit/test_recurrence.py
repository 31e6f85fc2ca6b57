"""Compiled recurrences: windows, exclusions, unions, one-offs, limits of the year, pickling."""

import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling import InvalidRecurrence, Recurrence, compile_recurrence
from scheduling.instants import from_us, to_us
from scheduling.limits import EXCLUSION_DATES_MAX, UNION_MEMBERS_MAX
from scheduling.vocabulary import FoldRule, GapRule

SECOND_US = 1_000_000


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _first(recurrence: Recurrence, after: str, amount: int) -> list[str]:
    found = recurrence.between(_at(after), _at("2499-12-31T23:59:59"), amount)
    return [instant.isoformat()[:16] for instant in found]


@pytest.mark.parametrize(
    ("expression", "rules", "expected"),
    [
        # London, 2026-03-29 01:00 -> 02:00 and 2026-10-25 02:00 -> 01:00
        ("at 2026-03-29T01:30", {}, ["2026-03-29T01:00"]),
        ("at 2026-10-25T01:30", {}, ["2026-10-25T00:30"]),
        ("at 2026-10-25T01:30", {"fold": "last"}, ["2026-10-25T01:30"]),
        ("at 2026-10-25T01:30", {"fold": "both"}, ["2026-10-25T00:30", "2026-10-25T01:30"]),
        ("every 12h from 2026-03-29T01:30", {}, ["2026-01-01T01:00", "2026-01-01T13:00"]),
        ("every 12h from 2026-10-25T01:30", {"fold": "last"}, ["2026-01-01T01:30"]),
        ("every 36h", {}, ["2026-01-02T12:00", "2026-01-04T00:00"]),
        (["@daily", "0 0,12 * * *"], {}, ["2026-01-01T12:00", "2026-01-02T00:00"]),
        (["at 2026-01-05T03:00", "@monthly"], {}, ["2026-01-05T03:00", "2026-02-01T00:00"]),
    ],
)
def test_recurrence_own_form_gives_its_instants(
    expression: Any, rules: dict[str, Any], expected: list[str]
) -> None:
    recurrence = compile_recurrence(expression, "Europe/London", **rules)
    assert _first(recurrence, "2026-01-01T00:00", len(expected)) == expected


def test_one_off_in_a_gap_under_skip_is_refused() -> None:
    for text in ("at 2026-03-29T01:30", "every 5m from 2026-03-29T01:30"):
        with pytest.raises(InvalidRecurrence) as caught:
            compile_recurrence(text, "Europe/London", gap="skip")
        assert caught.value.field == "gap"


def test_one_off_after_its_instant_has_nothing_more() -> None:
    recurrence = compile_recurrence("at 2026-12-24T18:00", "Europe/Paris")
    instant = _at("2026-12-24T17:00")
    assert recurrence.next_after(instant) is None
    assert recurrence.previous_before(instant) is None
    assert recurrence.next_after(instant - timedelta(microseconds=1)) == instant
    assert recurrence.previous_before(instant + timedelta(microseconds=1)) == instant


def test_window_ends_are_inclusive() -> None:
    recurrence = compile_recurrence(
        "0 * * * *",
        "UTC",
        starts_at=_at("2026-01-01T05:00"),
        ends_at=datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=1))),
    )
    everything = [f"2026-01-01T0{hour}:00" for hour in range(5, 9)]
    assert _first(recurrence, "1900-01-01T00:00", 100) == everything
    assert recurrence.count_between(_at("1900-01-01"), _at("2400-01-01")) == 4
    assert recurrence.previous_before(_at("2400-01-01")) == _at("2026-01-01T08:00")
    assert recurrence.previous_before(_at("2026-01-01T05:00")) is None
    assert recurrence.next_after(_at("2026-01-01T08:00")) is None
    iterated = recurrence.iterate_us(to_us(_at("2000-01-01")))
    assert [from_us(instant).isoformat()[:16] for instant in iterated] == everything
    assert list(recurrence.iterate_us(to_us(_at("2026-01-01T08:00")))) == []


def test_window_with_a_fraction_of_a_second_leaves_out_what_lies_before() -> None:
    recurrence = compile_recurrence(
        "* * * * * *",
        "UTC",
        starts_at=_at("2026-01-01T00:00:00.000001"),
        ends_at=_at("2026-01-01T00:00:02.999999"),
    )
    assert recurrence.between(_at("2025-01-01"), _at("2027-01-01"), 9) == [
        _at("2026-01-01T00:00:01"),
        _at("2026-01-01T00:00:02"),
    ]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"starts_at": datetime(2026, 1, 1)}, "starts_at"),  # noqa: DTZ001 - that is the case
        ({"ends_at": datetime(2026, 1, 1)}, "ends_at"),  # noqa: DTZ001
        ({"starts_at": date(2026, 1, 1)}, "starts_at"),
        ({"ends_at": "2026-01-01"}, "ends_at"),
        ({"starts_at": _at("2026-01-02"), "ends_at": _at("2026-01-01")}, "ends_at"),
        ({"ends_at": _at("1899-01-01")}, "ends_at"),
        ({"starts_at": _at("2499-12-31T00:00:01")}, "starts_at"),
        ({"starts_at": _at("2026-01-01T01:00"), "ends_at": _at("2026-01-01T23:00")}, "ends_at"),
        (
            {
                "starts_at": _at("2026-01-01"),
                "ends_at": _at("2026-01-01"),
                "exclusions": [date(2026, 1, 1)],
            },
            "exclusions",
        ),
        ({"exclusions": [_at("2026-01-01")]}, "exclusions"),
        ({"exclusions": ["2026-01-01"]}, "exclusions"),
        ({"exclusions": [date(2026, 1, 1)] * (EXCLUSION_DATES_MAX + 1)}, "exclusions"),
        ({"gap": "shift"}, "gap"),
        ({"gap": None}, "gap"),
        ({"fold": "second"}, "fold"),
        ({"fold": 1}, "fold"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"expression": []}, "expression"),
        ({"expression": ["@daily"] * (UNION_MEMBERS_MAX + 1)}, "expression"),
        ({"expression": ["@daily", "61 * * * *"]}, "minute"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_definition_that_is_wrong_is_refused_by_field(
    arguments: dict[str, Any], field: str
) -> None:
    definition = {"expression": "@daily", "zone": "UTC"} | arguments
    with pytest.raises(InvalidRecurrence) as caught:
        compile_recurrence(**definition)
    assert caught.value.field == field


def test_union_error_says_which_member() -> None:
    with pytest.raises(InvalidRecurrence, match="expression 2 of 3"):
        compile_recurrence(["@daily", "x * * * *", "@hourly"], "UTC")


def test_exclusion_is_the_date_the_clock_shows() -> None:
    # Nuuk, 2024-03-30 22:00 -> 23:00 is the gap's end at midnight: 23:30 moves to the 31st.
    plain = compile_recurrence("30 23 * * *", "America/Nuuk")
    assert _first(plain, "2024-03-30T00:30", 3) == [
        "2024-03-30T01:30",
        "2024-03-31T01:00",
        "2024-04-01T00:30",
    ]
    without = compile_recurrence(
        "30 23 * * *", "America/Nuuk", exclusions=[date(2024, 3, 31), date(2024, 3, 29)]
    )
    assert _first(without, "2024-03-28T12:00", 2) == ["2024-03-29T01:30", "2024-04-02T00:30"]


def test_exclusions_are_counted_and_crossed_in_both_directions() -> None:
    dates = [date(2026, 1, 1) + timedelta(days=day) for day in range(0, 365, 2)]
    recurrence = compile_recurrence("0 */6 * * *", "Europe/London", exclusions=reversed(dates))
    after, through = _at("2025-12-30"), _at("2027-01-05")
    listed = recurrence.between(after, through, 10_000)
    assert len(listed) == 4 * (2 + 182 + 4)
    assert recurrence.count_between(after, through) == len(listed)
    assert recurrence.exclusions == tuple(dates)
    backwards = []
    at: datetime | None = through + timedelta(seconds=1)
    while at is not None and (at := recurrence.previous_before(at)) and at > after:
        backwards.append(at)
    assert backwards == listed[::-1]


def test_exclusions_of_27_years_are_hopped_over() -> None:
    dates = [date(2026, 1, 1) + timedelta(days=day) for day in range(EXCLUSION_DATES_MAX)]
    recurrence = compile_recurrence("* * * * * *", "UTC", exclusions=dates)
    end = _at("2026-01-01") + timedelta(days=EXCLUSION_DATES_MAX)
    assert recurrence.next_after(_at("2025-12-31T23:59:59")) == end
    assert recurrence.previous_before(end) == _at("2025-12-31T23:59:59")
    iterated = islice(recurrence.iterate_us(to_us(_at("2025-12-31T23:59:58"))), 2)
    assert list(iterated) == [to_us(_at("2025-12-31T23:59:59")), to_us(end)]
    assert recurrence.count_between(_at("2025-12-31T23:59:00"), end) == 60


@pytest.mark.parametrize("limit", [0, -1, True, 1.0, None, "5"], ids=repr)
def test_between_without_a_positive_whole_limit_is_an_error(limit: Any) -> None:
    recurrence = compile_recurrence("@daily", "UTC")
    with pytest.raises(ValueError, match="limit"):
        recurrence.between(_at("2026-01-01"), _at("2026-01-02"), limit)
    with pytest.raises(ValueError, match="limit"):
        recurrence.between_us(0, 1, limit)


@pytest.mark.parametrize(
    "ask",
    [
        lambda recurrence, naive: recurrence.next_after(naive),
        lambda recurrence, naive: recurrence.previous_before(naive),
        lambda recurrence, naive: recurrence.between(naive, naive, 1),
        lambda recurrence, naive: recurrence.count_between(naive, naive),
    ],
    ids=["next", "previous", "between", "count"],
)
def test_naive_datetime_is_an_error(ask: Callable[[Recurrence, datetime], object]) -> None:
    with pytest.raises(ValueError, match="naive"):
        ask(compile_recurrence("@daily", "UTC"), datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/New_York"])
@pytest.mark.parametrize("expression", ["* * * * *", "30 2 * * *", "every 7m", "0 0 29 2 *"])
def test_recurrence_ends_with_the_tables(expression: str, zone: str) -> None:
    recurrence = compile_recurrence(expression, zone)
    last = recurrence.previous_before_us(10**18)
    first = recurrence.next_after_us(-(10**18))
    assert first is not None
    assert last is not None
    assert _at("1900-01-01") <= from_us(first) < _at("1904-03-02")
    assert _at("2496-02-28") <= from_us(last) < _at("2500-01-01")
    assert recurrence.next_after_us(last) is None
    assert recurrence.previous_before_us(first) is None
    assert list(recurrence.iterate_us(last - 1)) == [last]
    assert list(recurrence.iterate_us(last)) == []
    assert recurrence.between_us(last, 10**18, 5) == []
    assert recurrence.count_between_us(last - 1, 10**18) == 1
    assert recurrence.count_between_us(-(10**18), first) == 1


def test_fractions_of_a_second_count() -> None:
    recurrence = compile_recurrence("* * * * * *", "Europe/London")
    for start in (0, -5 * SECOND_US, 1_700_000_000 * SECOND_US):
        assert recurrence.next_after_us(start) == start + SECOND_US
        assert recurrence.next_after_us(start - 1) == start
        assert recurrence.next_after_us(start + 1) == start + SECOND_US
        assert recurrence.previous_before_us(start) == start - SECOND_US
        assert recurrence.previous_before_us(start + 1) == start
        assert recurrence.count_between_us(start, start + SECOND_US - 1) == 0
        assert recurrence.count_between_us(start - 1, start) == 1


DENSE = [
    "0 */6 * * *",
    "30 2 * * *",
    "0 0,1,2,3 * * *",
    "15 */2 */3 * MON",
    "30 1,2,3 L,15W * *",
    "0 0 * * MON#2",
    "every 7h",
    ["@daily", "0 */5 * * *"],
    ["0 */5 * * *", "0 */3 * * *", "*/30 * */2 * SUN"],
    ["30 1 * * MON-FRI", "0 2,3 * * *", "15,30 1-3 L * SUN", "30 1,2 1-15 * *"],
    ["30 2 * * *", "every 11h from 2026-03-29T12:30", "at 2026-10-25T02:30"],
]
ZONES = ["UTC", "Europe/London", "Africa/Cairo", "Australia/Lord_Howe", "Africa/Casablanca"]


@given(
    expression=st.sampled_from(DENSE),
    zone=st.sampled_from(ZONES),
    gap=st.sampled_from(list(GapRule)),
    fold=st.sampled_from(list(FoldRule)),
    after_s=st.integers(1_500_000_000, 2_500_000_000),
    length_s=st.integers(0, 86_400 * 900),
    fraction_us=st.integers(0, SECOND_US - 1),
)
def test_count_over_years_equals_the_list(
    expression: Any,
    zone: str,
    gap: GapRule,
    fold: FoldRule,
    after_s: int,
    length_s: int,
    fraction_us: int,
) -> None:
    recurrence = compile_recurrence(expression, zone, gap=gap, fold=fold)
    after_us = after_s * SECOND_US + fraction_us
    through_us = after_us + length_s * SECOND_US
    listed = recurrence.between_us(after_us, through_us, 10**6)
    assert listed == sorted(set(listed))
    assert recurrence.count_between_us(after_us, through_us) == len(listed)
    assert recurrence.between_us(after_us, through_us, 7) == listed[:7]
    step = after_us
    for instant in listed[:50]:
        found = recurrence.next_after_us(step)
        assert found == instant
        assert recurrence.previous_before_us(found + 1) == instant
        step = found


def test_every_second_of_20_years_is_counted_exactly() -> None:
    recurrence = compile_recurrence("* * * * * *", "America/New_York")
    after = _at("2020-01-01")
    assert recurrence.count_between(after, after + timedelta(days=7_305)) == 7_305 * 86_400


def test_recurrence_keeps_its_definition_and_pickles() -> None:
    recurrence = compile_recurrence(
        ["H 3 * * *", "every 6h"],
        "Europe/London",
        gap="skip",
        fold=FoldRule.LAST,
        starts_at=_at("2026-01-01"),
        exclusions=[date(2026, 5, 1)],
        identity=("acme", "report"),
    )
    assert recurrence.expression == ("H 3 * * *", "every 6h")
    assert (recurrence.zone, recurrence.gap, recurrence.fold) == (
        "Europe/London",
        GapRule.SKIP,
        FoldRule.LAST,
    )
    copy = pickle.loads(pickle.dumps(recurrence))
    window = (_at("2026-04-28"), _at("2026-05-04"), 99)
    assert copy.between(*window) == recurrence.between(*window)
    assert copy.describe() == recurrence.describe()
    assert repr(copy) == repr(recurrence)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 9 * * *", "wall"),
        ("*/5 * * * *", "interval"),
        ("every 5m", "interval"),
        ("at 2026-01-01T00:00", "wall"),
        (["@daily", "every 5m"], "wall"),
        (["* * * * *", "every 5m"], "interval"),
    ],
)
def test_recurrence_class_is_wall_where_the_odd_nights_need_rules(
    expression: Any, expected: str
) -> None:
    assert compile_recurrence(expression, "UTC").recurrence_class == expected


def test_distinct_recurrences_stay_small() -> None:
    compile_recurrence("0 0 1 1 *", "Europe/London")
    texts = [
        f"{minute} {hour} {day} * {weekday}"
        for minute in range(0, 60, 7)
        for hour in range(0, 24, 3)
        for day in range(1, 28, 5)
        for weekday in range(0, 7, 2)
    ]
    tracemalloc.start()
    kept = [compile_recurrence(text, "Europe/London") for text in texts]
    weight, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert weight / len(kept) < 4_096


def test_import_of_scheduling_leaves_croniter_alone() -> None:
    program = "import scheduling, sys; print({'croniter', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "set()"
