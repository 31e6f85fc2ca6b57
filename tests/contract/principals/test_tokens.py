"""Tokens: made by their hash, found by it, revoked once and for good."""

import pytest

from ports.changes import ChangeKind, CreateToken, RevokeToken
from ports.errors import ProblemKind
from ports.principals import TokenRecord
from tests.contract.registry.refusals import refusal_of
from tests.contract.store_peek import StorePeek
from tests.support.hand_crank import ACTOR, HandCrank
from tests.support.store_builders import START_US, at

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def _create(
    token_id: str = "tok-1",
    *,
    token_hash: str = HASH,
    principal_id: str = "ada",
    expires_us: int | None = None,
) -> CreateToken:
    return CreateToken(
        principal_id=principal_id, token_id=token_id, token_hash=token_hash, expires_us=expires_us
    )


def _record(token_id: str = "tok-1", **changes: object) -> TokenRecord:
    facts: dict[str, object] = {
        "principal_id": "ada",
        "created_by": ACTOR,
        "created_us": START_US,
        "expires_us": None,
        "revoked_us": None,
    }
    return TokenRecord(token_id=token_id, **{**facts, **changes})  # type: ignore[arg-type]


def test_token_is_found_by_its_hash_alone(crank: HandCrank) -> None:
    (result,) = crank.apply(_create(expires_us=at(60)))
    assert (result.kind, result.subject) == (ChangeKind.CREATED, "tok-1")
    assert crank.store.principals.token(HASH) == _record(expires_us=at(60))
    assert crank.store.principals.token("tok-1") is None
    assert crank.store.principals.token("") is None


def test_tokens_are_listed_newest_first(crank: HandCrank) -> None:
    crank.apply(_create())
    crank.to(1)
    crank.apply(_create("tok-2", token_hash="other", principal_id="bob"))
    assert crank.store.principals.tokens() == [
        _record("tok-2", principal_id="bob", created_us=at(1)),
        _record(),
    ]


def test_revoked_token_stays_with_the_time(crank: HandCrank, peek: StorePeek) -> None:
    crank.apply(_create())
    crank.to(5)
    (result,) = crank.apply(RevokeToken(token_id="tok-1"))
    assert (result.kind, result.subject) == (ChangeKind.REVOKED, "tok-1")
    assert crank.store.principals.token(HASH) == _record(revoked_us=at(5))
    before = peek.content()
    crank.to(9)
    assert crank.apply(RevokeToken(token_id="tok-1"))[0].kind is ChangeKind.UNCHANGED
    assert peek.content() == before


def test_expired_token_is_still_found(crank: HandCrank) -> None:
    crank.apply(_create(expires_us=at(1)))
    crank.to(60)
    assert crank.store.principals.token(HASH) == _record(expires_us=at(1))


@pytest.mark.parametrize(
    ("change", "kind", "field"),
    [
        pytest.param(_create(token_hash="other"), ProblemKind.CONFLICT, "token", id="id_exists"),
        pytest.param(_create("tok-2"), ProblemKind.CONFLICT, "token", id="hash_exists"),
        pytest.param(
            _create("tok-2", token_hash="other", expires_us=START_US),
            ProblemKind.INVALID,
            "expires",
            id="expired",
        ),
        pytest.param(
            _create("tok-2", token_hash="other", principal_id=""),
            ProblemKind.INVALID,
            "principal",
            id="empty_principal",
        ),
        pytest.param(
            _create("tok-2", token_hash="other", principal_id="a\nb"),
            ProblemKind.INVALID,
            "principal",
            id="control_character",
        ),
        pytest.param(RevokeToken(token_id="nothing"), ProblemKind.NOT_FOUND, "token", id="unknown"),
    ],
)
def test_refused_token_names_its_field(
    crank: HandCrank,
    peek: StorePeek,
    change: CreateToken | RevokeToken,
    kind: ProblemKind,
    field: str,
) -> None:
    crank.apply(_create())
    problem = refusal_of(crank, peek, change)
    assert (problem.kind, problem.field) == (kind, field)


def test_both_are_audited_without_the_hash(crank: HandCrank) -> None:
    crank.apply(_create(expires_us=at(60)), RevokeToken(token_id="tok-1"))
    revoked, created = crank.store.audit.entries(limit=2)
    assert (created.actor, created.action, created.subject) == (ACTOR, "token_created", "tok-1")
    assert (created.prior_value, created.note) == (None, "of ada")
    assert (revoked.action, revoked.subject) == ("token_revoked", "tok-1")
    assert revoked.prior_value == f'{{"principal": "ada", "expires_us": {at(60)}}}'
    assert not any(HASH in str(entry) for entry in crank.store.audit.entries(limit=100))
