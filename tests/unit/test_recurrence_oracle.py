"""For any recurrence, window and way of cutting the window, the compiled form equals the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise, takewhile

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling import InvalidRecurrence, Recurrence, compile_recurrence
from tests.support.oracle import enumerate_instants

IDENTITY = ("acme", "nightly")

# Zone, and the UTC instant around which its clock moves.
CHANGES = [
    ("Europe/London", "2024-03-31T01:00"),
    ("Europe/London", "2024-10-27T01:00"),
    ("America/New_York", "2026-03-08T07:00"),
    ("America/New_York", "2026-11-01T06:00"),
    ("Australia/Lord_Howe", "2024-04-06T15:00"),  # half an hour back
    ("Australia/Lord_Howe", "2024-10-05T15:30"),
    ("Antarctica/Troll", "2024-03-31T01:00"),  # two hours
    ("Antarctica/Troll", "2024-10-27T01:00"),
    ("Pacific/Apia", "2011-12-30T10:00"),  # a whole day skipped
    ("Pacific/Kwajalein", "1993-08-21T12:00"),
    ("Pacific/Kwajalein", "1969-09-30T13:00"),  # nearly a day repeated
    ("Africa/Cairo", "2024-04-25T22:00"),  # midnight skipped
    ("Africa/Cairo", "2024-10-31T21:00"),  # midnight repeated
    ("America/Santiago", "2024-09-08T04:00"),
    ("America/Santiago", "2024-04-07T03:00"),
    ("America/Nuuk", "2024-03-31T01:00"),  # the skipped hour ends at midnight
    ("Pacific/Chatham", "2024-09-28T14:00"),
    ("Pacific/Chatham", "2024-04-06T14:00"),
    ("Africa/Casablanca", "2024-03-10T02:00"),  # the clock moves for Ramadan
    ("Africa/Casablanca", "2024-04-14T02:00"),
    ("America/St_Johns", "2010-11-07T02:31"),  # a minute past midnight
    ("Africa/Monrovia", "1972-01-07T00:44"),  # an offset with seconds
    ("Europe/Dublin", "2024-10-27T01:00"),  # daylight saving below zero
    ("Asia/Pyongyang", "2018-05-04T15:00"),
    ("Asia/Kathmandu", "1985-12-31T18:30"),
    ("America/New_York", "2380-03-11T07:00"),  # from the zone file's footer
    ("UTC", "2024-02-29T00:00"),
]


@dataclass(frozen=True)
class Case:
    """A definition and a window around a change of its zone's clock."""

    expression: str | Sequence[str]
    zone: str
    gap: str
    fold: str
    exclusions: tuple[date, ...]
    after: datetime
    through: datetime

    def compiled(self) -> Recurrence:
        return compile_recurrence(
            self.expression,
            self.zone,
            gap=self.gap,
            fold=self.fold,
            exclusions=self.exclusions,
            identity=IDENTITY,
        )

    def expected(self) -> list[datetime]:
        return enumerate_instants(
            self.expression,
            self.zone,
            gap=self.gap,
            fold=self.fold,
            after=self.after,
            through=self.through,
            exclusions=self.exclusions,
            identity=IDENTITY,
        )


