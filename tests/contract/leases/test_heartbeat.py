"""Leases: who holds what after a heartbeat, and at which epoch."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from ports.records import AuditRecord, Heartbeat
from ports.store import Store
from scheduling.limits import LEASE_TTL_S_MAX, PARTITIONS
from tests.contract.factories import StoreHarness

ALL = tuple(range(PARTITIONS))
NOW_US = 1_800_000_000_000_000
TTL_US = 6_000_000
EPSILON_US = 5_000
TTL_US_MAX = int(LEASE_TTL_S_MAX * 1_000_000)


def beat(store: Store, owner_id: str, *, at_us: int = NOW_US, ttl_us: int = TTL_US) -> Heartbeat:
    return store.leases.heartbeat(owner_id, now_us=at_us, ttl_us=ttl_us, epsilon_us=EPSILON_US)


def test_heartbeat_alone_acquires_everything_at_epoch_one(store: Store) -> None:
    result = beat(store, "a")
    assert result == Heartbeat(held=dict.fromkeys(ALL, 1), acquired=ALL, lost=())
    assert {lease.owner_id for lease in store.leases.leases()} == {"a"}


def test_heartbeat_repeated_renews_and_transfers_nothing(store: Store) -> None:
    beat(store, "a")
    result = beat(store, "a", at_us=NOW_US + 2_000_000)
    assert result == Heartbeat(held=dict.fromkeys(ALL, 1))
    assert {lease.expires_us for lease in store.leases.leases()} == {NOW_US + 2_000_000 + TTL_US}
    assert len(store.audit.entries(limit=10)) == 1


def test_heartbeat_of_a_second_owner_gets_what_the_first_sheds(store: Store) -> None:
    beat(store, "a")
    assert beat(store, "b") == Heartbeat(held={})
    shed = beat(store, "a")
    assert shed == Heartbeat(held=dict.fromkeys(range(128), 1), lost=tuple(range(128, 256)))
    got = beat(store, "b")
    assert got == Heartbeat(held=dict.fromkeys(range(128, 256), 2), acquired=tuple(range(128, 256)))


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 100, 300])
def test_heartbeats_of_many_owners_settle_on_fair_shares(store: Store, count: int) -> None:
    owners = [f"owner-{number}" for number in range(count)]
    for _ in range(3):
        for owner in owners:
            beat(store, owner)
    moves = len(store.audit.entries(limit=10_000))
    settled = {owner: beat(store, owner) for owner in owners}
    held = sorted(chain.from_iterable(result.held for result in settled.values()))
    assert held == list(ALL)
    assert max(len(result.held) for result in settled.values()) == -(-PARTITIONS // count)
    assert len(store.audit.entries(limit=10_000)) == moves


@pytest.mark.parametrize(
    ("late_us", "taken"),
    [
        pytest.param(0, 0, id="at_expiry"),
        pytest.param(2 * EPSILON_US, 0, id="two_epsilon_after"),
        pytest.param(2 * EPSILON_US + 1, 256, id="more_than_two_epsilon_after"),
    ],
)
def test_heartbeat_takes_a_lease_only_two_epsilon_after_its_expiry(
    store: Store, late_us: int, taken: int
) -> None:
    beat(store, "a")
    result = beat(store, "b", at_us=NOW_US + TTL_US + late_us)
    assert len(result.acquired) == taken
    assert set(result.held.values()) == ({2} if taken else set())


def test_heartbeat_after_a_take_over_reports_the_lost_ones(store: Store) -> None:
    beat(store, "a")
    late_us = NOW_US + TTL_US + 2 * EPSILON_US + 1
    beat(store, "b", at_us=late_us)
    assert beat(store, "a", at_us=late_us) == Heartbeat(held={}, lost=ALL)


def test_heartbeat_after_expiry_that_nobody_used_keeps_the_epoch(store: Store) -> None:
    beat(store, "a")
    result = beat(store, "a", at_us=NOW_US + 3_600_000_000)
    assert result == Heartbeat(held=dict.fromkeys(ALL, 1))


@pytest.mark.parametrize(
    ("ahead_us", "taken"),
    [
        pytest.param(TTL_US_MAX, 0, id="the_longest_ttl_away"),
        pytest.param(TTL_US_MAX + 1, 256, id="further_than_the_longest_ttl_away"),
    ],
)
def test_heartbeat_takes_a_lease_whose_expiry_is_too_far_away(
    store: Store, ahead_us: int, taken: int
) -> None:
    beat(store, "stepped", at_us=NOW_US + ahead_us - TTL_US)
    result = beat(store, "b")
    assert len(result.acquired) == taken


def test_heartbeat_of_the_dead_leaves_their_share_to_the_living(store: Store) -> None:
    for owner in ("a", "b", "a", "b"):
        beat(store, owner)
    assert len(beat(store, "a", at_us=NOW_US + 60_000_000).held) == 256


@pytest.mark.parametrize("ttl_us", [0, -1, TTL_US_MAX + 1])
def test_heartbeat_with_an_impossible_ttl_is_refused(store: Store, ttl_us: int) -> None:
    with pytest.raises(ValueError, match=f"ttl_us: {ttl_us} is not within 1 and 60000000"):
        beat(store, "a", ttl_us=ttl_us)
    assert store.leases.leases()[0].owner_id is None


def test_heartbeat_of_a_new_handle_reports_what_it_finds_as_acquired(
    harness: StoreHarness, store: Store
) -> None:
    beat(store, "a")
    assert beat(harness.open(), "a") == Heartbeat(held=dict.fromkeys(ALL, 1), acquired=ALL)


def test_heartbeat_that_transfers_is_one_audit_entry(store: Store) -> None:
    beat(store, "a")
    beat(store, "b")
    beat(store, "a")
    shed, acquired = store.audit.entries(limit=10)
    assert acquired == AuditRecord(
        NOW_US,
        "a",
        "lease_transfer",
        subject="partitions 0-255",
        prior_value=json.dumps([{"owner_id": None, "partitions": "0-255"}]),
        note="acquired",
        audit_id=1,
    )
    assert (shed.subject, shed.note) == ("partitions 128-255", "shed")
    assert json.loads(shed.prior_value or "") == [{"owner_id": "a", "partitions": "128-255"}]


def test_heartbeat_that_takes_over_names_every_previous_owner(store: Store) -> None:
    for owner in ("a", "b", "a", "b"):
        beat(store, owner)
    beat(store, "c", at_us=NOW_US + 60_000_000)
    newest = store.audit.entries(limit=1)[0]
    assert newest.subject == "partitions 0-255"
    assert json.loads(newest.prior_value or "") == [
        {"owner_id": "a", "partitions": "0-127"},
        {"owner_id": "b", "partitions": "128-255"},
    ]


def test_heartbeats_at_once_never_grant_an_epoch_twice(harness: StoreHarness) -> None:
    owners = [f"owner-{number}" for number in range(4)]
    stores = {owner: harness.open() for owner in owners}

    def run(owner: str) -> list[tuple[str, tuple[int, int]]]:
        results = [beat(stores[owner], owner, at_us=NOW_US + n) for n in range(20)]
        return [(owner, grant) for result in results for grant in result.held.items()]

    with ThreadPoolExecutor(len(owners)) as pool:
        grants = set(chain.from_iterable(pool.map(run, owners)))
    assert len({grant for _, grant in grants}) == len(grants)
