"""apply with a request: the same key has one effect, and the same answer for a day."""

from dataclasses import replace

import pytest

from ports.changes import (
    Change,
    ChangeKind,
    ChangeResult,
    IdempotentRequest,
    PauseTrigger,
    PutTenant,
    PutTrigger,
    RecordOwnership,
)
from ports.errors import ProblemKind
from scheduling.limits import IDEMPOTENCY_KEPT_US, IDEMPOTENCY_SWEEP_ROWS_MAX
from scheduling.vocabulary import OwnershipState
from tests.contract.factories import StoreHarness
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import TENANT, a_definition, a_tenant, put_target

PUT = PutTrigger(tenant_id=TENANT, name="job", definition=a_definition())


def _request(key: str = "key-1", *, fingerprint: str = "f", by: str = "ada") -> IdempotentRequest:
    return IdempotentRequest(principal_id=by, key=key, fingerprint=fingerprint)


def _apply(
    crank: HandCrank,
    *changes: Change,
    request: IdempotentRequest | None = None,
    dry_run: bool = False,
) -> list[ChangeResult]:
    return crank.store.registry.apply(
        changes,
        now_us=crank.now_us,
        actor=ACTOR,
        request=request or _request(),
        dry_run=dry_run,
    )


def test_repeated_request_changes_nothing_and_gets_the_same_results(
    crank: HandCrank, peek: StorePeek, harness: StoreHarness
) -> None:
    changes: list[Change] = [
        PUT,
        PutTenant(tenant=a_tenant("second")),
        put_target(target_id="second"),
        RecordOwnership(
            tenant_id=TENANT,
            target_id="second",
            endpoint=put_target().target.endpoint,
            ownership=OwnershipState.PROVEN,
            detail="served",
        ),
    ]
    first = _apply(crank, *changes)
    assert [result.replayed for result in first] == [False] * 4
    assert [result.left for result in first[:2]] == [None, a_tenant("second", revision=1)]
    assert first[3].left == crank.store.registry.target(TENANT, "second")
    before = peek.content()
    crank.to(3_600)
    crank.store = harness.open()
    again = _apply(crank, *changes)
    assert again == [replace(result, replayed=True) for result in first]
    assert peek.content() == before


def test_repeat_is_answered_though_the_change_would_be_refused_now(crank: HandCrank) -> None:
    crank.put()
    pause = PauseTrigger(tenant_id=TENANT, name="job", expected_revision=1)
    first = _apply(crank, pause)
    assert _apply(crank, pause) == [replace(first[0], replayed=True)]


def test_same_key_with_another_request_is_refused(crank: HandCrank, peek: StorePeek) -> None:
    _apply(crank, PUT)
    problem = refusal_of(crank, peek, PUT, request=_request(fingerprint="another"))
    assert (problem.kind, problem.field) == (ProblemKind.KEY_REUSED, "Idempotency-Key")


def test_same_key_of_another_principal_is_another_request(crank: HandCrank) -> None:
    _apply(crank, PUT)
    (result,) = _apply(crank, PUT, request=_request(by="bob", fingerprint="another"))
    assert (result.kind, result.replayed) == (ChangeKind.UNCHANGED, False)


def test_refused_change_keeps_no_key(crank: HandCrank, peek: StorePeek) -> None:
    missing = PauseTrigger(tenant_id=TENANT, name="job")
    refusal_of(crank, peek, missing, request=_request())
    crank.put()
    (result,) = _apply(crank, missing)
    assert (result.kind, result.replayed) == (ChangeKind.PAUSED, False)


def test_dry_run_keeps_no_key(crank: HandCrank, peek: StorePeek) -> None:
    before = peek.content()
    (told,) = _apply(crank, PUT, dry_run=True)
    assert peek.content() == before
    assert _apply(crank, PUT) == [told]


@pytest.mark.parametrize(
    ("age_us", "is_replayed"),
    [
        pytest.param(IDEMPOTENCY_KEPT_US - 1, True, id="within_the_day"),
        pytest.param(IDEMPOTENCY_KEPT_US, False, id="after_the_day"),
    ],
)
def test_key_is_kept_for_a_day(crank: HandCrank, age_us: int, is_replayed: bool) -> None:
    change = PutTenant(tenant=a_tenant("second"))
    _apply(crank, change)
    crank.now_us += age_us
    (result,) = _apply(crank, change)
    assert result.replayed is is_replayed


def test_expired_keys_are_deleted_a_bounded_number_at_a_time(
    crank: HandCrank, peek: StorePeek
) -> None:
    for number in range(IDEMPOTENCY_SWEEP_ROWS_MAX + 2):
        _apply(crank, PUT, request=_request(f"old-{number}"))
    crank.now_us += IDEMPOTENCY_KEPT_US
    _apply(crank, PUT, request=_request("new-1"))
    assert peek.kept_requests() == 3
    _apply(crank, PUT, request=_request("new-2"))
    assert peek.kept_requests() == 2


def test_request_without_changes_is_looked_up_and_kept_nowhere(
    crank: HandCrank, peek: StorePeek
) -> None:
    before = peek.content()
    assert _apply(crank) == []
    assert peek.content() == before
    first = _apply(crank, PUT)
    before = peek.content()
    assert _apply(crank) == [replace(result, replayed=True) for result in first]
    assert _apply(crank, request=_request("key-2")) == []
    assert _apply(crank, request=_request(by="eve")) == []
    assert peek.content() == before
    problem = refusal_of(crank, peek, request=_request(fingerprint="another"))
    assert problem.kind is ProblemKind.KEY_REUSED