def _numbers(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(str)


def _items(low: int, high: int) -> st.SearchStrategy[str]:
    number = _numbers(low, high)
    steps = _numbers(1, high)
    return st.one_of(
        number,
        st.builds("{}-{}".format, number, number),
        st.builds("{}/{}".format, number, steps),
        st.builds("{}-{}/{}".format, number, number, steps),
    )


def _field(low: int, high: int, *more: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    item = st.one_of(_items(low, high), *more)
    lists = st.lists(item, min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), lists, st.builds("*/{}".format, _numbers(1, high)))


def _seldom(limits: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Mostly `*`, so that what is drawn has instants in the window."""
    return st.integers(0, 3).flatmap(lambda chance: limits if chance == 0 else st.just("*"))


HOURS = st.one_of(_field(0, 23), st.sampled_from(["0", "1", "2", "3", "0-4", "23", "22-3/2", "H"]))
MINUTES = st.one_of(_field(0, 59), st.sampled_from(["0", "30", "*/15", "15,45", "H/20", "59"]))
SECONDS = st.sampled_from(["0", "30", "*/20", "10-50/20", "59,0", "*"])
MONTH_DAYS = _seldom(
    _field(
        1,
        31,
        st.sampled_from(["L", "L-1", "L-2", "LW", "?", "31", "29"]),
        st.builds("{}W".format, _numbers(1, 31)),
    ),
)
WEEKDAYS = _seldom(
    _field(
        0,
        7,
        st.sampled_from(["MON-FRI", "SAT-TUE", "SUN", "THU-TUE/2", "?"]),
        st.builds("{}#{}".format, _numbers(0, 7), _numbers(1, 5)),
        st.builds("{}L".format, _numbers(0, 7)),
    ),
)
MONTHS = _seldom(_field(1, 12))
FIVE = st.builds("{} {} {} {} {}".format, MINUTES, HOURS, MONTH_DAYS, MONTHS, WEEKDAYS)
# The seconds multiply what the oracle has to look at, so the minutes stay few.
SIX = st.builds(
    "{} {} {} {} {} {}".format, SECONDS, _items(0, 59), HOURS, MONTH_DAYS, MONTHS, WEEKDAYS
)
EVERY = st.builds(
    "every {}{}{}".format,
    st.integers(1, 300),
    st.sampled_from(["m", "h"]),
    st.sampled_from(["", " from 2024-03-31T01:30", " from 2011-12-30T12:00"]),
)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    zone, change = draw(st.sampled_from(CHANGES))
    middle = datetime.fromisoformat(change).replace(tzinfo=UTC)
    at = st.builds(
        "at {:%Y-%m-%dT%H:%M}".format,
        st.datetimes(
            datetime.fromisoformat(change) - timedelta(days=2),
            datetime.fromisoformat(change) + timedelta(days=2),
        ),
    )
    one = st.one_of(FIVE, FIVE, SIX, EVERY, at)
    expression: str | list[str] = draw(st.one_of(one, one, st.lists(one, min_size=2, max_size=3)))
    days = st.integers(-2, 2).map(lambda ahead: (middle + timedelta(days=ahead)).date())
    return Case(
        expression=expression,
        zone=zone,
        gap=draw(st.sampled_from(["shift_forward", "skip"])),
        fold=draw(st.sampled_from(["first", "last", "both"])),
        exclusions=tuple(draw(st.sets(days, max_size=2))) if draw(st.booleans()) else (),
        after=middle - timedelta(seconds=draw(st.integers(0, 40 * 3600))),
        through=middle + timedelta(seconds=draw(st.integers(0, 40 * 3600))),
    )


@settings(max_examples=4 * settings().max_examples)
@given(case=_cases(), data=st.data())
def test_recurrence_any_cut_of_a_window_equals_the_oracle(case: Case, data: st.DataObject) -> None:
    try:
        compiled = case.compiled()
    except InvalidRecurrence:
        compiled = None
    if compiled is None:  # refused, because it, or one of its members, never fires
        members = [case.expression] if isinstance(case.expression, str) else case.expression
        assert [] in [replace(case, expression=one).expected() for one in members]
        return
    expected = case.expected()
    assert compiled.between(case.after, case.through, len(expected) + 1) == expected
    seconds = int((case.through - case.after).total_seconds())
    inner = data.draw(st.lists(st.integers(0, seconds), max_size=5).map(sorted))
    cuts = [case.after, *(case.after + timedelta(seconds=at) for at in inner), case.through]
    pieces = [compiled.between(begin, end, 10**6) for begin, end in pairwise(cuts)]
    assert [instant for piece in pieces for instant in piece] == expected
    counts = [compiled.count_between(begin, end) for begin, end in pairwise(cuts)]
    assert counts == [len(piece) for piece in pieces]
    _assert_steps(compiled, case, expected)


def _assert_steps(compiled: Recurrence, case: Case, expected: list[datetime]) -> None:
    iterated = compiled.iterate_us(_us(case.after))
    through_us = _us(case.through)
    expected_us = [_us(instant) for instant in expected]
    assert list(takewhile(lambda instant: instant <= through_us, iterated)) == expected_us
    limited = expected[:200]
    at = case.after
    for instant in limited:
        found = compiled.next_after(at)
        assert found == instant
        assert compiled.next_after(instant - timedelta(microseconds=1)) == instant
        assert compiled.previous_before(instant + timedelta(microseconds=1)) == instant
        at = instant
    beyond = compiled.next_after(expected[-1] if expected else case.after)
    assert beyond is None or beyond > case.through
    at = case.through + timedelta(microseconds=1)
    for instant in reversed(expected[-200:]):
        found = compiled.previous_before(at)
        assert found == instant
        at = instant


def _us(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
