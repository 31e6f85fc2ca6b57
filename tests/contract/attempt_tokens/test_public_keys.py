"""Attempt tokens: what is published is enough to check a token, and nothing more."""

import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from ports.attempt_tokens import AttemptTokensPort
from scheduling.instants import from_text
from scheduling.keys import FireKey

AUDIENCE = "https://hook.example"
NOW_US = from_text("2026-03-02T09:00:00Z")
KEY = FireKey("acme", "t00112233445566778899", NOW_US)


def _published(tokens: AttemptTokensPort) -> jwt.PyJWKSet:
    """As it comes over HTTP."""
    return jwt.PyJWKSet.from_dict(json.loads(json.dumps(tokens.public_keys())))


def _read(tokens: AttemptTokensPort, token: str, **options: Any) -> dict[str, Any]:
    """As a receiver does it, with PyJWT alone."""
    key = _published(tokens)[jwt.get_unverified_header(token)["kid"]]
    return dict(jwt.decode(token, key, algorithms=["EdDSA"], issuer="punctual", **options))


def test_public_keys_check_a_token_offline(tokens: AttemptTokensPort) -> None:
    far_us = from_text("2400-01-01T00:00:00Z")
    token = tokens.mint(KEY, 1, audience=AUDIENCE, now_us=NOW_US - 1, expires_us=far_us)
    options = {"verify_iat": False}
    claims = _read(tokens, token, audience=AUDIENCE, options=options)
    assert claims["jti"] == f"{KEY}#1"
    with pytest.raises(jwt.InvalidAudienceError):
        _read(tokens, token, audience="https://other.example", options=options)


def test_public_keys_show_receivers_that_an_attempt_is_over(tokens: AttemptTokensPort) -> None:
    token = tokens.mint(KEY, 1, audience=AUDIENCE, now_us=0, expires_us=1_000_000)
    with pytest.raises(jwt.ExpiredSignatureError):
        _read(tokens, token, audience=AUDIENCE)


def test_public_keys_hold_no_private_member(tokens: AttemptTokensPort) -> None:
    for key in tokens.public_keys()["keys"]:
        assert {"kty", "kid", "alg", "use"} <= key.keys()
        assert {"d", "k", "p", "q", "dp", "dq", "qi"}.isdisjoint(key)


def test_public_keys_are_the_same_through_another_handle(
    open_tokens: Callable[[], AttemptTokensPort],
) -> None:
    assert open_tokens().public_keys() == open_tokens().public_keys()


def test_public_keys_that_a_caller_changes_stay_as_they_were(tokens: AttemptTokensPort) -> None:
    tokens.public_keys()["keys"][0].clear()
    assert tokens.public_keys()["keys"][0]["use"] == "sig"
