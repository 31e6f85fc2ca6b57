"""The registry's reads: by name, by page, and secrets only where they are asked for."""

from dataclasses import replace

import pytest

from ports.changes import ChangeKind, PutTenant, PutTrigger
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import (
    SECRET,
    TARGET,
    TENANT,
    a_definition,
    a_tenant,
    put_target,
    stored_target,
)

OTHER_SECRET = "whsec_b3RoZXJzZWNyZXRvdGhlcnNlY3JldG90aA=="


@pytest.fixture
def two_tenants(crank: HandCrank) -> HandCrank:
    crank.apply(PutTenant(tenant=a_tenant("zeta")), put_target("zeta"))
    for tenant_id, name in (("zeta", "a"), (TENANT, "b"), (TENANT, "a"), (TENANT, "c")):
        crank.apply(PutTrigger(tenant_id=tenant_id, name=name, definition=a_definition()))
    return crank


def _names(crank: HandCrank, **filters: object) -> list[tuple[str, str]]:
    found = crank.store.registry.triggers(**{"limit": 10, **filters})  # type: ignore[arg-type]
    return [(trigger.tenant_id, trigger.name) for trigger in found]


def test_tenants_are_listed_whole_by_id(two_tenants: HandCrank) -> None:
    assert two_tenants.store.registry.tenants() == [
        a_tenant(revision=1),
        a_tenant("zeta", revision=1),
    ]


def test_tenants_of_one_id_are_that_one_or_none(two_tenants: HandCrank) -> None:
    registry = two_tenants.store.registry
    assert registry.tenants("zeta") == [a_tenant("zeta", revision=1)]
    assert registry.tenants("zet") == []


def test_tenant_put_again_replaces_its_quotas(crank: HandCrank) -> None:
    wanted = a_tenant(quota_dispatch_per_s=7, catchup_rate_pct=50, smear_s=2)
    (result,) = crank.apply(PutTenant(tenant=wanted))
    assert result.kind is ChangeKind.EDITED
    assert crank.store.registry.tenants() == [replace(wanted, revision=2)]


def test_targets_are_listed_without_their_secrets(crank: HandCrank) -> None:
    assert crank.store.registry.targets(TENANT) == [stored_target()]
    assert crank.store.registry.targets("nobody") == []


def test_target_secret_is_kept_when_none_is_given(crank: HandCrank, peek: StorePeek) -> None:
    before = peek.content()
    (result,) = crank.apply(put_target(secret=None))
    assert result.kind is ChangeKind.UNCHANGED
    assert peek.content() == before
    assert crank.store.registry.target_secret(TENANT, TARGET) == SECRET


def test_target_without_a_secret_is_given_one(crank: HandCrank) -> None:
    crank.apply(put_target(target_id="second", secret=None))
    secret = crank.store.registry.target_secret(TENANT, "second")
    assert secret is not None
    assert secret.startswith("whsec_")


def test_target_secret_of_an_unknown_target_is_none(crank: HandCrank) -> None:
    assert crank.store.registry.target_secret(TENANT, "nowhere") is None


def test_target_with_a_new_secret_signs_with_both_for_a_while(crank: HandCrank) -> None:
    (result,) = crank.apply(put_target(secret=OTHER_SECRET))
    assert result.kind is ChangeKind.EDITED
    assert crank.store.registry.target_secret(TENANT, TARGET) == OTHER_SECRET
    crank.put()
    (claimed,) = crank.claim(crank.commit_at(60))
    assert claimed.signing_secrets == (OTHER_SECRET, SECRET)


def test_target_with_two_new_secrets_at_one_instant_has_the_last(crank: HandCrank) -> None:
    third = "whsec_dGhpcmRzZWNyZXR0aGlyZHNlY3JldHRo"
    crank.apply(put_target(secret=OTHER_SECRET), put_target(secret=third))
    assert crank.store.registry.target_secret(TENANT, TARGET) == third


def test_target_secret_is_sealed_at_rest(crank: HandCrank, peek: StorePeek) -> None:
    crank.store.close()
    assert not peek.holds(SECRET.encode())


def test_target_whose_key_is_gone_gets_a_new_secret_when_it_is_put(
    crank: HandCrank, peek: StorePeek
) -> None:
    peek.delete_payload_key(TENANT)
    (result,) = crank.apply(put_target())
    assert result.kind is ChangeKind.EDITED
    assert crank.store.registry.target_secret(TENANT, TARGET) == SECRET
    crank.put(payload=b"new")
    (claimed,) = crank.claim(crank.commit_at(60))
    assert (claimed.signing_secrets, claimed.payload) == ((SECRET,), b"new")


def test_triggers_are_listed_by_tenant_and_name_in_pages(two_tenants: HandCrank) -> None:
    assert _names(two_tenants, limit=2) == [(TENANT, "a"), (TENANT, "b")]
    assert _names(two_tenants, after=(TENANT, "b")) == [(TENANT, "c"), ("zeta", "a")]
    assert _names(two_tenants, tenant_id="zeta") == [("zeta", "a")]
    assert _names(two_tenants, after=("zeta", "a")) == []


def test_triggers_are_found_by_name_or_id(two_tenants: HandCrank) -> None:
    registry = two_tenants.store.registry
    assert [found.tenant_id for found in registry.find_triggers("a")] == [TENANT, "zeta"]
    (mine,) = registry.find_triggers("a", tenant_id=TENANT)
    assert registry.find_triggers(mine.trigger_id) == [mine]
    assert registry.find_triggers("nothing") == []


def test_triggers_of_a_name_are_found_in_the_tenants_given_and_in_pages(
    two_tenants: HandCrank,
) -> None:
    registry = two_tenants.store.registry
    first, second = registry.find_triggers("a")
    assert registry.find_triggers("a", tenants={"zeta", "nobody"}) == [second]
    assert registry.find_triggers("a", tenants=()) == []
    assert registry.find_triggers("a", tenant_id=TENANT, tenants={"zeta"}) == []
    assert registry.find_triggers("a", limit=1) == [first]
    after = (first.tenant_id, first.trigger_id)
    assert registry.find_triggers("a", after=after, limit=1) == [second]
    assert registry.find_triggers("a", after=(second.tenant_id, second.trigger_id)) == []
