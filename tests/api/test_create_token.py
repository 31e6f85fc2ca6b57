"""POST a token."""

from typing import Any, ClassVar

import pytest

from adapters.authenticator_tokens import token_hash
from ports.principals import GrantKind
from scheduling.instants import SECOND_US
from tests.support.api import OTHER, TENANT, Api, problem
from tests.support.ladder import WriteLadder

PATH = "/v1/tokens"
READ = [{"kind": "read"}]


class TestCreateToken(WriteLadder):
    method = "POST"
    path = PATH
    body: ClassVar[dict[str, Any]] = {"principal": "ci", "grants": READ, "expires_in": "90d"}
    status = 201
    kind = GrantKind.OPERATOR
    is_platform_wide = True
    required = ("principal",)
    other: ClassVar[dict[str, Any]] = {"principal": "cd"}
    action = "token_created"
    unrevised = "a token has no revision: it is made once, and never edited"
    stale = None

    def test_repeated_key_has_one_effect(self, api: Api) -> None:
        """It cannot be shown twice: the repeat says which one was made."""
        first = self.call(api, headers={"Idempotency-Key": "once"})
        entries = len(api.audit("token_created"))
        again = self.call(api, headers={"Idempotency-Key": "once"})
        assert problem(again) == (409, ["Idempotency-Key"])
        assert first.json()["token_id"] in again.json()["detail"]
        assert first.json()["token"] not in again.text
        assert len(api.audit("token_created")) == entries
        made = [each["principal"] for each in api.json("GET", PATH)["items"]]
        assert made.count("ci") == 1

    def test_side_effects_are_audit_and_event(self, api: Api) -> None:
        events = len(api.outbox())
        made = self.call(api).json()
        (entry,) = api.audit("token_created")[-1:]
        assert (entry.actor, entry.subject, entry.note) == ("root", made["token_id"], "of ci")
        (grant,) = api.audit("grant_added")[-1:]
        assert (grant.actor, grant.subject, grant.note) == ("root", "ci", "read")
        assert len(api.outbox()) == events


def _token(api: Api, **body: Any) -> str:
    return str(api.json("POST", PATH, {"principal": "ci", "grants": READ, **body})["token"])


def test_token_works_at_once_with_its_grants_alone(api: Api) -> None:
    api.tokens["ci"] = _token(api, grants=[{"kind": "author", "tenant": TENANT}])
    api.json("GET", f"/v1/tenants/{TENANT}", by="ci")
    assert problem(api.call("GET", f"/v1/tenants/{OTHER}", by="ci"))[0] == 404
    assert problem(api.call("POST", PATH, {"principal": "x", "grants": READ}, by="ci"))[0] == 403


def test_token_stands_nowhere_but_in_its_answer(api: Api) -> None:
    token = _token(api)
    assert token.startswith("pun_")
    api.json("GET", f"/v1/tenants/{TENANT}")
    seen = [api.call("GET", path).text for path in (PATH, "/v1/grants", "/v1/audit")]
    assert not any(token in text or token_hash(token) in text for text in seen)
    assert not any(token.encode() in path.read_bytes() for path in api.files())


def test_token_expires(api: Api) -> None:
    made = api.json("POST", PATH, {"principal": "ci", "grants": READ, "expires_in": "90s"})
    assert made["expires_at"] == "2026-03-02T00:01:30Z"
    api.tokens["ci"] = made["token"]
    api.clock.advance(90 * SECOND_US - 1)
    api.json("GET", "/v1/tenants", by="ci")
    api.clock.advance(1)
    assert problem(api.call("GET", "/v1/tenants", by="ci"))[0] == 401


def test_second_token_of_a_principal_needs_no_grants(api: Api) -> None:
    _token(api)
    api.tokens["ci"] = api.json("POST", PATH, {"principal": "ci"})["token"]
    assert api.call("GET", f"/v1/tenants/{TENANT}", by="ci").status_code == 200


def test_token_of_a_principal_that_could_do_nothing_is_422(api: Api) -> None:
    assert problem(api.call("POST", PATH, {"principal": "ci"})) == (422, ["grants"])


def test_operator_of_a_tenant_makes_tokens_of_it(api: Api) -> None:
    api.principal("half", GrantKind.OPERATOR, tenant=TENANT)
    grants = [{"kind": "author", "tenant": TENANT}]
    made = api.call("POST", PATH, {"principal": "ci", "grants": grants}, by="half")
    assert made.status_code == 201, made.text


@pytest.mark.parametrize(
    ("grants", "status"),
    [
        ([{"kind": "read"}], 403),
        ([{"kind": "read", "tenant": OTHER}], 404),
        ([{"kind": "read", "tenant": TENANT}, {"kind": "operator"}], 403),
    ],
)
def test_operator_of_a_tenant_gives_nothing_beyond_it(
    api: Api, grants: list[dict[str, str]], status: int
) -> None:
    api.principal("half", GrantKind.OPERATOR, tenant=TENANT)
    answer = api.call("POST", PATH, {"principal": "ci", "grants": grants}, by="half")
    assert problem(answer)[0] == status
    assert api.json("GET", "/v1/grants", principal="ci")["items"] == []


def test_operator_of_a_tenant_makes_no_token_of_a_stronger_principal(api: Api) -> None:
    api.principal("half", GrantKind.OPERATOR, tenant=TENANT)
    grants = [{"kind": "read", "tenant": TENANT}]
    answer = api.call("POST", PATH, {"principal": "root", "grants": grants}, by="half")
    assert problem(answer) == (403, ["grant"])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"principal": ""}, "principal"),
        ({"principal": "a b"}, "principal"),
        ({"principal": "a\nb"}, "principal"),
        ({"principal": "x" * 129}, "principal"),
        ({"principal": None}, "principal"),
        ({"grants": [{"kind": "root"}]}, "grants.0.kind"),
        ({"grants": [{"tenant": TENANT}]}, "grants.0.kind"),
        ({"grants": [{"kind": "read", "tenants": TENANT}]}, "grants.0.tenants"),
        ({"grants": READ * 101}, "grants"),
        ({"grants": "read"}, "grants"),
        ({"expires_in": "59s"}, "expires_in"),
        ({"expires_in": "soon"}, "expires_in"),
        ({"expires_in": 90}, "expires_in"),
    ],
)
def test_token_bad_field_is_422(api: Api, changes: dict[str, Any], field: str) -> None:
    answer = api.call("POST", PATH, {"principal": "ci", "grants": READ, **changes})
    assert problem(answer) == (422, [field])


def test_token_for_an_unknown_tenant_is_404(api: Api) -> None:
    grants = [{"kind": "read", "tenant": "nobody"}]
    assert problem(api.call("POST", PATH, {"principal": "ci", "grants": grants}))[0] == 404


@pytest.mark.parametrize(
    ("grants", "field", "text"),
    [
        ("author", "grants", "write a list"),
        (["author"], "grants.0", "write a mapping of keys and values"),
        ([{"kid": "author"}], "grants.0.kid", "unknown key 'kid': did you mean `kind`?"),
        ([{"kind": "autor"}], "grants.0.kind", "write read, author, policy, operator or auditor"),
    ],
)
def test_grants_of_the_wrong_shape_say_what_to_write(
    api: Api, grants: Any, field: str, text: str
) -> None:
    answer = api.call("POST", "/v1/tokens", {"principal": "ci", "grants": grants})
    assert answer.status_code == 422
    assert {"field": field, "detail": text} in answer.json()["errors"]
