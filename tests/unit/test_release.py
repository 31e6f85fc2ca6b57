"""How many held fires may go now, in any ten seconds, and whose turn it is."""

from bisect import bisect_left, bisect_right
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.instants import SECOND_US
from scheduling.release import allowance, bucket_of, round_robin, window_cap


@pytest.mark.parametrize(
    ("quota", "pct", "cap"),
    [
        pytest.param(100, 10, 100, id="a_tenth_of_a_hundred_a_second"),
        pytest.param(1, 10, 1, id="a_tenth_of_one"),
        pytest.param(7, 33, 23, id="rounded_down"),
        pytest.param(1, 1, 1, id="at_least_one"),
        pytest.param(100, 100, 1_000, id="all_of_it"),
        pytest.param(100, 0, 0, id="rate_off"),
        pytest.param(0, 10, 0, id="no_quota"),
        pytest.param(100, -1, 0, id="negative_rate"),
    ],
)
def test_window_cap_is_ten_seconds_of_the_rate(quota: int, pct: int, cap: int) -> None:
    assert window_cap(quota, pct) == cap


@given(
    steps_us=st.lists(st.integers(0, 3_000_000), min_size=1, max_size=150),
    wishes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    cap=st.integers(1, 12),
)
def test_allowance_keeps_the_cap_in_any_ten_seconds(
    steps_us: list[int], wishes: list[int], cap: int
) -> None:
    now_us = 0
    released: Counter[int] = Counter()
    times_us: list[int] = []
    for turn, step_us in enumerate(steps_us):
        now_us += step_us
        granted = min(wishes[turn % len(wishes)], allowance(released, now_us=now_us, cap=cap))
        released[bucket_of(now_us)] += granted
        times_us += [now_us] * granted
    for first, time_us in enumerate(times_us):
        # Both ends belong to the window: ten seconds may be counted either way.
        assert bisect_right(times_us, time_us + 10 * SECOND_US) - first <= cap
    assert bisect_left(times_us, 0) == 0
    assert times_us[:cap] == sorted(times_us[:cap])


@pytest.mark.parametrize(
    ("now_s", "left"),
    [
        pytest.param(5.0, 0, id="at_once"),
        pytest.param(15.999999, 0, id="the_bucket_may_still_count"),
        pytest.param(16.0, 3, id="eleven_seconds_after_its_bucket_began"),
        pytest.param(4.0, 0, id="a_bucket_ahead_counts_too"),
    ],
)
def test_allowance_forgets_a_bucket_when_no_window_holds_it(now_s: float, left: int) -> None:
    released = {bucket_of(5_400_000): 3}
    assert allowance(released, now_us=round(now_s * SECOND_US), cap=3) == left


def test_allowance_over_the_cap_is_none_left() -> None:
    assert allowance({0: 9}, now_us=0, cap=3) == 0
    assert allowance({}, now_us=0, cap=3) == 3


@pytest.mark.parametrize(
    ("now_us", "bucket_us"),
    [(0, 0), (999_999, 0), (1_000_000, 1_000_000), (-1, -1_000_000)],
)
def test_bucket_begins_at_the_whole_second(now_us: int, bucket_us: int) -> None:
    assert bucket_of(now_us) == bucket_us


@pytest.mark.parametrize(
    ("waiting", "allowed", "expected"),
    [
        pytest.param({}, 3, "", id="nothing_waits"),
        pytest.param({"a": "123"}, 0, "", id="nothing_allowed"),
        pytest.param({"a": "123"}, 2, "12", id="oldest_first"),
        pytest.param({"a": "123", "b": "45"}, 9, "14253", id="in_turn"),
        pytest.param({"a": "123", "b": "45"}, 3, "142", id="cut_in_a_round"),
        pytest.param({"a": "123", "b": "", "c": "6"}, 2, "16", id="empty_ones_lose_no_turn"),
    ],
)
def test_round_robin_takes_one_of_each_in_turn(
    waiting: dict[str, str], allowed: int, expected: str
) -> None:
    assert "".join(round_robin(waiting, allowed=allowed)) == expected


@given(lengths=st.lists(st.integers(0, 12), min_size=1, max_size=8), allowed=st.integers(0, 60))
def test_round_robin_is_fair_and_spends_all_it_may(lengths: list[int], allowed: int) -> None:
    waiting = {str(name): [(name, n) for n in range(size)] for name, size in enumerate(lengths)}
    chosen = round_robin(waiting, allowed=allowed)
    assert len(chosen) == min(allowed, sum(lengths))
    taken = Counter(name for name, _ in chosen)
    for name, size in enumerate(lengths):
        assert [n for at, n in chosen if at == name] == list(range(taken[name]))
        if taken[name] < size:
            # One that still waits had as many turns as any other, but for the round cut short.
            assert max(taken.values(), default=0) - taken[name] <= 1
