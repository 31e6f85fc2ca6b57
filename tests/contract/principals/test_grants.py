"""Grants: given and taken back per tenant or on the platform."""

from dataclasses import replace

import pytest

from ports.changes import AddGrant, ChangeKind, CreateToken, PutTenant, RemoveGrant, RevokeToken
from ports.errors import ProblemKind
from ports.principals import GrantKind, GrantRecord
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import TENANT, a_tenant

ADA_AUTHOR = GrantRecord("ada", GrantKind.AUTHOR, TENANT)
ADA_READ = GrantRecord("ada", GrantKind.READ)


@pytest.mark.parametrize("kind", GrantKind)
@pytest.mark.parametrize("tenant_id", [TENANT, None])
def test_grant_is_held_in_its_scope(
    crank: HandCrank, kind: GrantKind, tenant_id: str | None
) -> None:
    grant = GrantRecord("ada", kind, tenant_id)
    (result,) = crank.apply(AddGrant(grant=grant))
    assert (result.kind, result.subject, result.tenant_id) == (
        ChangeKind.CREATED,
        "ada",
        tenant_id or "",
    )
    assert crank.store.principals.grants("ada") == [grant]
    assert crank.store.principals.grants("bob") == []


def test_grants_are_listed_by_principal_tenant_and_kind(crank: HandCrank) -> None:
    crank.apply(PutTenant(tenant=a_tenant("aaa")))
    wanted = [
        ADA_READ,
        GrantRecord("ada", GrantKind.POLICY, "aaa"),
        ADA_AUTHOR,
        GrantRecord("ada", GrantKind.READ, TENANT),
        GrantRecord("bob", GrantKind.AUDITOR),
    ]
    crank.apply(*(AddGrant(grant=grant) for grant in reversed(wanted)))
    assert crank.store.principals.grants() == wanted
    assert crank.store.principals.grants("ada") == wanted[:-1]


def test_grant_that_is_held_changes_nothing(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(AddGrant(grant=ADA_AUTHOR))
    before = peek.content()
    assert crank.apply(AddGrant(grant=ADA_AUTHOR))[0].kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_removed_grant_is_gone_and_no_other(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(AddGrant(grant=ADA_AUTHOR), AddGrant(grant=ADA_READ))
    assert crank.apply(RemoveGrant(grant=ADA_AUTHOR))[0].kind is ChangeKind.DELETED
    assert crank.store.principals.grants() == [ADA_READ]
    problem = refusal_of(crank, peek, RemoveGrant(grant=ADA_AUTHOR))
    assert (problem.kind, problem.field) == (ProblemKind.NOT_FOUND, "grant")


@pytest.mark.parametrize(
    ("grant", "kind", "field"),
    [
        pytest.param(
            GrantRecord("ada", GrantKind.READ, "nobody"),
            ProblemKind.NOT_FOUND,
            "tenant",
            id="unknown_tenant",
        ),
        pytest.param(
            GrantRecord("x" * 129, GrantKind.READ), ProblemKind.INVALID, "principal", id="long"
        ),
    ],
)
def test_refused_grant_names_its_field(
    crank: HandCrank, peek: StorePeek, grant: GrantRecord, kind: ProblemKind, field: str
) -> None:
    problem = refusal_of(crank, peek, AddGrant(grant=grant))
    assert (problem.kind, problem.field) == (kind, field)


def test_both_are_audited(crank: HandCrank) -> None:
    crank.apply(AddGrant(grant=ADA_AUTHOR), RemoveGrant(grant=ADA_AUTHOR))
    removed, added = crank.store.audit.entries(limit=2)
    assert (added.actor, added.action, added.tenant_id) == (ACTOR, "grant_added", TENANT)
    assert (added.subject, added.prior_value, added.note) == ("ada", None, "author")
    assert (removed.action, removed.tenant_id, removed.subject) == ("grant_removed", TENANT, "ada")
    assert removed.prior_value == '{"kind": "author"}'


def test_grant_of_a_principal_with_other_tokens_than_expected_is_stale(
    crank: HandCrank, peek: StorePeek
) -> None:
    token = CreateToken(principal_id="ada", token_id="k1", token_hash="h1")
    crank.apply(token, CreateToken(principal_id="ada", token_id="k2", token_hash="h2"))
    crank.apply(RevokeToken(token_id="k2"))
    for tokens in (frozenset[str](), frozenset({"k1", "k2"})):
        change = AddGrant(grant=ADA_READ, expected_tokens=tokens)
        problem = refusal_of(crank, peek, change)
        assert (problem.kind, problem.field) == (ProblemKind.STALE, "principal")
    (result,) = crank.apply(AddGrant(grant=ADA_READ, expected_tokens=frozenset({"k1"})))
    assert result.kind is ChangeKind.CREATED


def test_token_of_a_principal_with_other_grants_than_expected_is_stale(
    crank: HandCrank, peek: StorePeek
) -> None:
    crank.apply(AddGrant(grant=ADA_READ), AddGrant(grant=ADA_AUTHOR))
    token = CreateToken(principal_id="ada", token_id="k1", token_hash="h1")
    for grants in (frozenset[GrantRecord](), frozenset({ADA_READ})):
        problem = refusal_of(crank, peek, replace(token, expected_grants=grants))
        assert (problem.kind, problem.field) == (ProblemKind.STALE, "principal")
    (result,) = crank.apply(replace(token, expected_grants=frozenset({ADA_READ, ADA_AUTHOR})))
    assert result.kind is ChangeKind.CREATED
