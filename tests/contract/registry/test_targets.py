"""Targets: who owns their hosts, which may be used, and how they go."""

from dataclasses import replace

import pytest

from ports.changes import (
    AllowHost,
    ChangeKind,
    ChangeResult,
    DeleteTarget,
    PutTarget,
    PutTenant,
    PutTrigger,
    RecordOwnership,
)
from ports.errors import ProblemKind
from ports.records import TargetRecord
from scheduling.vocabulary import MissedPolicy, OwnershipState
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import (
    SECRET,
    START_US,
    TARGET,
    TENANT,
    a_definition,
    a_target,
    a_tenant,
    at,
    put_target,
    stored_target,
)

ENDPOINT = "https://second.example/fire"
UNUSABLE = [OwnershipState.PENDING, OwnershipState.LAPSED]


def _second(**changes: object) -> TargetRecord:
    facts: dict[str, object] = {"target_id": "second", "endpoint": ENDPOINT, **changes}
    return a_target(TENANT, **facts)


def _put(ownership: OwnershipState = OwnershipState.PENDING, **changes: object) -> PutTarget:
    return PutTarget(target=_second(**changes), ownership=ownership)


def _record(ownership: OwnershipState, endpoint: str = ENDPOINT) -> RecordOwnership:
    return RecordOwnership(
        tenant_id=TENANT,
        target_id="second",
        endpoint=endpoint,
        ownership=ownership,
        detail=f"found {ownership}",
    )


def _stored(crank: HandCrank) -> TargetRecord:
    (found,) = [each for each in crank.store.registry.targets() if each.target_id == "second"]
    return found


def _use_second(name: str = "job", **changes: object) -> PutTrigger:
    definition = a_definition(**{"target_id": "second", **changes})
    return PutTrigger(tenant_id=TENANT, name=name, definition=definition)


def _delete(target_id: str = "second") -> DeleteTarget:
    return DeleteTarget(tenant_id=TENANT, target_id=target_id)


def test_target_on_an_unproven_host_is_pending(crank: HandCrank) -> None:
    (result,) = crank.apply(_put())
    assert (result.kind, result.revision) == (ChangeKind.CREATED, 1)
    assert _stored(crank) == replace(
        _second(), secret=None, ownership=OwnershipState.PENDING, revision=1
    )


@pytest.mark.parametrize("ownership", [OwnershipState.LOCAL, OwnershipState.ALLOWED])
def test_target_is_stored_with_the_ownership_that_is_known(
    crank: HandCrank, ownership: OwnershipState
) -> None:
    crank.apply(_put(ownership))
    assert (_stored(crank).ownership, _stored(crank).verified_us) == (ownership, None)


def test_target_proven_when_it_is_put_was_checked_then(crank: HandCrank) -> None:
    crank.to(5)
    crank.apply(_put(OwnershipState.PROVEN))
    stored = _stored(crank)
    assert (stored.ownership, stored.verified_us, stored.checked_us) == ("proven", at(5), at(5))


@pytest.mark.parametrize("ownership", [OwnershipState.PENDING, OwnershipState.PROVEN])
def test_target_keeps_what_its_check_found(crank: HandCrank, ownership: OwnershipState) -> None:
    crank.to(5)
    crank.apply(replace(_put(ownership), check_detail="answered 404"))
    assert (_stored(crank).check_detail, _stored(crank).checked_us) == ("answered 404", at(5))


def test_target_made_again_tells_its_own_creation(crank: HandCrank) -> None:
    crank.apply(_put())
    assert _stored(crank).created_us == at(0)
    crank.to(5)
    crank.apply(_put(timeout_s=3.0))
    assert _stored(crank).created_us == at(0)
    crank.apply(_delete(), _put())
    assert (_stored(crank).created_us, _stored(crank).revision) == (at(5), 1)


def test_targets_of_all_tenants_are_listed_by_tenant_and_id(crank: HandCrank) -> None:
    crank.apply(PutTenant(tenant=a_tenant("aaa")), put_target("aaa"), put_target(target_id="a"))
    found = crank.store.registry.targets()
    assert found == [stored_target("aaa"), stored_target(target_id="a"), stored_target()]
    assert crank.store.registry.targets("aaa") == [stored_target("aaa")]


