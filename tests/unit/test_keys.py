"""Fire keys and derived ids."""

import re
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.keys import (
    FireKey,
    attempt_seed,
    partition_of,
    trace_parent_of,
    trigger_id_of,
)
from scheduling.limits import PARTITIONS

NAMES = st.text(st.characters(exclude_characters="~", exclude_categories=("Z", "C")), min_size=1)
KEYS = st.builds(
    FireKey,
    NAMES,
    NAMES,
    st.integers(-(10**18) + 1, 10**18 - 1),
    st.integers(0, 10**9 - 1),
)
KEY = FireKey("acme", "t1", 60_000_000)


@given(key=KEYS)
def test_fire_key_text_round_trips(key: FireKey) -> None:
    assert FireKey.parse(str(key)) == key


def test_fire_key_text_has_its_four_parts() -> None:
    assert str(KEY) == "acme~t1~60000000~0"
    assert str(KEY._replace(scheduled_us=-5, sequence=12)) == "acme~t1~-5~12"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("acme~t1~60000000", id="no_sequence"),
        pytest.param("acme~t1~60000000~0~1", id="five_parts"),
        pytest.param("~t1~60000000~0", id="no_tenant"),
        pytest.param("acme~~60000000~0", id="no_trigger"),
        pytest.param("acme~t1~~0", id="no_instant"),
        pytest.param("acme~t1~2026-01-01T00:00:00Z~0", id="instant_as_a_date"),
        pytest.param("acme~t1~6e7~0", id="instant_as_a_float"),
        pytest.param("acme~t1~+60~0", id="plus_sign"),
        pytest.param("acme~t1~-0~0", id="minus_nought"),
        pytest.param("acme~t1~060~0", id="leading_nought"),
        pytest.param("acme~t1~60~00", id="leading_nought_in_the_sequence"),
        pytest.param("acme~t1~60~-1", id="negative_sequence"),
        pytest.param("acme~t1~٦٠~0", id="digits_of_another_script"),
        pytest.param("acme~t1~1234567890123456789~0", id="instant_too_long"),
        pytest.param("acme~t1~60~1234567890", id="sequence_too_long"),
        pytest.param("ac me~t1~60~0", id="blank"),
        pytest.param("acme~t1~60~0\n", id="line_end"),
        pytest.param(" acme~t1~60~0", id="leading_blank"),
    ],
)
def test_fire_key_bad_text_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"fire_key: .* is not tenant~trigger~microseconds~seq"):
        FireKey.parse(text)


def test_fire_key_error_echoes_little_of_the_input() -> None:
    with pytest.raises(ValueError, match="fire_key") as caught:
        FireKey.parse("x" * 10_000)
    assert len(str(caught.value)) < 120


@given(text=st.text(max_size=40))
def test_fire_key_any_text_is_a_key_of_that_text_or_refused(text: str) -> None:
    read = None
    with suppress(ValueError):
        read = str(FireKey.parse(text))
    assert read in (None, text)


def test_ids_are_the_same_in_every_process() -> None:
    assert partition_of("t6846327b02f7c8f84566") == 0x68
    assert trigger_id_of("acme", "nightly", generation=1) == "t6846327b02f7c8f84566"
    assert trace_parent_of(KEY) == "00-beba8e16f953300afd3745d92c5ad486-d5a3df3b251b4fca-01"
    assert attempt_seed(KEY, 1) == 6947700553240680810


def test_trigger_id_of_a_recreated_name_is_a_new_one() -> None:
    ids = {
        trigger_id_of(tenant, name, generation=generation)
        for tenant in ("acme", "acm")
        for name in ("enightly", "nightly")
        for generation in (1, 2, 11)
    }
    assert len(ids) == 12
    assert all(re.fullmatch(r"t[0-9a-f]{20}", each) for each in ids)


def test_trace_parent_is_one_per_fire_in_the_w3c_form() -> None:
    traces = {trace_parent_of(KEY._replace(scheduled_us=at)) for at in range(500)}
    assert len(traces) == 500
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", trace) for trace in traces)


def test_attempt_seed_differs_by_fire_and_by_attempt() -> None:
    seeds = {
        attempt_seed(KEY._replace(scheduled_us=at), n) for at in range(100) for n in range(1, 6)
    }
    assert len(seeds) == 500


@pytest.mark.parametrize("prefix", ["", "trigger-", "0000000000"])
def test_partition_spread_over_all_of_them_is_even(prefix: str) -> None:
    count = 256 * 100
    names = (f"{prefix}{n}" for n in range(count))
    found = Counter(partition_of(trigger_id_of("acme", name, generation=0)) for name in names)
    assert set(found) == set(range(PARTITIONS))
    expected = count / PARTITIONS
    chi_square = sum((size - expected) ** 2 / expected for size in found.values())
    # 255 degrees of freedom: the middle is 255, one in a million lies outside these.
    assert 155 < chi_square < 378
