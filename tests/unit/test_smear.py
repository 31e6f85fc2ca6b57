"""The smear: stable, forward only, within its window, spread evenly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.smear import smear_us

INSTANTS = st.integers(-(10**17), 10**17)


@given(
    tenant_id=st.text(min_size=1, max_size=8),
    trigger_id=st.text(min_size=1, max_size=8),
    instant_us=INSTANTS,
    window_us=st.integers(1, 3_600_000_000),
)
def test_smear_is_stable_forward_and_within_its_window(
    tenant_id: str, trigger_id: str, instant_us: int, window_us: int
) -> None:
    found = smear_us(tenant_id, trigger_id, instant_us=instant_us, window_us=window_us)
    assert 0 <= found < window_us
    assert found == smear_us(tenant_id, trigger_id, instant_us=instant_us, window_us=window_us)


@pytest.mark.parametrize("window_us", [0, -1, -3_600_000_000])
def test_smear_without_a_window_is_none(window_us: int) -> None:
    assert smear_us("acme", "t1", instant_us=60_000_000, window_us=window_us) == 0


def test_smear_is_the_same_in_every_process() -> None:
    at_minute = smear_us("acme", "t1", instant_us=60_000_000, window_us=2_000_000)
    at_hour = smear_us("acme", "t1", instant_us=3_600_000_000, window_us=50_000_000)
    assert (at_minute, at_hour) == (1_733_057, 41_413_381)


def test_smear_depends_on_tenant_trigger_and_instant() -> None:
    found = {
        smear_us(tenant_id, trigger_id, instant_us=instant_us, window_us=10**12)
        for tenant_id in ("a", "ab")
        for trigger_id in ("c", "bc")
        for instant_us in (1, 2)
    }
    assert len(found) == 8


def test_smear_spreads_one_instant_over_its_window() -> None:
    tenths = [0] * 10
    for n in range(10_000):
        smear = smear_us("acme", f"t{n}", instant_us=60_000_000, window_us=2_000_000)
        tenths[smear // 200_000] += 1
    # A thousand each; five standard deviations are 150.
    assert all(850 < count < 1_150 for count in tenths)
