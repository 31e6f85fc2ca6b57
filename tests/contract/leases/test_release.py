"""Leases: giving everything up."""

from ports.records import Heartbeat, Lease
from ports.store import Store
from scheduling.limits import PARTITIONS

ALL = tuple(range(PARTITIONS))
NOW_US = 1_800_000_000_000_000


def beat(store: Store, owner_id: str) -> Heartbeat:
    return store.leases.heartbeat(owner_id, now_us=NOW_US, ttl_us=6_000_000, epsilon_us=5_000)


def test_leases_of_a_new_store_are_free_and_in_order(store: Store) -> None:
    assert store.leases.leases() == [Lease(number, None, 0, 0) for number in ALL]


def test_release_gives_up_everything_at_once(store: Store) -> None:
    beat(store, "a")
    assert store.leases.release("a", now_us=NOW_US) == PARTITIONS
    assert beat(store, "b") == Heartbeat(held=dict.fromkeys(ALL, 2), acquired=ALL)


def test_release_leaves_the_others_alone(store: Store) -> None:
    for owner in ("a", "b", "a", "b"):
        beat(store, owner)
    assert store.leases.release("b", now_us=NOW_US) == 128
    assert len(beat(store, "a").held) == PARTITIONS


def test_release_of_a_stranger_does_nothing(store: Store) -> None:
    beat(store, "a")
    assert store.leases.release("b", now_us=NOW_US) == 0
    assert len(store.audit.entries(limit=10)) == 1


def test_release_is_audited(store: Store) -> None:
    beat(store, "a")
    store.leases.release("a", now_us=NOW_US)
    newest = store.audit.entries(limit=1)[0]
    assert (newest.actor, newest.action, newest.subject, newest.note) == (
        "a",
        "lease_transfer",
        "partitions 0-255",
        "released",
    )


def test_heartbeat_after_release_acquires_at_a_new_epoch(store: Store) -> None:
    beat(store, "a")
    store.leases.release("a", now_us=NOW_US)
    assert beat(store, "a") == Heartbeat(held=dict.fromkeys(ALL, 2), acquired=ALL)
