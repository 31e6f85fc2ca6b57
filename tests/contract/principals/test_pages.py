"""Tokens and grants, a page at a time."""

import pytest

from ports.changes import AddGrant, CreateToken, PutTenant
from ports.principals import GrantKind, GrantRecord, TokenRecord
from tests.support.hand_crank import HandCrank
from tests.support.store_builders import TENANT, a_tenant

GRANTS = [
    GrantRecord("ada", GrantKind.READ),
    GrantRecord("ada", GrantKind.AUTHOR, "aaa"),
    GrantRecord("ada", GrantKind.READ, "aaa"),
    GrantRecord("ada", GrantKind.READ, TENANT),
    GrantRecord("bob", GrantKind.AUDITOR),
    GrantRecord("cy", GrantKind.AUDITOR, TENANT),
]


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("principal", [None, "ada", "bob", "nobody"])
def test_pages_of_grants_join(crank: HandCrank, principal: str | None, limit: int) -> None:
    crank.apply(PutTenant(tenant=a_tenant("aaa")))
    crank.apply(*(AddGrant(grant=grant) for grant in reversed(GRANTS)))
    found: list[GrantRecord] = []
    while page := crank.store.principals.grants(
        principal, after=found[-1] if found else None, limit=limit
    ):
        assert len(page) <= limit
        found += page
    assert found == [each for each in GRANTS if principal in (None, each.principal_id)]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
def test_pages_of_tokens_join_also_where_several_are_of_one_instant(
    crank: HandCrank, limit: int
) -> None:
    for at_s, names in ((0, ("b", "a", "c")), (1, ("a1",)), (2, ("z",))):
        crank.to(at_s)
        made = (CreateToken(principal_id="p", token_id=name, token_hash=name) for name in names)
        crank.apply(*made)
    found: list[TokenRecord] = []
    while page := crank.store.principals.tokens(
        before=(found[-1].created_us, found[-1].token_id) if found else None, limit=limit
    ):
        assert len(page) <= limit
        found += page
    assert [each.token_id for each in found] == ["z", "a1", "c", "b", "a"]
