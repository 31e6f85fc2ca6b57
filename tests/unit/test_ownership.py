"""Checks of targets' owners on a real store: what is asked, when, and what becomes of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters.payload_keys_tink import TinkPayloadKeys
from adapters.store_sqlite import open_sqlite_store
from control_api.ownership import (
    CheckedTarget,
    check_target,
    due_for_check,
    next_state,
    recheck_all,
)
from control_api.ownership_text import ownership_text
from ports.changes import AllowHost, DeleteTarget, PutTarget, PutTenant, RecordOwnership
from ports.errors import StoreUnavailable
from ports.ownership import OwnershipAnswer, OwnershipPort
from ports.records import TargetRecord
from ports.store import Store
from scheduling.instants import SECOND_US
from scheduling.vocabulary import OwnershipState
from tests.support.store_builders import TARGET, TENANT, a_target, a_tenant, at

DAY_US = 86_400 * SECOND_US
PROVEN, PENDING, LAPSED = OwnershipState.PROVEN, OwnershipState.PENDING, OwnershipState.LAPSED
ALLOWED, LOCAL = OwnershipState.ALLOWED, OwnershipState.LOCAL


def _days(days: float) -> int:
    return at(days * 86_400)


class Hosts(OwnershipPort):
    """Hosts that serve the texts which the test gives them."""

    def __init__(self, *served: str) -> None:
        self.served = set(served)
        self.asked: list[str] = []

    def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
        self.asked.append(endpoint)
        is_proven = expected in self.served
        return OwnershipAnswer(is_proven, "serves the line" if is_proven else "answered 404")


def _target(state: OwnershipState, **changes: Any) -> TargetRecord:
    return a_target(secret=None, ownership=state, **changes)


class Due(NamedTuple):
    state: OwnershipState
    verified: float | None
    checked: float | None
    now: float
    is_due: bool


DUE = {
    "fresh_proof": Due(PROVEN, 0, 0, 26.999, False),
    "old_proof": Due(PROVEN, 0, 0, 27, True),
    "old_proof_never_asked_since": Due(PROVEN, 0, None, 27, True),
    "asked_today": Due(PROVEN, 0, 27, 27.999, False),
    "asked_yesterday": Due(PROVEN, 0, 27, 28, True),
    "proof_without_a_time": Due(PROVEN, None, None, 0, True),
    "lapsed_asked_yesterday": Due(LAPSED, 0, 30, 31, True),
    "lapsed_asked_today": Due(LAPSED, 0, 30, 30.999, False),
    "clock_set_back": Due(PROVEN, 40, 40, 10, False),
    "pending": Due(PENDING, None, None, 400, False),
    "pending_asked_long_ago": Due(PENDING, None, 0, 400, False),
    "allowed": Due(ALLOWED, None, None, 400, False),
    "allowed_once_proven": Due(ALLOWED, 0, 0, 400, False),
    "local": Due(LOCAL, None, None, 400, False),
}


@pytest.mark.parametrize("case", DUE.values(), ids=DUE)
def test_due_for_check_is(case: Due) -> None:
    target = _target(
        case.state,
        verified_us=None if case.verified is None else _days(case.verified),
        checked_us=None if case.checked is None else _days(case.checked),
    )
    assert due_for_check(target, _days(case.now)) is case.is_due


NEXT: dict[str, tuple[OwnershipState, float | None, bool, float, OwnershipState]] = {
    "pending_proven": (PENDING, None, True, 0, PROVEN),
    "pending_failed": (PENDING, None, False, 400, PENDING),
    "proven_again": (PROVEN, 0, True, 29, PROVEN),
    "proven_failed_in_time": (PROVEN, 0, False, 29.999, PROVEN),
    "proven_failed_too_long": (PROVEN, 0, False, 30, LAPSED),
    "proven_of_no_time_failed": (PROVEN, None, False, 0, LAPSED),
    "lapsed_failed": (LAPSED, 0, False, 31, LAPSED),
    "lapsed_proven": (LAPSED, 0, True, 400, PROVEN),
    "allowed_failed": (ALLOWED, None, False, 400, ALLOWED),
    "allowed_proven": (ALLOWED, None, True, 400, ALLOWED),
    "local_failed": (LOCAL, None, False, 400, LOCAL),
}


@pytest.mark.parametrize(("state", "verified", "found", "now", "then"), NEXT.values(), ids=NEXT)
def test_next_state_is(
    state: OwnershipState, verified: float | None, found: bool, now: float, then: OwnershipState
) -> None:
    target = _target(state, verified_us=None if verified is None else _days(verified))
    assert next_state(target, found, now_us=_days(now)) is then


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_sqlite_store(
        tmp_path / "store.db",
        payload_keys=TinkPayloadKeys(tmp_path / "keys"),
        now_us=at(0),
        synchronous="OFF",
    )
    opened.registry.apply([PutTenant(tenant=a_tenant())], now_us=at(0), actor="test")
    yield opened
    opened.close()


@pytest.fixture
def put(store: Store) -> Callable[..., TargetRecord]:
    """Put a target; its host is not proven unless said so."""

    def put(target_id: str = TARGET, **changes: Any) -> TargetRecord:
        ownership = changes.pop("ownership", PENDING)
        target = a_target(target_id=target_id, **changes)
        store.registry.apply(
            [PutTarget(target=target, ownership=ownership)], now_us=at(0), actor="test"
        )
        return _stored(store, target_id)

    return put


def _stored(store: Store, target_id: str = TARGET) -> TargetRecord:
    (found,) = (each for each in store.registry.targets() if each.target_id == target_id)
    return found


def _check(store: Store, hosts: Hosts, days: float) -> CheckedTarget:
    return check_target(
        store.registry, hosts, target=_stored(store), now_us=_days(days), actor="ana"
    )


def _recheck(store: Store, hosts: Hosts, days: float, **options: Any) -> list[CheckedTarget]:
    return recheck_all(store.registry, hosts, now_us=_days(days), actor="punctual", **options)


def test_check_of_a_host_that_serves_the_text_makes_the_target_usable(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    target = put()
    hosts = Hosts(ownership_text(TENANT, target.endpoint))
    assert _check(store, hosts, 1) == CheckedTarget(TENANT, TARGET, True, PROVEN, "serves the line")
    found = _stored(store)
    assert (found.ownership, found.verified_us, found.checked_us) == (PROVEN, _days(1), _days(1))
    assert found.revision == target.revision + 1


def test_check_of_another_tenants_text_leaves_the_target_pending(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    target = put()
    hosts = Hosts(ownership_text("other", target.endpoint))
    assert _check(store, hosts, 1) == CheckedTarget(TENANT, TARGET, False, PENDING, "answered 404")
    found = _stored(store)
    assert (found.ownership, found.verified_us, found.checked_us) == (PENDING, None, _days(1))
    assert found.check_detail == "answered 404"


@pytest.mark.parametrize("state", [ALLOWED, LOCAL])
def test_check_of_a_target_that_needs_no_proof_asks_nobody(
    store: Store, put: Callable[..., TargetRecord], state: OwnershipState
) -> None:
    before = put(ownership=state)
    hosts = Hosts()
    checked = _check(store, hosts, 1)
    assert (checked.is_proven, checked.ownership) == (True, state)
    assert "nothing to prove" in checked.detail
    assert hosts.asked == []
    assert _stored(store) == before


def test_check_of_a_target_that_moved_meanwhile_changes_nothing(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    old = put()
    moved = put(endpoint="https://elsewhere.example/")
    hosts = Hosts(ownership_text(TENANT, old.endpoint))
    check_target(store.registry, hosts, target=old, now_us=_days(1), actor="ana")
    assert _stored(store) == moved


def test_check_that_fails_does_not_take_back_what_an_operator_said_meanwhile(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    old = put()
    allow = AllowHost(tenant_id=None, host="hook.example")
    store.registry.apply([allow], now_us=at(0), actor="operator")
    check_target(store.registry, Hosts(), target=old, now_us=_days(1), actor="ana")
    assert _stored(store).ownership is ALLOWED


def test_recheck_over_sixty_days_lapses_and_recovers(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    """The host serves until day 10, forgets, and serves again from day 40; the clock is hourly."""
    target = put()
    text = ownership_text(TENANT, target.endpoint)
    _check(store, Hosts(text), 0)
    asked_on: list[float] = []
    states: dict[OwnershipState, float] = {}
    for hour in range(61 * 24):
        day = hour / 24
        hosts = Hosts(text) if day < 10 or day >= 40 else Hosts()
        _recheck(store, hosts, day)
        asked_on += [day] * len(hosts.asked)
        states.setdefault(_stored(store).ownership, day)
        if day == 29:
            assert _stored(store).verified_us == _days(0)
    assert states == {PROVEN: 0.0, LAPSED: 30.0}
    assert asked_on == [27.0 + number for number in range(14)]
    found = _stored(store)
    assert (found.ownership, found.verified_us) == (PROVEN, _days(40))


def test_recheck_asks_a_host_once_for_all_targets_of_a_tenant_there(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    for number in range(3):
        put(f"t{number}", endpoint=f"https://hook.example/{number}", ownership=PROVEN)
    put("elsewhere", endpoint="https://elsewhere.example/", ownership=PROVEN)
    hosts = Hosts(ownership_text(TENANT, "https://hook.example/"))
    checked = _recheck(store, hosts, 30)
    assert {each.target_id: each.ownership for each in checked} == {
        "t0": PROVEN,
        "t1": PROVEN,
        "t2": PROVEN,
        "elsewhere": LAPSED,
    }
    assert len(hosts.asked) == 2
    assert _recheck(store, hosts, 30.5) == []


def test_recheck_that_is_told_to_stop_goes_on_later(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    for number in range(3):
        put(f"t{number}", endpoint=f"https://host{number}.example/", ownership=PROVEN)
    hosts = Hosts()
    first = _recheck(store, hosts, 27, should_stop=lambda: len(hosts.asked) == 2)
    rest = _recheck(store, hosts, 27)
    assert [each.target_id for each in first + rest] == ["t0", "t1", "t2"]


def test_recheck_of_a_target_that_was_deleted_meanwhile_goes_on(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    for number in range(2):
        put(f"t{number}", endpoint=f"https://host{number}.example/", ownership=PROVEN)

    class Deleting(Hosts):
        def check(self, endpoint: str, *, expected: str) -> OwnershipAnswer:
            if not self.asked:
                delete = DeleteTarget(tenant_id=TENANT, target_id="t0")
                store.registry.apply([delete], now_us=_days(27), actor="ana")
            return super().check(endpoint, expected=expected)

    checked = _recheck(store, Deleting(), 27)
    assert checked[-1].target_id == "t1"
    assert [target.target_id for target in store.registry.targets()] == ["t1"]


def test_recheck_without_a_store_raises_and_is_due_again(
    store: Store, put: Callable[..., TargetRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(ownership=PROVEN)

    def away(*args: object, **options: object) -> None:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store.registry, "apply", away)
        with pytest.raises(StoreUnavailable):
            _recheck(store, Hosts(), 27)
    assert due_for_check(_stored(store), _days(27))


def test_recheck_is_audited_when_the_state_changes(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    put(ownership=PROVEN)
    for day in (27, 28, 29, 30, 31):
        _recheck(store, Hosts(), day)
    entries = [entry for entry in store.audit.entries(limit=50) if entry.actor == "punctual"]
    assert [(entry.at_us, entry.subject) for entry in entries] == [(_days(30), TARGET)]


def test_record_of_a_failed_check_does_not_renew_a_proof(
    store: Store, put: Callable[..., TargetRecord]
) -> None:
    target = put(ownership=PROVEN)
    failed = RecordOwnership(
        tenant_id=TENANT, target_id=TARGET, endpoint=target.endpoint, ownership=None, detail="404"
    )
    store.registry.apply([failed], now_us=_days(28), actor="punctual")
    found = _stored(store)
    assert (found.ownership, found.verified_us) == (PROVEN, at(0))
    assert (found.checked_us, found.check_detail) == (_days(28), "404")