@pytest.mark.parametrize(
    ("endpoint", "ownership"),
    [
        pytest.param("https://second.example/other", OwnershipState.PROVEN, id="another_path"),
        pytest.param("HTTPS://Second.Example:443/", OwnershipState.PROVEN, id="same_origin"),
        pytest.param("https://second.example:8443/", OwnershipState.PENDING, id="another_port"),
        pytest.param("http://second.example/fire", OwnershipState.PENDING, id="another_scheme"),
        pytest.param("https://other.example/fire", OwnershipState.PENDING, id="another_host"),
    ],
)
def test_proof_stays_with_the_origin(
    crank: HandCrank, endpoint: str, ownership: OwnershipState
) -> None:
    crank.apply(_put(), _record(OwnershipState.PROVEN))
    crank.apply(_put(endpoint=endpoint))
    stored = _stored(crank)
    assert stored.ownership is ownership
    assert stored.verified_us == (START_US if ownership is OwnershipState.PROVEN else None)


@pytest.mark.parametrize("ownership", UNUSABLE)
def test_unusable_state_stays_with_the_origin_until_more_is_known(
    crank: HandCrank, ownership: OwnershipState
) -> None:
    crank.apply(_put(), _record(ownership), _put(timeout_s=3.0))
    assert _stored(crank).ownership is ownership
    crank.apply(_put(OwnershipState.LOCAL, timeout_s=3.0))
    assert _stored(crank).ownership is OwnershipState.LOCAL


@pytest.mark.parametrize("ownership", UNUSABLE)
def test_trigger_may_not_name_an_unusable_target(
    crank: HandCrank, peek: StorePeek, ownership: OwnershipState
) -> None:
    crank.put()
    crank.apply(_put(), _record(ownership))
    for change in (_use_second("new"), _use_second("job")):
        problem = refusal_of(crank, peek, change)
        assert (problem.kind, problem.field) == (ProblemKind.CONFLICT, "target")
        assert f"the ownership of 'second' is {ownership}" in problem.text
        assert "verify it, or ask an operator to allow its host" in problem.text


@pytest.mark.parametrize(
    "ownership", [OwnershipState.PROVEN, OwnershipState.ALLOWED, OwnershipState.LOCAL]
)
def test_trigger_may_name_a_usable_target(crank: HandCrank, ownership: OwnershipState) -> None:
    results = crank.apply(_put(ownership), _use_second())
    assert results[1].kind is ChangeKind.CREATED


def test_trigger_whose_target_has_lapsed_can_still_be_edited(crank: HandCrank) -> None:
    crank.apply(_put(OwnershipState.PROVEN), _use_second(), _record(OwnershipState.LAPSED))
    (result,) = crank.apply(_use_second(smear_s=3))
    assert (result.kind, result.version) == (ChangeKind.EDITED, 2)


