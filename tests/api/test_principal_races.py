"""A principal that gets tokens and grants at the same time, from callers of unequal strength."""

from collections.abc import Callable
from typing import Any

import pytest

from ports.changes import AddGrant, Change, CreateToken
from ports.principals import GrantKind, GrantRecord
from tests.support.api import TENANT, Api, problem

PLATFORM = AddGrant(grant=GrantRecord("ci", GrantKind.OPERATOR))
OF_WEAK = CreateToken(principal_id="ci", token_id="k1", token_hash="h1")
READ = {"kind": "read", "tenant": TENANT}


@pytest.fixture
def api(api: Api) -> Api:
    api.principal("weak", GrantKind.OPERATOR, tenant=TENANT)
    return api


def meanwhile(
    api: Api, monkeypatch: pytest.MonkeyPatch, reads: str, change: Change, *, actor: str
) -> None:
    """Somebody is faster: the change is made right after what the check rests on was read."""
    principals = api.services.store.principals
    read: Callable[..., Any] = getattr(principals, reads)
    left = [change]

    def reading(*arguments: Any) -> Any:
        found = read(*arguments)
        if left and arguments in ((), ("ci",)):
            api.services.store.registry.apply([left.pop()], now_us=api.now_us, actor=actor)
        return found

    monkeypatch.setattr(principals, reads, reading)


def test_token_of_a_principal_that_gets_stronger_meanwhile_is_refused(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(api, monkeypatch, "grants", PLATFORM, actor="root")
    answer = api.call("POST", "/v1/tokens", {"principal": "ci", "grants": [READ]}, by="weak")
    assert problem(answer)[0] == 403
    assert not [each for each in api.audit("token_created") if each.note == "of ci"]


def test_grant_of_a_principal_that_gets_a_weaker_s_token_meanwhile_is_refused(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(api, monkeypatch, "tokens", OF_WEAK, actor="weak")
    answer = api.call("PUT", "/v1/principals/ci/grants/operator")
    assert problem(answer) == (409, ["principal"])
    assert api.services.store.principals.grants("ci") == []


def test_grant_beside_another_change_of_the_principal_is_made_at_the_second_try(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(api, monkeypatch, "tokens", OF_WEAK, actor="root")
    api.json("PUT", "/v1/principals/ci/grants/operator")
    assert api.services.store.principals.grants("ci") == [PLATFORM.grant]
