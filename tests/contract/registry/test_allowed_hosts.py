"""Allowed hosts: an operator's word makes targets usable, and unusable again."""

import pytest

from ports.changes import (
    AllowHost,
    ChangeKind,
    DisallowHost,
    PutTarget,
    PutTenant,
    RecordOwnership,
)
from ports.errors import ProblemKind
from ports.records import AllowedHost
from scheduling.vocabulary import OwnershipState
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import START_US, TARGET, TENANT, a_target, a_tenant

HOST = "hooks.example"
PENDING, ALLOWED = OwnershipState.PENDING, OwnershipState.ALLOWED


@pytest.fixture
def hosted(crank: HandCrank) -> HandCrank:
    """Two tenants with a pending target each on the host, and one elsewhere."""
    crank.apply(
        PutTenant(tenant=a_tenant("other")),
        _put(TENANT, "hosted", "https://hooks.example:8443/x"),
        _put("other", "hosted", "https://Hooks.Example/y"),
        _put(TENANT, "away", "https://away.example/hooks.example"),
    )
    return crank


def _put(tenant_id: str, target_id: str, endpoint: str) -> PutTarget:
    return PutTarget(target=a_target(tenant_id, target_id=target_id, endpoint=endpoint))


def _states(crank: HandCrank) -> dict[str, OwnershipState]:
    return {
        f"{target.tenant_id}/{target.target_id}": target.ownership
        for target in crank.store.registry.targets()
        if target.target_id != TARGET
    }


def _allow(host: str = HOST, *, tenant_id: str | None = TENANT) -> AllowHost:
    return AllowHost(tenant_id=tenant_id, host=host, note="ours")


def _disallow(host: str = HOST, *, tenant_id: str | None = TENANT) -> DisallowHost:
    return DisallowHost(tenant_id=tenant_id, host=host, note="sold")


@pytest.mark.parametrize(
    ("tenant_id", "other"),
    [pytest.param(TENANT, PENDING, id="one_tenant"), pytest.param(None, ALLOWED, id="all_tenants")],
)
def test_allowed_host_makes_its_targets_usable(
    hosted: HandCrank, tenant_id: str | None, other: OwnershipState
) -> None:
    (result,) = hosted.apply(_allow(tenant_id=tenant_id))
    assert (result.kind, result.subject, result.tenant_id) == (
        ChangeKind.CREATED,
        HOST,
        tenant_id or "",
    )
    assert _states(hosted) == {
        "acme/away": PENDING,
        "acme/hosted": ALLOWED,
        "other/hosted": other,
    }


def test_target_put_on_an_allowed_host_is_allowed(crank: HandCrank) -> None:
    crank.apply(_allow(), _put(TENANT, "new", "https://hooks.example/z"))
    assert _states(crank) == {"acme/new": ALLOWED}


@pytest.mark.parametrize("text", ["HOOKS.example", "hooks.example."])
def test_host_is_compared_in_one_spelling(hosted: HandCrank, text: str) -> None:
    hosted.apply(_allow(text))
    assert _states(hosted)["acme/hosted"] is ALLOWED
    assert hosted.apply(_allow())[0].kind is ChangeKind.UNCHANGED


def test_allowed_hosts_are_listed(crank: HandCrank) -> None:
    crank.apply(_allow("b.example"), _allow("a.example"), _allow("b.example", tenant_id=None))
    assert crank.store.registry.allowed_hosts() == [
        AllowedHost(TENANT, "a.example", ACTOR, START_US),
        AllowedHost(None, "b.example", ACTOR, START_US),
        AllowedHost(TENANT, "b.example", ACTOR, START_US),
    ]


def test_allowed_again_changes_nothing(hosted: HandCrank, peek: StorePeek) -> None:
    hosted.apply(_allow())
    before = peek.content()
    assert hosted.apply(_allow())[0].kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_disallowed_host_makes_its_targets_pending(hosted: HandCrank) -> None:
    hosted.apply(_allow())
    assert hosted.apply(_disallow())[0].kind is ChangeKind.DELETED
    assert _states(hosted)["acme/hosted"] is PENDING
    assert hosted.store.registry.allowed_hosts() == []


def test_disallowed_host_leaves_what_another_word_allows(hosted: HandCrank) -> None:
    hosted.apply(_allow(tenant_id=None), _allow(), _disallow(tenant_id=None))
    assert _states(hosted) == {
        "acme/away": PENDING,
        "acme/hosted": ALLOWED,
        "other/hosted": PENDING,
    }


def test_disallowed_host_leaves_a_proof(hosted: HandCrank) -> None:
    proof = RecordOwnership(
        tenant_id=TENANT,
        target_id="hosted",
        endpoint="https://hooks.example:8443/x",
        ownership=OwnershipState.PROVEN,
    )
    hosted.apply(proof, _allow(), _disallow())
    assert _states(hosted)["acme/hosted"] is OwnershipState.PROVEN


def test_disallowing_what_is_not_allowed_is_not_found(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(_allow())
    problem = refusal_of(crank, peek, _disallow(tenant_id=None))
    assert (problem.kind, problem.field) == (ProblemKind.NOT_FOUND, "host")


@pytest.mark.parametrize(
    "text",
    ["", "https://hooks.example", "hooks.example/x", "hooks.example:443", "a b", "é.example"],
)
def test_text_that_is_no_host_is_refused(crank: HandCrank, peek: StorePeek, text: str) -> None:
    problem = refusal_of(crank, peek, _allow(text))
    assert (problem.kind, problem.field) == (ProblemKind.INVALID, "host")
    assert "write the name alone" in problem.text


def test_host_of_an_unknown_tenant_is_not_found(crank: HandCrank, peek: StorePeek) -> None:
    problem = refusal_of(crank, peek, _allow(tenant_id="nobody"))
    assert (problem.kind, problem.field) == (ProblemKind.NOT_FOUND, "tenant")


def test_both_are_audited_with_every_target_that_they_change(hosted: HandCrank) -> None:
    hosted.apply(_allow(), _disallow())
    told = [
        (entry.action, entry.tenant_id, entry.subject, entry.prior_value, entry.note)
        for entry in hosted.store.audit.entries(limit=4)
    ]
    assert told == [
        ("target_ownership", TENANT, "hosted", '{"ownership": "allow_listed"}', "sold"),
        ("host_disallowed", TENANT, HOST, None, "sold"),
        ("target_ownership", TENANT, "hosted", '{"ownership": "pending"}', "ours"),
        ("host_allowed", TENANT, HOST, None, "ours"),
    ]