def test_target_in_use_may_not_move_to_an_unproven_host(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(_put(OwnershipState.PROVEN), _use_second())
    problem = refusal_of(crank, peek, _put(endpoint="https://elsewhere.example/"))
    assert (problem.kind, problem.field) == (ProblemKind.CONFLICT, "endpoint")
    assert "the trigger 'job' uses acme/second" in problem.text


@pytest.mark.parametrize("known", ["given", "allowed"])
def test_target_in_use_may_move_to_a_host_that_is_known(crank: HandCrank, known: str) -> None:
    crank.apply(_put(OwnershipState.PROVEN), _use_second())
    given = OwnershipState.ALLOWED if known == "given" else OwnershipState.PENDING
    if known == "allowed":
        crank.apply(AllowHost(tenant_id=TENANT, host="elsewhere.example"))
    crank.apply(_put(given, endpoint="https://elsewhere.example/"))
    assert _stored(crank).ownership is OwnershipState.ALLOWED


def test_unused_target_may_move_to_an_unproven_host(crank: HandCrank) -> None:
    crank.apply(_put(OwnershipState.PROVEN), _use_second())
    crank.put(target_id=TARGET)
    crank.apply(_put(endpoint="https://elsewhere.example/"))
    assert _stored(crank).ownership is OwnershipState.PENDING


def test_check_is_recorded_and_its_state_is_a_revision(crank: HandCrank) -> None:
    crank.apply(_put())
    crank.to(60)
    (result,) = crank.apply(_record(OwnershipState.PROVEN))
    assert (result.kind, result.revision) == (ChangeKind.EDITED, 2)
    stored = _stored(crank)
    assert (stored.ownership, stored.check_detail) == (OwnershipState.PROVEN, "found proven")
    assert (stored.verified_us, stored.checked_us, stored.revision) == (at(60), at(60), 2)


def test_check_that_finds_the_same_keeps_the_revision(crank: HandCrank) -> None:
    crank.apply(_put(), _record(OwnershipState.PROVEN))
    audited = len(crank.store.audit.entries(limit=100))
    crank.to(60)
    (result,) = crank.apply(_record(OwnershipState.PROVEN))
    assert (result.kind, result.revision) == (ChangeKind.UNCHANGED, 2)
    assert (_stored(crank).verified_us, _stored(crank).revision) == (at(60), 2)
    assert len(crank.store.audit.entries(limit=100)) == audited


def test_failed_check_keeps_the_time_of_the_proof(crank: HandCrank) -> None:
    crank.apply(_put(), _record(OwnershipState.PROVEN))
    crank.to(60)
    crank.apply(_record(OwnershipState.LAPSED))
    stored = _stored(crank)
    assert (stored.ownership, stored.check_detail) == (OwnershipState.LAPSED, "found lapsed")
    assert (stored.verified_us, stored.checked_us) == (START_US, at(60))


def test_failed_check_takes_no_operators_word_back(crank: HandCrank) -> None:
    crank.apply(_put(OwnershipState.ALLOWED))
    (result,) = crank.apply(_record(OwnershipState.PENDING))
    assert (result.kind, _stored(crank).ownership) == (ChangeKind.UNCHANGED, "allow_listed")


def test_check_of_another_endpoint_or_of_no_target_changes_nothing(
    crank: HandCrank, peek: StorePeek
) -> None:
    def recorded(endpoint: str) -> ChangeResult:
        return crank.apply(_record(OwnershipState.PROVEN, endpoint))[0]

    assert (recorded(ENDPOINT).kind, recorded(ENDPOINT).revision) == (ChangeKind.UNCHANGED, None)
    crank.apply(_put())
    before = peek.content()
    assert recorded("https://second.example/old").kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_delete_takes_the_target_and_its_secret(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(_put())
    (result,) = crank.apply(_delete())
    assert (result.kind, result.revision) == (ChangeKind.DELETED, 1)
    assert crank.store.registry.targets() == [stored_target()]
    assert crank.store.registry.target_secret(TENANT, "second") is None
    (entry,) = crank.store.audit.entries(limit=1)
    assert (entry.action, entry.subject) == ("target_deleted", "second")
    assert refusal_of(crank, peek, _delete()).kind is ProblemKind.NOT_FOUND


def test_target_deleted_and_made_again_at_one_instant_has_the_new_secret(
    crank: HandCrank,
) -> None:
    other = "whsec_b3RoZXJzZWNyZXRvdGhlcnNlY3JldG90aA=="
    crank.apply(_put(secret=SECRET), _delete(), _put(secret=other))
    assert crank.store.registry.target_secret(TENANT, "second") == other


def test_target_in_use_is_not_deleted(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(_put(OwnershipState.PROVEN), _use_second())
    problem = refusal_of(crank, peek, _delete())
    assert (problem.kind, problem.field) == (ProblemKind.CONFLICT, "target")
    assert "'job'" in problem.text
    crank.delete()
    assert crank.apply(_delete())[0].kind is ChangeKind.DELETED


def test_target_of_a_waiting_fire_is_not_deleted(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(_put(OwnershipState.PROVEN), _use_second())
    waiting = crank.commit_at(60)
    crank.put(target_id=TARGET)
    assert refusal_of(crank, peek, _delete()).kind is ProblemKind.CONFLICT
    crank.attempt(waiting)
    assert crank.apply(_delete())[0].kind is ChangeKind.DELETED


def test_target_of_an_unplanned_gap_is_not_deleted(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(
        _put(OwnershipState.PROVEN),
        _use_second(missed_policy=MissedPolicy.FIRE_ALL, catchup_horizon_s=86_400),
    )
    crank.commit_at(150 * 60)
    crank.put(target_id=TARGET)
    assert refusal_of(crank, peek, _delete()).kind is ProblemKind.CONFLICT


def test_put_of_a_target_is_audited_with_what_was_before_and_no_secret(
    crank: HandCrank,
) -> None:
    crank.apply(_put())
    other = "whsec_b3RoZXJzZWNyZXRvdGhlcnNlY3JldG90aA=="
    crank.apply(_put(timeout_s=3.0, secret=other))
    edited, created = crank.store.audit.entries(limit=2)
    assert (created.action, created.subject, created.prior_value) == ("target_put", "second", None)
    assert edited.prior_value == (
        f'{{"endpoint": "{ENDPOINT}", "timeout_s": 10.0, "kind": "http", "ownership": "pending"}}'
    )
    assert edited.note == "its signing secret was replaced"
